/*
 * A libnccl.so.2 without GPUs, for tests/gpu/gpu_link.c.  Each call on a
 * nonblocking communicator is in progress until it has been queried QUERIES
 * times.  A split writes the new communicator at its end, as NCCL 2.28 does.
 * Only communicators of one rank sum and send; their copies run in the order of
 * the stand-in's stream.
 *
 * nccl_misuses counts calls that NCCL leaves undefined.  Each is reported.
 */
#include <nccl.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/standin/link.h"

/* nccl.h declares them without parameters. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

enum { QUERIES = 3, MESSAGES = 8 };

struct ncclComm {
	int ranks;
	int left;			/* queries until the call has ended */
	ncclComm_t *to, child;		/* a split in progress; NULL: none */
	int finalized;
};

struct message_end { const void *from; void *to; size_t bytes; };

atomic_int nccl_misuses;

static _Thread_local int grouped;
static _Thread_local ncclComm_t group;	/* communicator of the group */
static _Thread_local void *group_stream;
static _Thread_local struct message_end sent[MESSAGES], received[MESSAGES];
static _Thread_local int sends, receives;

static ncclResult_t
nccl_misuse(const char *call, const char *why)
{
	fprintf(stderr, "nccl: %s: %s\n", call, why);
	nccl_misuses++;
	return ncclInvalidUsage;
}

static ncclResult_t
nccl_begin(ncclComm_t c, const char *call)
{
	if (c == NULL)
		return nccl_misuse(call, "there is no communicator yet");
	if (c->left > 0)
		return nccl_misuse(call, "a call is in progress");
	if (c->finalized)
		return nccl_misuse(call, "after ncclCommFinalize");
	c->left = QUERIES;
	return ncclInProgress;
}

static void
nccl_queue_copy(void *stream, void *to, const void *from, size_t bytes)
{
	const struct link_native *s = stream;

	if (to != from)
		s->driver->call->copy(s->driver, s->stream, to, from, bytes);
}

/* A collective over one rank is a copy. */
static ncclResult_t
nccl_copy(ncclComm_t c, const char *call, void *to, const void *from,
    size_t bytes, void *stream)
{
	ncclResult_t begun = nccl_begin(c, call);

	if (begun != ncclInProgress)
		return begun;
	if (c->ranks != 1)
		return nccl_misuse(call, "several ranks");
	nccl_queue_copy(stream, to, from, bytes);
	return begun;
}

static size_t
nccl_bytes(size_t n, ncclDataType_t type)
{
	return n * (type == ncclFloat ? 4 : type == ncclInt8 ? 1 : 2);
}

/* ---- communicators ---- */

static ncclComm_t
nccl_new(int ranks, int left)
{
	ncclComm_t c = calloc(1, sizeof(*c));

	if (c == NULL)
		abort();
	c->ranks = ranks;
	c->left = left;
	return c;
}

ncclResult_t
ncclGetVersion(int *version)
{
	*version = 22809;
	return ncclSuccess;
}

const char *
ncclGetErrorString(ncclResult_t r)
{
	return r == ncclInvalidUsage ? "invalid usage" : "error";
}

const char *
ncclGetLastError(ncclComm_t c)
{
	(void)c;
	return "";
}

ncclResult_t
ncclGetUniqueId(ncclUniqueId *id)
{
	memset(id, 7, sizeof(*id));
	return ncclSuccess;
}

ncclResult_t
ncclCommInitRankConfig(ncclComm_t *c, int ranks, ncclUniqueId id, int rank,
    ncclConfig_t *config)
{
	ncclUniqueId want;

	ncclGetUniqueId(&want);
	if (rank < 0 || rank >= ranks || config->blocking != 0 ||
	    memcmp(&id, &want, sizeof(id)) != 0)
		return nccl_misuse(__func__, "wrong arguments");
	*c = nccl_new(ranks, QUERIES);
	return ncclInProgress;
}

ncclResult_t
ncclCommSplit(ncclComm_t c, int color, int key, ncclComm_t *to,
    ncclConfig_t *config)
{
	ncclResult_t begun = nccl_begin(c, __func__);

	if (begun != ncclInProgress)
		return begun;
	if (color < 0 || key < 0 || config->blocking != 0)
		return nccl_misuse(__func__, "wrong arguments");
	*to = NULL;
	c->to = to;
	c->child = nccl_new(c->ranks, QUERIES);
	return begun;
}

ncclResult_t
ncclCommGetAsyncError(ncclComm_t c, ncclResult_t *state)
{
	if (c == NULL)
		return nccl_misuse(__func__, "there is no communicator yet");
	if (c->left > 0 && --c->left == 0 && c->to != NULL) {
		*c->to = c->child;
		c->to = NULL;
	}
	*state = c->left > 0 ? ncclInProgress : ncclSuccess;
	return ncclSuccess;
}

ncclResult_t
ncclCommFinalize(ncclComm_t c)
{
	ncclResult_t begun = nccl_begin(c, __func__);

	if (begun == ncclInProgress)
		c->finalized = 1;
	return begun;
}

ncclResult_t
ncclCommDestroy(ncclComm_t c)
{
	if (c == NULL || !c->finalized || c->left > 0)
		return nccl_misuse(__func__, "before ncclCommFinalize ends");
	free(c);
	return ncclSuccess;
}

ncclResult_t
ncclCommAbort(ncclComm_t c)
{
	if (c != NULL && c->to != NULL)
		*c->to = c->child;
	free(c);
	return ncclSuccess;
}

/* ---- collectives and messages ---- */

ncclResult_t
ncclAllReduce(const void *from, void *to, size_t n, ncclDataType_t type,
    ncclRedOp_t op, ncclComm_t c, cudaStream_t stream)
{
	(void)op;
	return nccl_copy(c, __func__, to, from, nccl_bytes(n, type), stream);
}

ncclResult_t
ncclReduceScatter(const void *from, void *to, size_t n, ncclDataType_t type,
    ncclRedOp_t op, ncclComm_t c, cudaStream_t stream)
{
	(void)op;
	return nccl_copy(c, __func__, to, from, nccl_bytes(n, type), stream);
}

ncclResult_t
ncclAllGather(const void *from, void *to, size_t n, ncclDataType_t type,
    ncclComm_t c, cudaStream_t stream)
{
	return nccl_copy(c, __func__, to, from, nccl_bytes(n, type), stream);
}

ncclResult_t
ncclGroupStart(void)
{
	if (grouped++)
		return nccl_misuse(__func__, "a group in a group");
	group = NULL;
	sends = receives = 0;
	return ncclSuccess;
}

/* Add an end of a message to the group. */
static ncclResult_t
nccl_add(struct message_end *end, int *n, struct message_end one, int peer,
    ncclComm_t c, void *stream, const char *call)
{
	if (!grouped || peer != 0 || c == NULL || c->ranks != 1 ||
	    (group != NULL && group != c) || *n == MESSAGES)
		return nccl_misuse(call, "wrong arguments");
	group = c;
	group_stream = stream;
	end[(*n)++] = one;
	return ncclInProgress;
}

ncclResult_t
ncclSend(const void *from, size_t n, ncclDataType_t type, int peer,
    ncclComm_t c, cudaStream_t stream)
{
	return nccl_add(sent, &sends, (struct message_end){ .from = from,
	    .bytes = nccl_bytes(n, type) }, peer, c, stream, __func__);
}

ncclResult_t
ncclRecv(void *to, size_t n, ncclDataType_t type, int peer, ncclComm_t c,
    cudaStream_t stream)
{
	return nccl_add(received, &receives, (struct message_end){ .to = to,
	    .bytes = nccl_bytes(n, type) }, peer, c, stream, __func__);
}

ncclResult_t
ncclGroupEnd(void)
{
	ncclResult_t begun;

	grouped--;
	if (sends != receives)
		return nccl_misuse(__func__, "a message has one end only");
	begun = nccl_begin(group, __func__);
	for (int i = 0; i < sends && begun == ncclInProgress; i++) {
		if (sent[i].bytes != received[i].bytes)
			return nccl_misuse(__func__, "ends of different sizes");
		nccl_queue_copy(group_stream, received[i].to, sent[i].from,
		    sent[i].bytes);
	}
	return begun;
}
