/*
 * NCCL, as comm/fabric.h wants it.  Communicators do not block: what NCCL still
 * does is asked for, so that a rank that is gone cannot keep the others in a
 * call (NCCL's user guide, "Fault Tolerance").
 */
#include <nccl.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"
#include "comm/fabric.h"

/*
 * NCCL's functions, which are found when the first is needed: a program that is
 * linked with NCCL has 18 MB of it in memory, whether it calls it or not.
 */
#define NCCL_CALLS(CALL) \
	CALL(ncclGetVersion) CALL(ncclGetErrorString) CALL(ncclGetLastError) \
	CALL(ncclGetUniqueId) CALL(ncclCommInitRankConfig) \
	CALL(ncclCommSplit) CALL(ncclAllReduce) CALL(ncclReduceScatter) \
	CALL(ncclAllGather) CALL(ncclCommGetAsyncError) \
	CALL(ncclCommAbort) CALL(ncclCommFinalize) CALL(ncclCommDestroy)
#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)

#define CALL(name)	__typeof__(name) *name;
static struct { NCCL_CALLS(CALL) void *library; } nccl;	/* set once */
#undef CALL

static void
load(void)
{
#define CALL(name)	{ #name, &nccl.name },
	const struct library_entry e[] = { NCCL_CALLS(CALL) };
#undef CALL

	nccl.library = library_open("libnccl.so." TEXT(NCCL_MAJOR),
	    "a sum between devices", e, sizeof(e) / sizeof(e[0]));
}

/* -1 after a message, the first time. */
static int
loaded(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return nccl.library != NULL ? 0 : -1;
}

static int
check(ncclResult_t r, ncclComm_t c, const char *what)
{
	const char *more;

	if (r == ncclSuccess || r == ncclInProgress)
		return 0;
	more = nccl.ncclGetLastError(c);
	return fail("NCCL: %s: %s%s%s", what, nccl.ncclGetErrorString(r),
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

	if (loaded() != 0 || check(nccl.ncclGetUniqueId(&new), NULL, "a new id") !=
	    0)
		return -1;
	memcpy(id, &new, sizeof(new));
	return 0;
}

static void *
open_link(const void *id, int rank, int ranks)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t link = NULL;
	ncclUniqueId given;

	if (loaded() != 0)
		return NULL;
	config.blocking = 0;
	memcpy(&given, id, sizeof(given));
	return check(nccl.ncclCommInitRankConfig(&link, ranks, given, rank, &config),
	    NULL, "ranks to meet") == 0 ? link : NULL;
}

static void *
split(void *link, int colour, int key)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t part = NULL;

	config.blocking = 0;
	return check(nccl.ncclCommSplit(link, colour, key, &part, &config), link,
	    "a row or a column") == 0 ? part : NULL;
}

static int
sum(void *link, void *x, size_t count, int type, void *stream)
{
	return check(nccl.ncclAllReduce(x, x, count, type_of(type), ncclSum, link,
	    stream), link, "a sum");
}

static int
scatter(void *link, void *x, int rank, size_t each, int type, void *stream)
{
	return check(nccl.ncclReduceScatter(x, (char *)x + (size_t)rank * each *
	    size_of(type), each, type_of(type), ncclSum, link, stream), link,
	    "a sum along rows");
}

static int
gather(void *link, void *x, int rank, size_t each, int type, void *stream)
{
	return check(nccl.ncclAllGather((char *)x + (size_t)rank * each *
	    size_of(type), x, each, type_of(type), link, stream), link,
	    "a row to all of it");
}

static int
ready(void *link)
{
	ncclResult_t state;

	if (check(nccl.ncclCommGetAsyncError(link, &state), link, "its state") != 0)
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
	nccl.ncclCommAbort(link);
}

static int
finish(void *link)
{
	return check(nccl.ncclCommFinalize(link), link, "finishing a link");
}

static void
close_link(void *link)
{
	nccl.ncclCommDestroy(link);
}

const char *
fabric_version(void)
{
	static _Thread_local char text[32];
	char said[256];
	int v, found;

	fail_capture(said, sizeof(said));
	found = loaded() == 0;
	fail_capture(NULL, 0);
	if (!found || nccl.ncclGetVersion(&v) != ncclSuccess)
		return "no NCCL here";
	snprintf(text, sizeof(text), "NCCL %d.%d.%d", v / 10000, v / 100 % 100,
	    v % 100);
	return text;
}

static const struct fabric_calls calls = {
	.name = "NCCL", .id_bytes = sizeof(ncclUniqueId), .id = new_id,
	.open = open_link, .split = split, .sum = sum, .scatter = scatter,
	.gather = gather, .ready = ready, .idle = idle, .abort = abort_link,
	.finish = finish, .close = close_link,
};

const struct fabric_calls *
fabric_library(const char *name)
{
	return name != NULL && strcmp(name, calls.name) == 0 ? &calls : NULL;
}
