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
ref_maxpool_tap(struct task *k, size_t y, size_t x, int tap, void *arg)
{
	int32_t *which = (int32_t *)k->saved + y;
	size_t clip = dims_count(&k->in[0]) / (size_t)k->in[0].n;
	const REAL *from = (const REAL *)k->x[0] + x;
	REAL *to = (REAL *)k->y + y;

	(void)tap, (void)arg;
	for (int c = 0; c < k->out.c; c++)
		if (which[c] < 0 || from[c] > to[c] || isnan(from[c])) {
			which[c] = (int32_t)(x % clip) + c;
			to[c] = from[c];
		}
}

static void
ref_maxpool_forward(struct task *k)
{
	for (size_t o = 0, n = dims_count(&k->out); o < n; o++)
		((int32_t *)k->saved)[o] = -1;
	REF(visit)(k, ref_maxpool_tap, NULL, NULL);
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
 * Return 1 / the size of the window of output row ${y}; with the attribute cut,
 * only inputs inside count.
 */
static double
ref_avgpool_weight(const struct task *k, size_t y)
{
	const struct dims *d = &k->out, *in = &k->in[0];
	int row = (int)(y / (size_t)d->c), n = 1;
	const int out[3] = { row / d->w / d->h % d->t, row / d->w % d->h,
		row % d->w }, size[3] = { in->t, in->h, in->w };

	for (int i = 0; i < 3; i++) {
		int from = out[i] * k->op->s[i] - k->op->p[i];
		int end = from + k->op->k[i];

		if (k->op->avgpool.exclude_pad) {
			from = from > 0 ? from : 0;
			end = end < size[i] ? end : size[i];
		}
		n *= end - from;
	}
	return 1.0 / n;
}

static void
ref_avgpool_sum(struct task *k, size_t y, size_t x, int tap, void *arg)
{
	double share = ref_avgpool_weight(k, y);

	(void)tap, (void)arg;
	for (int c = 0; c < k->out.c; c++)
		((double *)k->scratch)[y + c] += share *
		    ((const REAL *)k->x[0])[x + c];
}

static void
ref_avgpool_spread(struct task *k, size_t y, size_t x, int tap, void *arg)
{
	double share = ref_avgpool_weight(k, y);

	(void)tap, (void)arg;
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
		REF(visit)(k, ref_avgpool_sum, NULL, NULL);
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
		REF(visit)(k, ref_avgpool_spread, NULL, NULL);
	for (size_t i = 0, n = dims_count(in); i < n && dx && axes; i++)
		dx[i] += (REAL)(share * ((const REAL *)k->dy)
		    [ref_broadcast(in, &k->out, i)]);
}

REF_OP(avgpool, .scratch = ref_avgpool_scratch);
