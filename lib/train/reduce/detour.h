#ifndef TRAIN_REDUCE_DETOUR_H
#define TRAIN_REDUCE_DETOUR_H

/*
 * What ranks exchange lies in memory of a device.  Transports and sums take it
 * from there if the host can touch it.  If it cannot (struct backend's apart), a
 * bucket at a time is copied to memory of the host's and exchanged there: the
 * same numbers are added up in the same order, so the bits are the same.
 */

#include "backend/backend.h"
#include "comm/exact.h"
#include "comm/segments.h"

/* A buffer for one bucket of each subtree of a rank. */
struct detour {
	struct device *device;		/* what executes the copies */
	size_t most;			/* elements of a bucket, at most */
	int copies;			/* 0: subtrees are used where they are */
	int parts;			/* subtrees that the buffer holds */
	char *room;			/* NULL without copies */
	struct tree tree;		/* those in it */
};

/* detour_bytes(d, parts, most): host memory that this takes. */
size_t detour_bytes(const struct device *d, int parts, size_t most);

/* detour_open(s, d, most): for buckets of up to ${most} elements.
 * detour_room(s, parts): make the buffer hold ${parts} subtrees; -1 after a
 * message. */
void detour_open(struct detour *s, struct device *d, size_t most);
int detour_room(struct detour *s, int parts);
void detour_close(struct detour *s);

/*
 * detour_take(s, t, from, to): elements ${from} to ${to} - 1 of the subtrees
 * ${t}; in s->tree they begin with element 0.
 * detour_give(s, t, from, at, n): ${n} elements of the first subtree back to
 * ${t}, to elements ${at} and on.
 */
void detour_take(struct detour *s, const struct tree *t, size_t from,
    size_t to);
void detour_give(struct detour *s, const struct tree *t, size_t from, size_t at,
    size_t n);

/* detour_scatter, detour_reduce: exact_scatter and exact_reduce of vectors of
 * the device, into the first subtree; ${e} adds by detour_add. */
int detour_scatter(struct detour *s, struct exact *e, const struct tree *t,
    size_t from, size_t to);
int detour_reduce(struct detour *s, struct exact *e, const struct tree *t,
    size_t from, size_t to);

/* detour_add(device, sum, x, n): sum += x, n elements as the device has them,
 * wherever they are exchanged. */
void detour_add(void *device, void *sum, const void *x, size_t n);

/* Vectors of which each rank has its segments, for all ranks. */
struct gathering;

/*
 * gathering_new(share, d): of vectors that ${share} cuts, which must outlive it as
 * ${d} must; NULL after a message.  gathering_bytes: memory that it takes.
 * gathering_run(g, data): segments_gather of one of the device's.
 */
struct gathering *gathering_new(const struct segments *share, struct device *d);
void gathering_free(struct gathering *g);
size_t gathering_bytes(const struct segments *share, const struct device *d);
int gathering_run(struct gathering *g, void *data);

#endif
