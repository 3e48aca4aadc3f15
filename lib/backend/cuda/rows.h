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

/* rows_of_positions(d): return the matrix of ${d} with a row per position. */
struct matrix rows_of_positions(const struct dims *d);

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

/*
 * cuda_cast(c, kernel, type, a): run GPU_NARROW, from floats to ${type}, or
 * GPU_WIDEN, back.
 */
void cuda_cast(struct cuda *c, int kernel, enum gpu_type type, struct cast a);

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

/*
 * A pass of an operator with one input: forward from x to y, or backward from
 * dy to dx.
 *
 * cuda_flow_of(t, back): return the pass of ${t}.
 * cuda_flow_launch(c, k, f): declare that ${k} reads f->from and writes f->to,
 * and launch it.
 */
struct flow {
	const void *from;
	void *to;
	const struct dims *in, *out;	/* shapes of from and to */
	int accumulate;
};
struct flow cuda_flow_of(const struct task *t, int back);
void cuda_flow_launch(struct cuda *c, struct launch *k, const struct flow *f);

/*
 * Define cuda_NAME_forward and cuda_NAME_backward, which call cuda_run_NAME(t,
 * back), and the operator cuda_NAME with further members.  The backward pass
 * does so only if dx is wanted.
 */
#define CUDA_PASSES(name, ...) \
static void \
cuda_ ## name ## _forward(struct task *t) \
{ \
	cuda_run_ ## name(t, 0); \
} \
\
static void \
cuda_ ## name ## _backward(struct task *t) \
{ \
	if (t->dx[0] != NULL) \
		cuda_run_ ## name(t, 1); \
} \
\
const struct op_impl cuda_ ## name = { .forward = cuda_ ## name ## _forward, \
	.backward = cuda_ ## name ## _backward, __VA_ARGS__ }

/* cuda_window_of(op, in, out): return the window of ${op} for these shapes. */
static inline struct pool_window
cuda_window_of(const struct op *op, const struct dims *in,
    const struct dims *out)
{
	return (struct pool_window){ { in->t, in->h, in->w },
		{ out->t, out->h, out->w },
		{ op->k[0], op->k[1], op->k[2] },
		{ op->s[0], op->s[1], op->s[2] },
		{ op->p[0], op->p[1], op->p[2] } };
}

/* cuda_min(a, b): return the smaller of ${a} and ${b}. */
static inline size_t
cuda_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

#endif
