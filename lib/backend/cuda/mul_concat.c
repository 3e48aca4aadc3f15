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

	return rows_matrix_of(a, (b->t < a->t ? OVER_T : 0) |
	    (b->h < a->h ? OVER_H : 0) | (b->w < a->w ? OVER_W : 0));
}

static size_t
cuda_mul_scratch(const struct task *t)
{
	struct matrix m = cuda_mul_matrix(t);

	return rows_sum_scratch(cuda_of(t), &m);
}

static void
cuda_mul_forward(struct task *t)
{
	struct matrix m = cuda_mul_matrix(t);

	rows_broadcast_run(cuda_of(t), &m, (struct broadcast){
		.from = t->x[0], .by = t->x[1], .to = t->y, .share = 1 });
}

/* da = dy b; db = sum of dy a over the broadcast axes */
static void
cuda_mul_backward(struct task *t)
{
	struct matrix m = cuda_mul_matrix(t);

	if (t->dx[0] != NULL)
		rows_broadcast_run(cuda_of(t), &m, (struct broadcast){
			.from = t->dy, .by = t->x[1], .to = t->dx[0],
			.share = 1, .accumulate = t->accumulate[0] });
	if (t->dx[1] != NULL)
		rows_sum_run(cuda_of(t), &(struct sum){ .matrix = m, .x = t->dy,
			.y = t->x[0], .to = t->dx[1], .share = 1,
			.accumulate = t->accumulate[1] }, t->scratch);
}

const struct op_impl cuda_mul = { .forward = cuda_mul_forward,
	.backward = cuda_mul_backward, .scratch = cuda_mul_scratch,
	.reads = READS_X };

/* ---- concat ---- */

/* Run ${a} to ${to} of shape ${d}.  ${in} has the shapes of its inputs. */
static void
cuda_run_concat(struct task *t, struct concat a, const struct dims *in,
    void *to, const struct dims *d)
{
	struct cuda *c = cuda_of(t);
	struct matrix m = rows_of_positions(d);
	struct launch k;

	a.rows = rows_copy(c, &m);
	a.to = to;
	for (int j = 0; j < a.count; j++)
		a.pitch[j] = (unsigned)cuda_padded(in[j].c);
	k = CUDA_KERNEL(c, GPU_CONCAT, rows_blocks(&a.rows, &m), 1, a);
	for (int j = 0; j < a.count; j++)
		cuda_reads(&k, a.from[j], cuda_bytes(c, &in[j]));
	cuda_touches(&k, to, cuda_bytes(c, d), a.accumulate);
	cuda_launch(c, &k);
}

static void
cuda_concat_forward(struct task *t)
{
	struct concat a = { .count = t->op->nin };

	for (int j = 0; j < a.count; j++) {
		a.from[j] = t->x[j];
		a.first[j + 1] = a.first[j] + (unsigned)t->in[j].c;
	}
	cuda_run_concat(t, a, t->in, t->y, &t->out);
}

static void
cuda_concat_backward(struct task *t)
{
	unsigned skip = 0;

	for (int j = 0; j < t->op->nin; skip += (unsigned)t->in[j++].c)
		if (t->dx[j] != NULL)
			cuda_run_concat(t, (struct concat){ .from = { t->dy },
				.first = { 0, (unsigned)t->in[j].c },
				.skip = skip, .count = 1,
				.accumulate = t->accumulate[j] }, &t->out,
			    t->dx[j], &t->in[j]);
}

const struct op_impl cuda_concat = { .forward = cuda_concat_forward,
	.backward = cuda_concat_backward };
