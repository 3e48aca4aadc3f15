/* Pooling: the maximum and the mean of windows. */
#include <math.h>
#include <string.h>

#include "backend/ref/ref.h"

/*
 * ---- maxpool: y = max of x over a window; the first maximum, or the last NaN,
 * receives the gradient, as in PyTorch's max_pool3d ----
 */

static size_t
ref_maxpool_saved(const struct task *k)
{
	return dims_count(&k->out) * sizeof(int32_t);	/* index of the input */
}

static void
ref_maxpool_forward(struct task *k)
{
	const struct dims *d = &k->out, *in = &k->in[0];
	int32_t *which = k->saved;
	const REAL *x = k->x[0];
	REAL *y = k->y;
	size_t o = 0;

	for (int n = 0; n < d->n; n++)
	for (int t = 0; t < d->t; t++)
	for (int h = 0; h < d->h; h++)
	for (int w = 0; w < d->w; w++)
	for (int c = 0; c < d->c; c++, o++) {
		int out[3] = { t, h, w }, from[3];

		which[o] = -1;
		for (int a = 0; a < k->op->k[0]; a++)
		for (int b = 0; b < k->op->k[1]; b++)
		for (int e = 0; e < k->op->k[2]; e++) {
			size_t i;
			REAL v;

			if (!ref_source(k, out, (int[]){ a, b, e }, from))
				continue;
			i = ref_at(in, 0, from[0], from[1], from[2]) +
			    (size_t)c;
			v = x[ref_at(in, n, 0, 0, 0) + i];
			if (which[o] < 0 || v > y[o] || isnan(v)) {
				which[o] = (int32_t)i;
				y[o] = v;
			}
		}
	}
}

static void
ref_maxpool_backward(struct task *k)
{
	const int32_t *which = k->saved;
	const REAL *dy = k->dy;
	REAL *dx = ref_gradient(k, 0);
	size_t per = dims_count(&k->out) / k->out.n, o = 0;

	if (dx == NULL)
		return;
	for (int n = 0; n < k->out.n; n++)
		for (size_t i = 0; i < per; i++, o++)
			dx[ref_at(&k->in[0], n, 0, 0, 0) + which[o]] += dy[o];
}

REF_OP(maxpool, .saved = ref_maxpool_saved);

/* ---- avgpool: y = mean of x over whole axes, or over windows ---- */

/*
 * Call visit(k, output row, input row, weight) for each input inside each
 * window.  The weight is 1 / the window's size; with the attribute cut, only
 * inputs inside count.
 */
static void
ref_avgpool_visit(struct task *k, void (*visit)(struct task *, size_t y,
    size_t x, double share))
{
	const struct dims *d = &k->out, *in = &k->in[0];
	const int *ks = k->op->k;

	for (int n = 0; n < d->n; n++)
	for (int t = 0; t < d->t; t++)
	for (int h = 0; h < d->h; h++)
	for (int w = 0; w < d->w; w++) {
		int out[3] = { t, h, w }, from[3], inside = 0;

		/* pass 0 counts the inputs inside */
		for (int pass = 0; pass < 2; pass++)
			for (int i = 0; i < ks[0] * ks[1] * ks[2]; i++) {
				int tap[3] = { i / ks[2] / ks[1],
					i / ks[2] % ks[1], i % ks[2] };

				if (!ref_source(k, out, tap, from))
					continue;
				if (pass == 0)
					inside++;
				else
					visit(k, ref_at(d, n, t, h, w),
					    ref_at(in, n, from[0], from[1],
					    from[2]),
					    1.0 / (k->op->avgpool.exclude_pad ?
					    inside : ks[0] * ks[1] * ks[2]));
			}
	}
}

static void
ref_avgpool_sum(struct task *k, size_t y, size_t x, double share)
{
	for (int c = 0; c < k->out.c; c++)
		((double *)k->scratch)[y + c] += share *
		    ((const REAL *)k->x[0])[x + c];
}

static void
ref_avgpool_spread(struct task *k, size_t y, size_t x, double share)
{
	for (int c = 0; c < k->out.c; c++)
		((REAL *)k->dx[0])[x + c] += (REAL)(share *
		    ((const REAL *)k->dy)[y + c]);
}

static size_t
ref_avgpool_scratch(const struct task *k)
{
	return dims_count(&k->out) * sizeof(double);
}

static double
ref_avgpool_share(const struct task *k)
{
	return (double)dims_count(&k->out) / (double)dims_count(&k->in[0]);
}

static void
ref_avgpool_forward(struct task *k)
{
	const struct dims *in = &k->in[0];
	int axes = k->op->avgpool.axes;
	double share = axes ? ref_avgpool_share(k) : 1, *sum = k->scratch;

	memset(sum, 0, ref_avgpool_scratch(k));
	if (!axes)
		ref_avgpool_visit(k, ref_avgpool_sum);
	for (size_t i = 0, n = dims_count(in); i < n && axes; i++)
		sum[ref_broadcast(in, &k->out, i)] +=
		    ((const REAL *)k->x[0])[i];
	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		((REAL *)k->y)[i] = (REAL)(sum[i] * share);
}

static void
ref_avgpool_backward(struct task *k)
{
	const struct dims *in = &k->in[0];
	REAL *dx = ref_gradient(k, 0);
	double share = ref_avgpool_share(k);
	int axes = k->op->avgpool.axes;

	if (dx != NULL && !axes)
		ref_avgpool_visit(k, ref_avgpool_spread);
	for (size_t i = 0, n = dims_count(in); i < n && dx && axes; i++)
		dx[i] += (REAL)(share * ((const REAL *)k->dy)
		    [ref_broadcast(in, &k->out, i)]);
}

REF_OP(avgpool, .scratch = ref_avgpool_scratch);
