/*
 * NCCL, as comm/fabric.h wants it.  Communicators do not block: what NCCL still
 * does is asked for, so that a rank that is gone cannot keep the others in a
 * call (NCCL's user guide, "Fault Tolerance").
 */
#include <nccl.h>

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "comm/nccl/nccl.h"

static int
check(ncclResult_t r, ncclComm_t c, const char *what)
{
	const char *more;

	if (r == ncclSuccess || r == ncclInProgress)
		return 0;
	more = ncclGetLastError(c);
	return fail("NCCL: %s: %s%s%s", what, ncclGetErrorString(r),
	    more != NULL && *more != '\0' ? ": " : "", more != NULL ? more :
	    "");
}

static ncclDataType_t
type_of(int type)
{
	static const ncclDataType_t types[WIRES] = { [WIRE_FP32] = ncclFloat,
		[WIRE_BF16] = ncclBfloat16, [WIRE_FP16] = ncclHalf };

	return types[type];
}

static size_t
size_of(int type)
{
	return type == WIRE_FP32 ? sizeof(float) : 2;
}

static int
new_id(void *id)
{
	ncclUniqueId new;
	int bad = check(ncclGetUniqueId(&new), NULL, "a new id");

	memcpy(id, &new, sizeof(new));
	return bad;
}

static void *
open_link(const void *id, int rank, int ranks)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t link = NULL;
	ncclUniqueId given;

	config.blocking = 0;
	memcpy(&given, id, sizeof(given));
	return check(ncclCommInitRankConfig(&link, ranks, given, rank, &config),
	    NULL, "ranks to meet") == 0 ? link : NULL;
}

static void *
split(void *link, int colour, int key)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t part = NULL;

	config.blocking = 0;
	return check(ncclCommSplit(link, colour, key, &part, &config), link,
	    "a row or a column") == 0 ? part : NULL;
}

static int
sum(void *link, void *x, size_t n, int type, void *stream)
{
	return check(ncclAllReduce(x, x, n, type_of(type), ncclSum, link,
	    stream), link, "a sum");
}

static int
scatter(void *link, void *x, int rank, size_t each, int type, void *stream)
{
	return check(ncclReduceScatter(x, (char *)x + (size_t)rank * each *
	    size_of(type), each, type_of(type), ncclSum, link, stream), link,
	    "a sum along rows");
}

static int
gather(void *link, void *x, int rank, size_t each, int type, void *stream)
{
	return check(ncclAllGather((char *)x + (size_t)rank * each *
	    size_of(type), x, each, type_of(type), link, stream), link,
	    "a row to all of it");
}

static int
ready(void *link)
{
	ncclResult_t state;

	if (check(ncclCommGetAsyncError(link, &state), link, "its state") != 0)
		return -1;
	if (state == ncclInProgress)
		return 0;
	return check(state, link, "between ranks") != 0 ? -1 : 1;
}

static int
idle(void *stream)
{
	cudaError_t e = cudaStreamQuery(stream);

	if (e == cudaErrorNotReady)
		return 0;
	return e == cudaSuccess ? 1 : fail("NCCL: the device: %s",
	    cudaGetErrorString(e));
}

static void
abort_link(void *link)
{
	ncclCommAbort(link);
}

/* The exchange is done on this rank; the others' end is not waited for long. */
static void
close_link(void *link)
{
	ncclResult_t state = ncclInProgress;

	ncclCommFinalize(link);
	while (state == ncclInProgress)
		if (ncclCommGetAsyncError(link, &state) != ncclSuccess)
			break;
	ncclCommDestroy(link);
}

const char *
nccl_version(void)
{
	static _Thread_local char text[32];
	int v;

	if (ncclGetVersion(&v) != ncclSuccess)
		return "NCCL";
	snprintf(text, sizeof(text), "NCCL %d.%d.%d", v / 10000, v / 100 % 100,
	    v % 100);
	return text;
}

const struct fabric_calls nccl_calls = {
	.name = "NCCL", .id_bytes = sizeof(ncclUniqueId), .id = new_id,
	.open = open_link, .split = split, .sum = sum, .scatter = scatter,
	.gather = gather, .ready = ready, .idle = idle, .abort = abort_link,
	.close = close_link,
};
