#ifndef BACKEND_CUDA_ROWS_H
#define BACKEND_CUDA_ROWS_H

/*
 * Walks over rows, planned on the host (struct rows of args.h), and what is made
 * of them in more than one operator: sums over rows, and what is spread over
 * them.  How a walk is cut, and with it the order of its sums, is a function of
 * its shape and of the type that is stored alone.
 */

#include "backend/cuda/args.h"
#include "backend/cuda/cuda.h"

/*
 * [groups][m][c] packed.  Where the m are not one axis or several next to one
 * another, inner_g and inner_m (struct rows); else these are 1 and 0.
 */
struct matrix {
	size_t groups, m, c;
	unsigned inner_g, inner_m;
};

/*
 * matrix_of(d, over): of an activation, with what OVER_* of t, h, w has in it as
 * the rows of a group.
 */
struct matrix matrix_of(const struct dims *d, int over);

/* rows_copy(c, m): a walk that does something to each number.
 * rows_sum(c, m): one that sums up, in parts enough for all of a GPU. */
struct rows rows_copy(const struct cuda *c, const struct matrix *m);
struct rows rows_sum(const struct cuda *c, const struct matrix *m);

/*
 * rows_whole(r): return 1 if ${r} is one group of whole vectors, fewer than
 * 2^32 in all, so that walk_whole may be used.
 */
int rows_whole(const struct rows *r);

/* divisor_of(by): return the divisor for ${by}, from 1 to 2^31. */
struct divisor divisor_of(unsigned by);

/* rows_plain(m, lanes): as rows_copy, by vectors of ${lanes}, of one row each. */
struct rows rows_plain(const struct matrix *m, unsigned lanes);

/* rows_blocks(r, m): of its kernel.  rows_folds(r): columns a channel. */
unsigned rows_blocks(const struct rows *r, const struct matrix *m);
unsigned rows_folds(const struct rows *r);

/*
 * For each group and channel of ${matrix}: to = share times the sum of x, or of
 * x y where y is not NULL.  ${to} is an activation, or floats.
 */
struct sum {
	struct matrix matrix;
	const void *x, *y;
	void *to;
	double share;
	int accumulate, floats;
};

/* sum_scratch(c, m): bytes for the parts of a sum.  sum_run(c, s, scratch). */
size_t sum_scratch(const struct cuda *c, const struct matrix *m);
void sum_run(struct cuda *c, const struct sum *s, void *scratch);

/* total_run(c, groups, a): kernel total, of parts of ${groups} sums; a.tiles is
 * its own. */
void total_run(struct cuda *c, size_t groups, struct total a);

/*
 * spread_run(c, m, from, by, share, to, accumulate):
 * to = share from by: ${from} and ${to} are of shape ${m}, ${by} has a number for
 * each group and channel.  ${from} NULL: share by.
 */
void spread_run(struct cuda *c, const struct matrix *m, const void *from,
    const void *by, double share, void *to, int accumulate);

/*
 * bias_run(c, y, d, bias): y += bias[c], ${bias} floats, y of shape ${d}.
 * bias_gradient(c, dbias, dy, d, scratch): its gradient, floats, written anew;
 * scratch memory of bias_scratch(c, d) bytes.
 */
void bias_run(struct cuda *c, void *y, const struct dims *d, const void *bias);
size_t bias_scratch(const struct cuda *c, const struct dims *d);
void bias_gradient(struct cuda *c, void *dbias, const void *dy,
    const struct dims *d, void *scratch);

/* cuda_lanes(type): numbers of a vector. */
static inline unsigned
cuda_lanes(enum gpu_type type)
{
	return 16 / (unsigned)cuda_size(type);
}

/* cuda_flat(c, n): blocks of a kernel that takes ${n} numbers as they lie. */
static inline unsigned
cuda_flat(const struct cuda *c, size_t n)
{
	return cuda_pieces(n, (size_t)THREADS * FLAT * cuda_lanes(c->type));
}

/* cuda_touches(k, to, bytes, accumulate): what it writes, or adds to. */
static inline void
cuda_touches(struct launch *k, void *to, size_t bytes, int accumulate)
{
	if (accumulate)
		cuda_reads(k, to, bytes);
	cuda_writes(k, to, bytes);
}

#endif
