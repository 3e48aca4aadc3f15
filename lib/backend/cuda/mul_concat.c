/*
 * Operators of several inputs: elementwise products, and concatenation of
 * channels.
 */
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

/* ---- mul: y = a b, where axes of b of extent 1 are broadcast ---- */

static struct matrix
cuda_mul_matrix(const struct task *t)
{
	const struct dims *a = &t->in[0], *b = &t->in[1];

	return matrix_of(a, (b->t < a->t ? OVER_T : 0) |
	    (b->h < a->h ? OVER_H : 0) | (b->w < a->w ? OVER_W : 0));
}

static size_t
cuda_mul_scratch(const struct task *t)
{
	struct matrix m = cuda_mul_matrix(t);

	return sum_scratch(cuda_of(t), &m);
}

static void
cuda_mul_forward(struct task *t)
{
	struct matrix m = cuda_mul_matrix(t);

	broadcast_run(cuda_of(t), &m, t->x[0], t->x[1], 1, t->y, 0);
}

/* da = dy b; db = sum of dy a over the broadcast axes */
static void
cuda_mul_backward(struct task *t)
{
	struct matrix m = cuda_mul_matrix(t);

	if (t->dx[0] != NULL)
		broadcast_run(cuda_of(t), &m, t->dy, t->x[1], 1, t->dx[0],
		    t->accumulate[0]);
	if (t->dx[1] != NULL)
		sum_run(cuda_of(t), &(struct sum){ .matrix = m, .x = t->dy,
			.y = t->x[0], .to = t->dx[1], .share = 1,
			.accumulate = t->accumulate[1] }, t->scratch);
}

const struct op_impl cuda_mul = { .forward = cuda_mul_forward,
	.backward = cuda_mul_backward, .scratch = cuda_mul_scratch,
	.reads = READS_X };

/* ---- concat: a vector must not straddle two inputs ---- */

static void
cuda_run_concat(struct task *t, const void *const *part, const void *whole,
    int back)
{
	struct cuda *c = cuda_of(t);
	unsigned lanes = cuda_lanes(c->type);
	size_t bytes = cuda_bytes(c, &t->out);
	struct matrix m = { 1, dims_count(&t->out) / (size_t)t->out.c,
		(size_t)t->out.c, 1, 0 };
	struct concat a = { .whole = (void *)whole, .count = t->op->nin,
		.back = back };
	struct launch k;

	for (int j = 0; j < a.count; j++) {
		a.part[j] = (void *)part[j];
		a.accumulate[j] = t->accumulate[j];
		a.first[j + 1] = a.first[j] + (unsigned)t->in[j].c;
		if (a.first[j + 1] % cuda_lanes(c->type) != 0)
			lanes = 1;
	}
	a.rows = rows_plain(&m, lanes);
	k = CUDA_KERNEL(c, GPU_CONCAT, rows_blocks(&a.rows, &m), 1, a);
	for (int j = 0; j < a.count; j++)
		if (back)
			cuda_touches(&k, a.part[j], cuda_bytes(c, &t->in[j]),
			    a.accumulate[j]);
		else
			cuda_reads(&k, a.part[j], cuda_bytes(c, &t->in[j]));
	if (back)
		cuda_reads(&k, whole, bytes);
	else
		cuda_writes(&k, a.whole, bytes);
	cuda_launch(c, &k);
}

static void
cuda_concat_forward(struct task *t)
{
	cuda_run_concat(t, t->x, t->y, 0);
}

static void
cuda_concat_backward(struct task *t)
{
	cuda_run_concat(t, (const void *const *)t->dx, t->dy, 1);
}

const struct op_impl cuda_concat = { .forward = cuda_concat_forward,
	.backward = cuda_concat_backward };
