#ifndef BACKEND_CUDA_ROWS_H
#define BACKEND_CUDA_ROWS_H

/*
 * Operations on arrays [groups][m][c]: reductions over the rows m, and
 * broadcasts to them.  The host plans how threads iterate over the array
 * (struct rows of args.h).  The plan of a reduction, and with it the order of
 * its sums, depends on the shape and the storage type alone.
 */

#include "backend/cuda/args.h"
#include "backend/cuda/cuda.h"

/*
 * An array [groups][m][c]; c is a multiple of eight.  inner_g and inner_m are 1
 * and 0, unless the rows of a group are not adjacent (struct rows).
 */
struct matrix {
	size_t groups, m, c;
	unsigned inner_g, inner_m;
};

/*
 * rows_matrix_of(d, over): return the matrix of an activation of shape ${d}.
 * Its rows are the axes t, h, w in ${over}, a sum of OVER_*.
 */
struct matrix rows_matrix_of(const struct dims *d, int over);

/*
 * rows_copy(c, m): return the iteration plan of an elementwise kernel.
 * rows_sum(c, m): return the plan of a reduction, with enough row ranges to
 * fill a GPU.
 */
struct rows rows_copy(const struct cuda *c, const struct matrix *m);
struct rows rows_sum(const struct cuda *c, const struct matrix *m);

/* rows_divisor_of(by): return the divisor for ${by}, from 1 to 2^31. */
struct divisor rows_divisor_of(unsigned by);

/*
 * rows_blocks(r, m): return the blocks of a kernel with the plan ${r}.
 */
unsigned rows_blocks(const struct rows *r, const struct matrix *m);

/*
 * A reduction: to[group][c] = or += share times the sum over m of x, or of x y
 * if ${y} is not NULL.  ${to} has the storage type.  With ${floats} it is
 * floats, which are stored and never accumulated.  With ${all} the sum is over
 * c, too: to[group].
 */
struct sum {
	struct matrix matrix;
	const void *x, *y;
	void *to;
	double share;
	int accumulate, floats, all;
};

/*
 * rows_sum_scratch(c, m): return the bytes of scratch memory that rows_sum_run
 * needs.
 * rows_sum_run(c, s, scratch): run the reduction ${s}.
 */
size_t rows_sum_scratch(const struct cuda *c, const struct matrix *m);
void rows_sum_run(struct cuda *c, const struct sum *s, void *scratch);

/*
 * rows_total_run(c, groups, a): run kernel total on partial sums of ${groups}
 * groups.  It sets a.tiles.
 */
void rows_total_run(struct cuda *c, size_t groups, struct total a);

/*
 * rows_broadcast_run(c, m, a): run kernel broadcast.  It sets a.rows.
 */
void rows_broadcast_run(struct cuda *c, const struct matrix *m,
    struct broadcast a);

/*
 * rows_bias_run(c, y, d, bias):
 * y += bias[c], where ${y} is an activation of shape ${d} and ${bias} is
 * floats.
 *
 * rows_bias_gradient(c, dbias, dy, d, scratch):
 * Store the sum of dy over all positions in ${dbias}, floats.  ${scratch}
 * has rows_bias_scratch(c, d) bytes.
 */
void rows_bias_run(struct cuda *c, void *y, const struct dims *d,
    const void *bias);
size_t rows_bias_scratch(const struct cuda *c, const struct dims *d);
void rows_bias_gradient(struct cuda *c, void *dbias, const void *dy,
    const struct dims *d, void *scratch);

/* cuda_lanes(type): return the elements of a vector of 16 bytes. */
static inline unsigned
cuda_lanes(enum gpu_type type)
{
	return 16 / (unsigned)cuda_size(type);
}

/*
 * cuda_flat(c, n): return the blocks of an elementwise kernel over a flat array
 * of ${n} elements.
 */
static inline unsigned
cuda_flat(const struct cuda *c, size_t n)
{
	return cuda_pieces(n, (size_t)THREADS * FLAT * cuda_lanes(c->type));
}

/*
 * cuda_touches(k, to, bytes, accumulate): declare that the kernel writes ${to},
 * and reads it if ${accumulate}.
 */
static inline void
cuda_touches(struct launch *k, void *to, size_t bytes, int accumulate)
{
	if (accumulate)
		cuda_reads(k, to, bytes);
	cuda_writes(k, to, bytes);
}

#endif
