#ifndef TRAIN_REDUCE_HOST_STAGING_H
#define TRAIN_REDUCE_HOST_STAGING_H

/*
 * Host staging of vectors that ranks exchange.  Transports and sums access
 * memory of the device directly if the host can.  If device memory is discrete
 * (discrete of struct backend), each bucket is copied to host memory and
 * exchanged there.  The same numbers are added in the same order, so the bits
 * are the same.
 */

#include "backend/backend.h"
#include "comm/exact.h"
#include "comm/segments.h"

/* A staging buffer for one bucket of each subtree of a rank. */
struct host_staging {
	struct device *device;		/* executes the copies */
	size_t max;			/* maximum elements of a bucket */
	int copies;			/* 0: subtrees are used in place */
	int parts;			/* subtrees that fit in the buffer */
	char *buffer;			/* the buffer; NULL without copies */
	struct tree tree;		/* the staged subtrees */
};

/*
 * host_staging_bytes(d, parts, largest): return the host memory for ${parts}
 * subtrees in buckets of up to ${largest} elements.
 */
size_t host_staging_bytes(const struct device *d, int parts, size_t largest);

/*
 * host_staging_open(s, d, largest):
 * Prepare ${s} for buckets of up to ${largest} elements of ${d}, which must
 * outlive it.  host_staging_close frees its memory.
 * host_staging_reserve(s, parts): make the buffer hold ${parts} subtrees.
 * Return 0, or
 * -1 after a message.
 */
void host_staging_open(struct host_staging *s, struct device *d,
    size_t largest);
int host_staging_reserve(struct host_staging *s, int parts);
void host_staging_close(struct host_staging *s);

/*
 * host_staging_download(s, t, from, to):
 * Copy elements ${from} to ${to} - 1 of the subtrees ${t} to the buffer.
 * s->tree refers to them; its data begins with element ${from}.
 * host_staging_upload(s, t, from, at, n): copy ${n} elements, from element
 * ${at} of the whole vector, of the first staged subtree back to ${t}. ${from}
 * is as in host_staging_download. Without copies, host_staging_download only
 * sets s->tree and host_staging_upload does nothing.
 */
void host_staging_download(struct host_staging *s, const struct tree *t,
    size_t from, size_t to);
void host_staging_upload(struct host_staging *s, const struct tree *t,
    size_t from, size_t at, size_t n);

/*
 * host_staging_reduce_scatter(s, e, t, from, to): stage the bucket, call
 * exact_reduce_scatter, and copy the result to the first subtree of ${t}.  ${e}
 * must add by host_staging_add.  Collective: all ranks call it.  Return 0, or
 * -1 after a message.
 */
int host_staging_reduce_scatter(struct host_staging *s, struct exact *e,
    const struct tree *t, size_t from, size_t to);

/*
 * host_staging_add(device, sum, x, n): sum += x, ${n} elements of the type of
 * ${device}, in the memory in which they are exchanged.
 */
void host_staging_add(void *device, void *sum, const void *x, size_t n);

/* An all-gather of vectors of which each rank has its own segments. */
struct allgather;
struct reducer;

/*
 * allgather_new(share, d):
 * Prepare to gather vectors in memory of ${d} that ${share} divides.  Both must
 * outlive the result, which allgather_free frees.  Return NULL after a message.
 * allgather_bytes(share, d): return the host memory that allgather_new
 * allocates.
 * allgather_by(g, r): gather by reducer ${r} if it can.  ${r} must outlive the
 * last allgather_run.
 * allgather_run(g, data): segments_gather of a vector in device memory.
 * Collective: all ranks call it.  Return 0, or -1 after a message.
 */
struct allgather *allgather_new(const struct segments *share, struct device *d);
void allgather_free(struct allgather *g);
size_t allgather_bytes(const struct segments *share, const struct device *d);
void allgather_by(struct allgather *g, struct reducer *r);
int allgather_run(struct allgather *g, void *data);

#endif
