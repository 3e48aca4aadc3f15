/* Convolutions, by direct loops. */
#include <string.h>

#include "backend/ref/ref.h"

/*
 * ---- conv: y[o] = b[o] + sum over taps and i of w[o][i][tap] x[i] ----
 *
 * The weights are first transposed in double, so that the innermost loops run
 * over consecutive numbers: to [tap][i][o] for the output, and to [tap][o][i]
 * for the input gradient.
 */

static int
ref_conv_taps(const struct op *op)
{
	return op->k[0] * op->k[1] * op->k[2];
}

static size_t
ref_conv_weights(const struct task *k)
{
	return (size_t)ref_conv_taps(k->op) *
	    (k->in[0].c / k->op->conv.groups) *
	    k->out.c;
}

static size_t
ref_conv_scratch(const struct task *k)
{
	/*
	 * the weights, their gradient, a row of sums over outputs and one over
	 * inputs
	 */
	return (2 * ref_conv_weights(k) + k->out.c + k->in[0].c) *
	    sizeof(double);
}

/* Transpose the weights: w[o][i][tap] to turned[tap][i step_i + o step_o]. */
static void
ref_conv_turn(const struct task *k, double *turned, int step_i, int step_o)
{
	int ci = k->in[0].c / k->op->conv.groups, taps = ref_conv_taps(k->op);
	size_t size = (size_t)ci * k->out.c;
	const REAL *w = k->w[0];

	for (int o = 0; o < k->out.c; o++)
		for (int i = 0; i < ci; i++)
			for (int tap = 0; tap < taps; tap++)
				turned[tap * size + (size_t)i * step_i +
				    (size_t)o * step_o] =
				    w[((size_t)o * ci + i) * taps + tap];
}

void
REF(visit)(struct task *k, void (*visit)(struct task *, size_t y, size_t x,
    int tap, void *), void (*finish)(struct task *, size_t y, void *),
    void *arg)
{
	const struct dims *d = &k->out;
	const int *ks = k->op->k;

	for (int n = 0; n < d->n; n++)
	for (int t = 0; t < d->t; t++)
	for (int h = 0; h < d->h; h++)
	for (int w = 0; w < d->w; w++) {
		size_t y = ref_at(d, n, t, h, w);
		int out[3] = { t, h, w }, in[3];

		for (int a = 0, tap = 0; a < ks[0]; a++)
		for (int b = 0; b < ks[1]; b++)
		for (int c = 0; c < ks[2]; c++, tap++)
			if (ref_source(k, out, (int[]){ a, b, c }, in))
				visit(k, y, ref_at(&k->in[0], n, in[0], in[1],
				    in[2]), tap, arg);
		if (finish != NULL)
			finish(k, y, arg);
	}
}

struct ref_conv_work { double *w, *dw, *sum, *back; };

static struct ref_conv_work
ref_conv_work(struct task *k)
{
	double *s = k->scratch;
	size_t n = ref_conv_weights(k);

	return (struct ref_conv_work){ s, s + n, s + 2 * n,
	    s + 2 * n + k->out.c };
}

/*
 * sum[k] += sum over r of w[r stride + k] x[r], in order of r, with k below
 * ${n} and r below ${rows}.  Four rows per pass, so that ${sum} is stored less
 * often.
 */
static void
ref_conv_add(double *restrict sum, int n, const double *restrict w,
    size_t stride, const REAL *restrict x, int rows)
{
	int r = 0;

	for (; r + 4 <= rows; r += 4, w += 4 * stride) {
		double x0 = x[r], x1 = x[r + 1], x2 = x[r + 2], x3 = x[r + 3];

		for (int k = 0; k < n; k++)
			sum[k] = sum[k] + w[k] * x0 + w[stride + k] * x1 +
			    w[2 * stride + k] * x2 + w[3 * stride + k] * x3;
	}
	for (; r < rows; r++, w += stride)
		for (int k = 0; k < n; k++)
			sum[k] += w[k] * (double)x[r];
}

/* sum[o] += sum over i of w[tap][i][o] x[i], in each group of channels. */
static void
ref_conv_forward_tap(struct task *k, size_t y, size_t x, int tap, void *arg)
{
	struct ref_conv_work *v = arg;
	int groups = k->op->conv.groups, ci = k->in[0].c / groups;
	int co = k->out.c / groups;
	const REAL *from = (const REAL *)k->x[0] + x;
	const double *w = v->w + (size_t)tap * ci * k->out.c;

	(void)y;
	for (int g = 0; g < groups; g++)
		ref_conv_add(v->sum + g * co, co, w + g * co, k->out.c,
		    from + g * ci, ci);
}

static void
ref_conv_forward_end(struct task *k, size_t y, void *arg)
{
	struct ref_conv_work *v = arg;
	const REAL *b = k->op->conv.bias ? k->w[1] : NULL;
	REAL *to = (REAL *)k->y + y;

	for (int o = 0; o < k->out.c; o++) {
		to[o] = (REAL)(v->sum[o] + (b != NULL ? (double)b[o] : 0));
		v->sum[o] = 0;
	}
}

static void
ref_conv_forward(struct task *k)
{
	struct ref_conv_work v = ref_conv_work(k);

	ref_conv_turn(k, v.w, k->out.c, 1);
	memset(v.sum, 0, (size_t)k->out.c * sizeof(double));
	REF(visit)(k, ref_conv_forward_tap, ref_conv_forward_end, &v);
}

/* dw[tap][i][o] += x[i] dy[o],  dx[i] += sum over o of w[tap][o][i] dy[o]. */
static void
ref_conv_backward_tap(struct task *k, size_t y, size_t x, int tap, void *arg)
{
	struct ref_conv_work *v = arg;
	int groups = k->op->conv.groups, ci = k->in[0].c / groups;
	int co = k->out.c / groups;
	const REAL *from = (const REAL *)k->x[0] + x;
	REAL *dx = k->dx[0] != NULL ? (REAL *)k->dx[0] + x : NULL;
	double *back = v->back;

	for (int g = 0; g < groups; g++) {
		const REAL *dy = (const REAL *)k->dy + y + (size_t)g * co;
		size_t first = (size_t)tap * ci * k->out.c;

		for (int i = 0; i < ci && k->needs_weight_grad; i++) {
			double xi = from[g * ci + i];
			double *dw = v->dw + first + (size_t)i * k->out.c +
			    (size_t)g * co;

			for (int o = 0; o < co; o++)
				dw[o] += xi * (double)dy[o];
		}
		if (dx == NULL)
			continue;
		memset(back, 0, ci * sizeof(*back));
		ref_conv_add(back, ci, v->w + first + (size_t)g * co * ci, ci,
		    dy, co);
		for (int i = 0; i < ci; i++)
			dx[g * ci + i] += (REAL)back[i];
	}
}

/*
 * Transpose the gradient of the weights back, into dw.  db[o] = sum of dy[o].
 */
static void
ref_conv_parameters(struct task *k, const double *turned)
{
	int ci = k->in[0].c / k->op->conv.groups, taps = ref_conv_taps(k->op);
	REAL *dw = k->dw[0];
	size_t n = ref_rows(&k->out);

	for (int o = 0; o < k->out.c; o++)
		for (int i = 0; i < ci; i++)
			for (int tap = 0; tap < taps; tap++)
				dw[((size_t)o * ci + i) * taps + tap] = (REAL)
				    turned[((size_t)tap * ci + i) * k->out.c +
				    o];
	if (!k->op->conv.bias)
		return;
	for (int o = 0; o < k->out.c; o++) {
		double sum = 0;

		for (size_t r = 0; r < n; r++)
			sum += ((const REAL *)k->dy)[r * k->out.c + o];
		((REAL *)k->dw[1])[o] = (REAL)sum;
	}
}

static void
ref_conv_backward(struct task *k)
{
	struct ref_conv_work v = ref_conv_work(k);

	ref_conv_turn(k, v.w, 1, k->in[0].c / k->op->conv.groups);
	memset(v.dw, 0, ref_conv_weights(k) * sizeof(double));
	ref_gradient(k, 0);
	REF(visit)(k, ref_conv_backward_tap, NULL, &v);
	if (k->needs_weight_grad)
		ref_conv_parameters(k, v.dw);
}

REF_OP(conv, .reads = READS_X_DW, .scratch = ref_conv_scratch);
