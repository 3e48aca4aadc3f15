#ifndef TRAIN_REDUCE_DETOUR_H
#define TRAIN_REDUCE_DETOUR_H

/*
 * Host staging of vectors that ranks exchange.  Transports and sums access
 * memory of the device directly if the host can.  If device memory is discrete
 * (struct backend's apart), each bucket is copied to host memory and exchanged
 * there.  The same numbers are added in the same order, so the bits are the
 * same.
 */

#include "backend/backend.h"
#include "comm/exact.h"
#include "comm/segments.h"

/* A staging buffer for one bucket of each subtree of a rank. */
struct detour {
	struct device *device;		/* executes the copies */
	size_t most;			/* most elements of a bucket */
	int copies;			/* 0: subtrees are used in place */
	int parts;			/* subtrees that fit in the buffer */
	char *room;			/* the buffer; NULL without copies */
	struct tree tree;		/* the staged subtrees */
};

/*
 * detour_bytes(d, parts, most): return the host memory for ${parts} subtrees in
 * buckets of up to ${most} elements.
 */
size_t detour_bytes(const struct device *d, int parts, size_t most);

/*
 * detour_open(s, d, most):
 * Prepare ${s} for buckets of up to ${most} elements of ${d}, which must
 * outlive it.  detour_close frees its memory.
 * detour_room(s, parts): make the buffer hold ${parts} subtrees.  Return 0, or
 * -1 after a message.
 */
void detour_open(struct detour *s, struct device *d, size_t most);
int detour_room(struct detour *s, int parts);
void detour_close(struct detour *s);

/*
 * detour_take(s, t, from, to):
 * Copy elements ${from} to ${to} - 1 of the subtrees ${t} to the buffer.
 * s->tree refers to them; its data begins with element ${from}.
 * detour_give(s, t, from, at, n): copy ${n} elements, from element ${at} of the
 * whole vector, of the first staged subtree back to ${t}.  ${from} is as in
 * detour_take.
 * Without copies, detour_take only sets s->tree and detour_give does nothing.
 */
void detour_take(struct detour *s, const struct tree *t, size_t from,
    size_t to);
void detour_give(struct detour *s, const struct tree *t, size_t from, size_t at,
    size_t n);

/*
 * detour_scatter, detour_reduce: stage the bucket, call exact_scatter or
 * exact_reduce, and copy the result to the first subtree of ${t}.  ${e} must
 * add by detour_add.  Collective: all ranks call it.  Return 0, or -1 after a
 * message.
 */
int detour_scatter(struct detour *s, struct exact *e, const struct tree *t,
    size_t from, size_t to);
int detour_reduce(struct detour *s, struct exact *e, const struct tree *t,
    size_t from, size_t to);

/*
 * detour_add(device, sum, x, n): sum += x, ${n} elements of the type of
 * ${device}, in the memory in which they are exchanged.
 */
void detour_add(void *device, void *sum, const void *x, size_t n);

/* An all-gather of vectors of which each rank has its own segments. */
struct gathering;

/*
 * gathering_new(share, d):
 * Prepare to gather vectors in memory of ${d} that ${share} divides.  Both must
 * outlive the result, which gathering_free frees.  Return NULL after a message.
 * gathering_bytes(share, d): return the host memory that gathering_new
 * allocates.
 * gathering_run(g, data): segments_gather of a vector in device memory.
 * Collective: all ranks call it.  Return 0, or -1 after a message.
 */
struct gathering *gathering_new(const struct segments *share, struct device *d);
void gathering_free(struct gathering *g);
size_t gathering_bytes(const struct segments *share, const struct device *d);
int gathering_run(struct gathering *g, void *data);

#endif
