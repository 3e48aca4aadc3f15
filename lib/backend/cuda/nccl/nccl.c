/*
 * Device collectives by NCCL, for comm/fabric.h.  Communicators are
 * nonblocking: callers poll nccl_ready, so that a lost rank cannot keep the
 * others in a call (NCCL User Guide, "Fault Tolerance").
 */
#include <nccl.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/fail.h"
#include "base/library.h"
#include "base/mem.h"
#include "comm/fabric.h"

/*
 * NCCL keeps the address of the communicator that ncclCommSplit makes, and
 * writes the communicator there when the split ends.
 */
struct nccl_link { ncclComm_t comm; };

static atomic_int nccl_links;		/* in this process */

/*
 * Device memory for the messages with a peer: the buffers of each protocol and
 * channel, 8 to 16 MB (estimated).
 */
#define PEER_BYTES ((size_t)16 << 20)

/*
 * The functions of NCCL, loaded at the first use: linking with NCCL would add
 * 18 MB of memory to each process, used or not.
 */
#define NCCL_CALLS(CALL) \
	CALL(ncclGetVersion) CALL(ncclGetErrorString) CALL(ncclGetLastError) \
	CALL(ncclGetUniqueId) CALL(ncclCommInitRankConfig) \
	CALL(ncclCommSplit) CALL(ncclAllReduce) CALL(ncclReduceScatter) \
	CALL(ncclAllGather) CALL(ncclSend) CALL(ncclRecv) \
	CALL(ncclGroupStart) CALL(ncclGroupEnd) CALL(ncclCommGetAsyncError) \
	CALL(ncclCommAbort) CALL(ncclCommFinalize) CALL(ncclCommDestroy)
#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)

#define CALL(name)	__typeof__(name) *name;
static struct { NCCL_CALLS(CALL) void *library; } nccl;	/* set once */
static struct error nccl_missing;	/* why library is NULL */
#undef CALL

static void
nccl_load(void)
{
#define CALL(name)	{ #name, &nccl.name },
	const struct library_entry e[] = { NCCL_CALLS(CALL) };
#undef CALL

	nccl.library = library_open("libnccl.so." TEXT(NCCL_MAJOR),
	    "a sum between devices", e, sizeof(e) / sizeof(e[0]),
	    &nccl_missing);
}

static int
nccl_loaded(struct error *why)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, nccl_load);
	return nccl.library != NULL ? 0 :
	    error_set(why, "%s", nccl_missing.text);
}

/* Return 1 if a call has ended without an error or is in progress. */
static int
nccl_accepted(ncclResult_t r)
{
	return r == ncclSuccess || r == ncclInProgress;
}

/* Return 0, also for a nonblocking call in progress, or -1 after a message. */
static int
nccl_check(ncclResult_t r, ncclComm_t c, const char *what)
{
	const char *more;

	if (nccl_accepted(r))
		return 0;
	more = nccl.ncclGetLastError(c);
	return fail("NCCL: %s: %s%s%s", what, nccl.ncclGetErrorString(r),
	    more != NULL && *more != '\0' ? ": " : "", more != NULL ? more :
	    "");
}

static ncclDataType_t
nccl_type_of(int type)
{
	static const ncclDataType_t types[WIRES] = { [WIRE_FP32] = ncclFloat,
		[WIRE_BF16] = ncclBfloat16, [WIRE_FP16] = ncclHalf };

	return types[type];
}

static size_t
nccl_size_of(int type)
{
	return type == WIRE_FP32 ? sizeof(float) : 2;
}

static int
nccl_new_id(void *id)
{
	ncclUniqueId new;

	if (nccl_loaded(NULL) != 0 || nccl_check(nccl.ncclGetUniqueId(&new),
	    NULL, "creating an id") != 0)
		return -1;
	memcpy(id, &new, sizeof(new));
	return 0;
}

/* Return ${l}, or NULL if the call that makes it has failed. */
static void *
nccl_link_begun(struct nccl_link *l, int failed)
{
	if (!failed) {
		nccl_links++;
		return l;
	}
	free(l);
	return NULL;
}

static void
nccl_link_free(struct nccl_link *l)
{
	nccl_links--;
	free(l);
}

static void *
nccl_open_link(const void *id, int rank, int ranks)
{
	const char *queues = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	struct nccl_link *l;
	ncclUniqueId given;

	if (nccl_loaded(NULL) != 0)
		return NULL;
	/* Streams share the queue.  Ranks may start the collectives of two
	 * streams in different orders, and each would wait for the other. */
	if (nccl_links > 0 && queues != NULL && strcmp(queues, "1") == 0)
		return fail_null("CUDA_DEVICE_MAX_CONNECTIONS=1: sums of "
		    "gradients and of BN statistics would block each other "
		    "(wanted 2 or more, or unset)");
	l = xcalloc(1, sizeof(*l));
	config.blocking = 0;
	memcpy(&given, id, sizeof(given));
	return nccl_link_begun(l, nccl_check(nccl.ncclCommInitRankConfig(
	    &l->comm, ranks, given, rank, &config), NULL,
	    "connecting the ranks"));
}

static void *
nccl_split(void *link, int color, int key)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	struct nccl_link *of = link, *l = xcalloc(1, sizeof(*l));

	config.blocking = 0;
	return nccl_link_begun(l, nccl_check(nccl.ncclCommSplit(of->comm,
	    color, key, &l->comm, &config), of->comm,
	    "splitting a communicator"));
}

static int
nccl_sum(void *link, void *x, size_t count, int type, void *stream)
{
	struct nccl_link *l = link;

	return nccl_check(nccl.ncclAllReduce(x, x, count, nccl_type_of(type),
	    ncclSum, l->comm, stream), l->comm, "an all-reduce");
}

/*
 * Reduce-scatter in place: NCCL wants the result of this rank at its own block
 * of x.
 */
static int
nccl_scatter(void *link, void *x, int rank, size_t each, int type, void *stream)
{
	struct nccl_link *l = link;

	return nccl_check(nccl.ncclReduceScatter(x,
	    (char *)x + (size_t)rank * each * nccl_size_of(type), each,
	    nccl_type_of(type), ncclSum, l->comm, stream), l->comm,
	    "a reduce-scatter along rows");
}

/* All-gather in place, from the block of this rank. */
static int
nccl_gather(void *link, void *x, int rank, size_t each, int type, void *stream)
{
	struct nccl_link *l = link;

	return nccl_check(nccl.ncclAllGather((char *)x + (size_t)rank * each *
	    nccl_size_of(type), x, each, nccl_type_of(type), l->comm, stream),
	    l->comm, "an all-gather along rows");
}

/* A group starts all its calls together, so no order of ranks can block. */
static int
nccl_exchange(void *link, const struct message *send, int sends,
    const struct message *receive, int receives, void *stream)
{
	ncclComm_t comm = ((struct nccl_link *)link)->comm;
	ncclResult_t first = nccl.ncclGroupStart(), last;

	for (int i = 0; i < sends && nccl_accepted(first); i++)
		first = nccl.ncclSend(send[i].data, send[i].bytes, ncclInt8,
		    send[i].rank, comm, stream);
	for (int i = 0; i < receives && nccl_accepted(first); i++)
		first = nccl.ncclRecv(receive[i].data, receive[i].bytes,
		    ncclInt8, receive[i].rank, comm, stream);
	last = nccl.ncclGroupEnd();
	return nccl_check(nccl_accepted(first) ? last : first, comm,
	    "messages between devices");
}

static int
nccl_ready(void *link)
{
	struct nccl_link *l = link;
	ncclResult_t state;

	if (nccl_check(nccl.ncclCommGetAsyncError(l->comm, &state), l->comm,
	    "querying a communicator") != 0)
		return -1;
	if (state == ncclInProgress)
		return 0;
	return nccl_check(state, l->comm, "a collective") != 0 ? -1 : 1;
}

static int
nccl_idle(void *stream)
{
	cudaError_t e = cudaStreamQuery(stream);

	if (e == cudaErrorNotReady)
		return 0;
	return e == cudaSuccess ? 1 : fail("NCCL: the device: %s",
	    cudaGetErrorString(e));
}

static void
nccl_abort_link(void *link)
{
	struct nccl_link *l = link;

	nccl.ncclCommAbort(l->comm);	/* NULL if its split has failed */
	nccl_link_free(l);
}

static int
nccl_finish(void *link)
{
	struct nccl_link *l = link;

	return nccl_check(nccl.ncclCommFinalize(l->comm), l->comm,
	    "finalizing a communicator");
}

static void
nccl_close_link(void *link)
{
	struct nccl_link *l = link;

	nccl.ncclCommDestroy(l->comm);
	nccl_link_free(l);
}

static const char *
nccl_version(void)
{
	static _Thread_local char text[32];
	struct error unused = { "" };
	int v;

	if (nccl_loaded(&unused) != 0 || nccl.ncclGetVersion(&v) != ncclSuccess)
		return "no NCCL here";
	snprintf(text, sizeof(text), "NCCL %d.%d.%d", v / 10000, v / 100 % 100,
	    v % 100);
	return text;
}

static const struct fabric_calls nccl_calls = {
	.name = "NCCL", .version = nccl_version,
	.id_bytes = sizeof(ncclUniqueId), .id = nccl_new_id,
	.open = nccl_open_link, .split = nccl_split, .sum = nccl_sum,
	.scatter = nccl_scatter, .gather = nccl_gather,
	.exchange = nccl_exchange, .ready = nccl_ready, .idle = nccl_idle,
	.abort = nccl_abort_link, .finish = nccl_finish,
	.close = nccl_close_link, .peer_bytes = PEER_BYTES,
};

const struct fabric_calls *
cuda_fabric(void)
{
	return &nccl_calls;
}
