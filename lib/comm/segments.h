#ifndef COMM_SEGMENTS_H
#define COMM_SEGMENTS_H

/*
 * Who owns which elements of a vector that all ranks have.
 *
 * It is cut into buckets, which are summed up one after the other, and each
 * bucket into a segment a rank (comm/exact.h), the same on all ranks.  What is
 * kept of its own elements alone a rank keeps densely, one segment after the
 * other.
 */

#include "comm/comm.h"

struct segment {
	int rank;			/* its owner */
	size_t at, n;			/* elements of the vector */
	size_t held;			/* the first one, among its owner's */
};

struct segments {
	struct comm *comm;
	int copies;			/* each rank owns a copy of all */
	size_t elements;
	size_t bucket;			/* elements; the last may have fewer */
	int n;
	struct segment *segment;	/* in order of elements; none is empty */
	size_t *owned;			/* [ranks] elements in all */
};

/* segments_open(s, c, elements, most): buckets of up to ${most} elements, a
 * multiple of EXACT_BLOCK, and about the same size. */
void segments_open(struct segments *s, struct comm *c, size_t elements,
    size_t most);
void segments_close(struct segments *s);

/* segments_copy: the same, but every rank is the owner of all of it; what a
 * rank sees of the others' is its own. */
void segments_copy(struct segments *s, struct comm *c, size_t elements,
    size_t most);

/* segments_dealt(s, c, elements, n): of ${n} vectors of ${elements}, one behind
 * the other, each rank owns whole ones, as split() deals them out; a segment
 * each. */
void segments_dealt(struct segments *s, struct comm *c, size_t elements, int n);

/*
 * segments_gather(s, data, elem): every rank's own segments of the vector at
 * ${data}, of elements of ${elem} bytes, to every rank; nothing to do for
 * copies.
 */
int segments_gather(const struct segments *s, void *data, size_t elem);

/* segments_gather_start(s, x, data, elem, from, to): the same, started, of
 * elements ${from} to ${to} - 1, whole segments, of which ${data} has no others. */
int segments_gather_start(const struct segments *s, struct exchange *x,
    void *data, size_t elem, size_t from, size_t to);

#endif
