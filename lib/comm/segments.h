#ifndef COMM_SEGMENTS_H
#define COMM_SEGMENTS_H

/*
 * The owner of each element of a vector that all ranks have.
 *
 * The vector is divided into buckets, which are reduced one after the other,
 * and each bucket into one segment for each rank, in the order of
 * comm/rank_order.h.  The division is the same on all ranks.  Data that a rank
 * keeps only for its own elements is dense: one segment follows another.  Only
 * this rank's segments are stored; the others follow from the sizes.
 */

#include "comm/comm.h"

/*
 * Elements of the vector that are stored one after another and have one owner.
 */
struct segment {
	int rank;			/* its owner */
	size_t at, n;			/* elements of the vector */
	size_t held;			/* index of the first in its owner's
					 * data */
};

/* The division of a vector; segments_open and others make it. */
struct segments {
	struct comm *comm;
	int copies;			/* 1: each rank owns a copy of all */
	size_t elements;
	size_t bucket;			/* elements; the last one may have
					 * fewer */
	int vectors;			/* a segment is one of these whole
					 * vectors; 0: a part of a bucket */
	int n;
	struct segment *segment;	/* [n] of this rank, in order of
					 * elements; none is empty */
};

/*
 * segments_open(s, c, elements, largest):
 * Divide ${elements} into buckets of about the same size, of up to ${largest}
 * elements, a multiple of EXACT_BLOCK.  ${c} must outlive ${s}.  segments_close
 * frees the memory of ${s}.
 */
void segments_open(struct segments *s, struct comm *c, size_t elements,
    size_t largest);
void segments_close(struct segments *s);

/*
 * segments_count(s): return the number of segments of all ranks, empty ones
 * included; of copies, that of this rank.
 * segments_get(s, i): return segment ${i} of these, in order of elements.
 * segments_owned(s, rank): return the number of elements that ${rank} owns.
 */
int segments_count(const struct segments *s);
struct segment segments_get(const struct segments *s, int i);
size_t segments_owned(const struct segments *s, int rank);

/*
 * segments_copy(s, c, elements, largest): the same buckets, but each rank owns
 * all elements.
 */
void segments_copy(struct segments *s, struct comm *c, size_t elements,
    size_t largest);

/*
 * segments_distribute(s, c, elements, n): distribute ${n} vectors of
 * ${elements} each, stored one after another, by split() (base/cpus.h). Each
 * rank owns whole vectors; a vector is a segment.
 */
void segments_distribute(struct segments *s, struct comm *c, size_t elements,
    int n);

/*
 * segments_traffic(s, elem): return the bytes that this rank sends in
 * segments_gather.
 * segments_gather_list(s, elem, from, to, l): append the messages of
 * segments_gather_start to ${l}.
 */
size_t segments_traffic(const struct segments *s, size_t elem);
void segments_gather_list(const struct segments *s, size_t elem, size_t from,
    size_t to, struct collective *l);

/*
 * segments_gather(s, data, elem):
 * All-gather the vector at ${data}, of elements of ${elem} bytes: copy every
 * rank's own segments to all ranks.  Do nothing for copies (segments_copy).
 * Collective: all ranks call it.  Return 0, or -1 after a message.
 */
int segments_gather(const struct segments *s, void *data, size_t elem);

/*
 * segments_gather_on(s, data, elem, d, arg): segments_gather of device memory
 * ${data} by ${d}, whose functions get ${arg}.  The work is queued.  NULL: of
 * host memory.
 */
int segments_gather_on(const struct segments *s, void *data, size_t elem,
    const struct collective_device *d, void *arg);

/*
 * segments_gather_start(s, x, data, elem, from, to): start that as ${x}, for
 * elements ${from} to ${to} - 1, which are whole segments.  ${data} contains
 * only these elements.
 */
int segments_gather_start(const struct segments *s, struct exchange *x,
    void *data, size_t elem, size_t from, size_t to);

#endif
