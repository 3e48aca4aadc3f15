/* GEMMs by plans of the driver: linear layers and attention. */
#include <stdlib.h>

#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"
#include "base/mem.h"
#include "base/number.h"

enum { ALIGN = 256, PLANS = 3 };
enum { FORWARD, BACK_A, BACK_B };	/* BACK_A: dA of bmm, dx of linear;
					 * BACK_B: dB, dw */

struct cuda_matrix_products {
	struct gemm_plan *plan[PLANS];	/* NULL: not run */
	size_t workspace;		/* largest of the plans */
};

static void
cuda_matrix_release(struct task *t)
{
	struct driver *d = cuda_of(t)->driver;
	struct cuda_matrix_products *p = t->priv;

	for (int i = 0; p != NULL && i < PLANS; i++)
		if (p->plan[i] != NULL)
			d->call->gemm_free(d, p->plan[i]);
	free(p);
	t->priv = NULL;
}

/*
 * Make the plans of the shapes ${s} that are ${wanted}.  Return 0, or -1 after
 * a message.
 */
static int
cuda_matrix_plan(struct task *t, const struct gemm_shape *s,
    const int *wanted)
{
	struct driver *d = cuda_of(t)->driver;
	struct cuda_matrix_products *p = xcalloc(1, sizeof(*p));

	t->priv = p;
	for (int i = 0; i < PLANS; i++) {
		size_t bytes;

		if (!wanted[i])
			continue;
		if ((p->plan[i] = d->call->gemm_new(d, &s[i])) == NULL) {
			cuda_matrix_release(t);
			return -1;
		}
		bytes = d->call->gemm_workspace(d, p->plan[i]);
		p->workspace = bytes > p->workspace ? bytes : p->workspace;
	}
	return 0;
}

static void
cuda_matrix_run(struct task *t, int which, const void *a, const void *b,
    void *c)
{
	struct cuda *of = cuda_of(t);
	const struct cuda_matrix_products *p = t->priv;

	of->driver->call->gemm(of->driver, of->stream, p->plan[which], a, b,
	    c, t->scratch);
}

/* Set the padding of the gradient of input ${i} to 0, which no GEMM writes. */
static void
cuda_matrix_clear(struct task *t, int i)
{
	if (!t->accumulate[i])
		cuda_clear_padding(cuda_of(t), t->dx[i], &t->in[i]);
}

/*
 * ---- linear: y[row][o] = b[o] + sum over i of w[o][i] x[row][i] ----
 *
 * Weights are kept in the storage type, like those of convolutions.  Their
 * gradient is computed in float.
 */

static size_t
cuda_linear_weights(const struct task *t)
{
	return (size_t)t->out.c * (size_t)t->in[0].c;
}

static size_t
cuda_linear_bytes(const struct task *t)
{
	return round_up(cuda_linear_weights(t) * cuda_size(cuda_of(t)->type),
	    ALIGN);
}

static int
cuda_linear_prepare(struct task *t)
{
	enum gpu_type type = cuda_of(t)->type;
	int in = t->in[0].c, out = t->out.c;
	int rows = t->out.n * (int)dims_positions(&t->out);
	size_t x = (size_t)cuda_padded(in), y = (size_t)cuda_padded(out);
	const struct gemm_shape s[PLANS] = {
		[FORWARD] = { .m = rows, .n = out, .k = in, .batch = 1,
		    .transpose_b = 1, .lda = x, .ldb = (size_t)in, .ldc = y,
		    .type_ab = type, .type_c = type },
		[BACK_A] = { .m = rows, .n = in, .k = out, .batch = 1,
		    .accumulate = t->accumulate[0], .lda = y,
		    .ldb = (size_t)in, .ldc = x, .type_ab = type,
		    .type_c = type },
		[BACK_B] = { .m = out, .n = in, .k = rows, .batch = 1,
		    .transpose_a = 1, .lda = y, .ldb = x,
		    .ldc = (size_t)in, .type_ab = type, .type_c = GPU_F32 },
	};
	int learns = !t->no_grad && t->training;

	return cuda_matrix_plan(t, s, (int[]){ 1, learns &&
	    t->needs_input_grad[0], learns && t->needs_weight_grad });
}

static size_t
cuda_linear_scratch(const struct task *t)
{
	const struct cuda_matrix_products *p = t->priv;
	size_t sums = p->plan[BACK_B] != NULL ?
	    rows_bias_scratch(cuda_of(t), &t->out) : 0;

	return sums > p->workspace ? sums : p->workspace;
}

static void
cuda_linear_forward(struct task *t)
{
	struct cuda *c = cuda_of(t);

	if (t->weights_changed)
		cuda_cast(c, GPU_NARROW, c->type, (struct cast){ t->w[0],
			t->packed_weights, cuda_linear_weights(t), 1 });
	cuda_clear_padding(c, t->y, &t->out);
	cuda_matrix_run(t, FORWARD, t->x[0], t->packed_weights, t->y);
	rows_bias_run(c, t->y, &t->out, t->w[1]);
}

static void
cuda_linear_backward(struct task *t)
{
	if (t->dx[0] != NULL) {
		cuda_matrix_clear(t, 0);
		cuda_matrix_run(t, BACK_A, t->dy, t->packed_weights, t->dx[0]);
	}
	if (!t->needs_weight_grad)
		return;
	cuda_matrix_run(t, BACK_B, t->dy, t->x[0], t->dw[0]);
	rows_bias_gradient(cuda_of(t), t->dw[1], t->dy, &t->out, t->scratch);
}

const struct op_impl cuda_linear = { .reads = READS_X_DW,
	.prepare = cuda_linear_prepare, .release = cuda_matrix_release,
	.packed_bytes = cuda_linear_bytes, .scratch = cuda_linear_scratch,
	.forward = cuda_linear_forward, .backward = cuda_linear_backward };

/*
 * ---- bmm: y = A B for each clip ----
 *
 * A is the first input, a matrix with one row per position, or its transpose; B
 * is the second input, likewise.  dA = dy B' and dB = A' dy, or the transposes
 * of these.
 */

static int
cuda_bmm_prepare(struct task *t)
{
	enum gpu_type type = cuda_of(t)->type;
	int ta = (t->op->bmm.transpose & TRANSPOSE_A) != 0;
	int tb = (t->op->bmm.transpose & TRANSPOSE_B) != 0;
	int p = (int)dims_positions(&t->out), q = t->out.c;
	int i = ta ? (int)dims_positions(&t->in[0]) : t->in[0].c;
	size_t la = (size_t)cuda_padded(t->in[0].c);
	size_t lb = (size_t)cuda_padded(t->in[1].c);
	size_t lc = (size_t)cuda_padded(q), sa = dims_positions(&t->in[0]) * la;
	size_t sb = dims_positions(&t->in[1]) * lb, sc = (size_t)p * lc;
	struct gemm_shape s[PLANS] = {
		[FORWARD] = { .m = p, .n = q, .k = i, .transpose_a = ta,
		    .transpose_b = tb, .lda = la, .ldb = lb, .ldc = lc,
		    .stride_a = sa, .stride_b = sb, .stride_c = sc },
		[BACK_A] = ta ? (struct gemm_shape){ .m = i, .n = p, .k = q,
		    .transpose_a = tb, .transpose_b = 1, .lda = lb, .ldb = lc,
		    .ldc = la, .stride_a = sb, .stride_b = sc,
		    .stride_c = sa } : (struct gemm_shape){ .m = p, .n = i,
		    .k = q, .transpose_b = !tb, .lda = lc, .ldb = lb, .ldc = la,
		    .stride_a = sc, .stride_b = sb, .stride_c = sa },
		[BACK_B] = tb ? (struct gemm_shape){ .m = q, .n = i, .k = p,
		    .transpose_a = 1, .transpose_b = ta, .lda = lc, .ldb = la,
		    .ldc = lb, .stride_a = sc, .stride_b = sa,
		    .stride_c = sb } : (struct gemm_shape){ .m = i, .n = q,
		    .k = p, .transpose_a = !ta, .lda = la, .ldb = lc, .ldc = lb,
		    .stride_a = sa, .stride_b = sc, .stride_c = sb },
	};
	int learns = !t->no_grad && t->training;

	for (int k = 0; k < PLANS; k++) {
		s[k].batch = t->out.n;
		s[k].type_ab = s[k].type_c = type;
		s[k].accumulate = k != FORWARD && t->accumulate[k - BACK_A];
	}
	return cuda_matrix_plan(t, s, (int[]){ 1, learns &&
	    t->needs_input_grad[0], learns && t->needs_input_grad[1] });
}

static size_t
cuda_bmm_scratch(const struct task *t)
{
	return ((const struct cuda_matrix_products *)t->priv)->workspace;
}

static void
cuda_bmm_forward(struct task *t)
{
	cuda_clear_padding(cuda_of(t), t->y, &t->out);
	cuda_matrix_run(t, FORWARD, t->x[0], t->x[1], t->y);
}

static void
cuda_bmm_backward(struct task *t)
{
	int ta = (t->op->bmm.transpose & TRANSPOSE_A) != 0;
	int tb = (t->op->bmm.transpose & TRANSPOSE_B) != 0;

	if (t->dx[0] != NULL) {
		cuda_matrix_clear(t, 0);
		cuda_matrix_run(t, BACK_A, ta ? t->x[1] : t->dy,
		    ta ? t->dy : t->x[1], t->dx[0]);
	}
	if (t->dx[1] != NULL) {
		cuda_matrix_clear(t, 1);
		cuda_matrix_run(t, BACK_B, tb ? t->dy : t->x[0],
		    tb ? t->x[0] : t->dy, t->dx[1]);
	}
}

const struct op_impl cuda_bmm = { .reads = READS_X, .prepare = cuda_bmm_prepare,
	.release = cuda_matrix_release, .scratch = cuda_bmm_scratch,
	.forward = cuda_bmm_forward, .backward = cuda_bmm_backward };
