/*
 * The reference back end: plain loops over [n][t][h][w][c], one thread.  It
 * exists to be obviously right; the other back ends are tested against it.
 * ref32.c and ref64.c include this file once each, with REAL as the type of
 * what is stored.  Sums are double in both.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"

/* Offset of channel 0 at a place. */
static size_t
at(const struct dims *d, int n, int t, int h, int w)
{
	return ((((size_t)n * d->t + t) * d->h + h) * d->w + w) * d->c;
}

/* Channels are the last axis: an activation is rows of c numbers. */
static size_t
rows(const struct dims *d)
{
	return dims_count(d) / d->c;
}

/* Make ready to add to an input gradient: clear it if nobody wrote it yet. */
static REAL *
gradient(struct task *k, int j)
{
	if (k->dx[j] != NULL && !k->accumulate[j])
		memset(k->dx[j], 0, dims_count(&k->in[j]) * sizeof(REAL));
	return k->dx[j];
}

/* ---- input: y = (pixel / 255 - mean) / std ---- */

static void
input_forward(struct task *k)
{
	const struct op *op = k->op;
	REAL *y = k->y;
	size_t n = rows(&k->out);

	for (size_t r = 0; r < n; r++)
		for (int c = 0; c < 3; c++)
			y[3 * r + c] = (REAL)((k->feed->pixels[3 * r + c] / 255.0
			    - op->mean[c]) / op->sd[c]);
}

/*
 * ---- conv: y[o] = b[o] + sum over taps and i of w[o][i][tap] x[i] ----
 *
 * Weights are turned into [tap][i][o] in double first, so that the innermost
 * loop runs over consecutive outputs.
 */

static int
conv_taps(const struct op *op)
{
	return op->k[0] * op->k[1] * op->k[2];
}

static size_t
conv_weights(const struct task *k)
{
	return (size_t)conv_taps(k->op) * (k->in[0].c / k->op->groups) *
	    k->out.c;
}

static size_t
conv_scratch(const struct task *k)
{
	/* weights, their gradient, and one row of sums over outputs */
	return (2 * conv_weights(k) + k->out.c + k->in[0].c) * sizeof(double);
}

static void
conv_turn(const struct task *k, double *turned)
{
	int ci = k->in[0].c / k->op->groups, taps = conv_taps(k->op);
	const REAL *w = k->w[0];

	for (int o = 0; o < k->out.c; o++)
		for (int i = 0; i < ci; i++)
			for (int tap = 0; tap < taps; tap++)
				turned[((size_t)tap * ci + i) * k->out.c + o] =
				    w[((size_t)o * ci + i) * taps + tap];
}

/* The place in the input that tap (a, b, c) of output (t, h, w) reads. */
static int
conv_source(const struct task *k, const int out[3], const int tap[3],
    int in[3])
{
	const int size[3] = { k->in[0].t, k->in[0].h, k->in[0].w };

	for (int i = 0; i < 3; i++) {
		in[i] = out[i] * k->op->s[i] - k->op->p[i] + tap[i];
		if (in[i] < 0 || in[i] >= size[i])
			return 0;
	}
	return 1;
}

/*
 * Call visit(k, output row, input row, tap, arg) for every output place and
 * every tap that lands inside the input, output places in order.
 */
static void
conv_visit(struct task *k, void (*visit)(struct task *, size_t y, size_t x,
    int tap, void *), void (*finish)(struct task *, size_t y, void *),
    void *arg)
{
	const struct dims *d = &k->out;
	const int *ks = k->op->k;

	for (int n = 0; n < d->n; n++)
	for (int t = 0; t < d->t; t++)
	for (int h = 0; h < d->h; h++)
	for (int w = 0; w < d->w; w++) {
		size_t y = at(d, n, t, h, w);
		int out[3] = { t, h, w }, in[3];

		for (int a = 0, tap = 0; a < ks[0]; a++)
		for (int b = 0; b < ks[1]; b++)
		for (int c = 0; c < ks[2]; c++, tap++)
			if (conv_source(k, out, (int[]){ a, b, c }, in))
				visit(k, y, at(&k->in[0], n, in[0], in[1],
				    in[2]), tap, arg);
		if (finish != NULL)
			finish(k, y, arg);
	}
}

struct conv_work { double *w, *dw, *sum, *back; };

static struct conv_work
conv_work(struct task *k)
{
	double *s = k->scratch;
	size_t n = conv_weights(k);

	return (struct conv_work){ s, s + n, s + 2 * n, s + 2 * n + k->out.c };
}

static void
conv_forward_tap(struct task *k, size_t y, size_t x, int tap, void *arg)
{
	struct conv_work *v = arg;
	int groups = k->op->groups, ci = k->in[0].c / groups;
	int co = k->out.c / groups;
	const REAL *from = (const REAL *)k->x[0] + x;

	(void)y;
	for (int g = 0; g < groups; g++)
		for (int i = 0; i < ci; i++) {
			double xi = from[g * ci + i];
			const double *w = v->w +
			    ((size_t)tap * ci + i) * k->out.c + g * co;

			for (int o = 0; o < co; o++)
				v->sum[g * co + o] += w[o] * xi;
		}
}

static void
conv_forward_end(struct task *k, size_t y, void *arg)
{
	struct conv_work *v = arg;
	const REAL *b = k->op->bias ? k->w[1] : NULL;
	REAL *to = (REAL *)k->y + y;

	for (int o = 0; o < k->out.c; o++) {
		to[o] = (REAL)(v->sum[o] + (b != NULL ? (double)b[o] : 0));
		v->sum[o] = 0;
	}
}

static void
conv_forward(struct task *k)
{
	struct conv_work v = conv_work(k);

	conv_turn(k, v.w);
	memset(v.sum, 0, (size_t)k->out.c * sizeof(double));
	conv_visit(k, conv_forward_tap, conv_forward_end, &v);
}

static void
conv_backward_tap(struct task *k, size_t y, size_t x, int tap, void *arg)
{
	struct conv_work *v = arg;
	int groups = k->op->groups, ci = k->in[0].c / groups;
	int co = k->out.c / groups;
	const REAL *from = (const REAL *)k->x[0] + x;
	const REAL *dy = (const REAL *)k->dy + y;
	REAL *dx = k->dx[0] != NULL ? (REAL *)k->dx[0] + x : NULL;

	for (int g = 0; g < groups; g++)
		for (int i = 0; i < ci; i++) {
			size_t row = ((size_t)tap * ci + i) * k->out.c +
			    (size_t)g * co;
			double xi = from[g * ci + i], back = 0;

			for (int o = 0; o < co; o++) {
				v->dw[row + o] += xi * (double)dy[g * co + o];
				back += v->w[row + o] * (double)dy[g * co + o];
			}
			if (dx != NULL)
				dx[g * ci + i] += (REAL)back;
		}
}

static void
conv_backward(struct task *k)
{
	struct conv_work v = conv_work(k);
	int ci = k->in[0].c / k->op->groups, taps = conv_taps(k->op);
	REAL *dw = k->dw[0];
	size_t n = rows(&k->out);

	conv_turn(k, v.w);
	memset(v.dw, 0, conv_weights(k) * sizeof(double));
	gradient(k, 0);
	conv_visit(k, conv_backward_tap, NULL, &v);
	for (int o = 0; o < k->out.c; o++)
		for (int i = 0; i < ci; i++)
			for (int tap = 0; tap < taps; tap++)
				dw[((size_t)o * ci + i) * taps + tap] = (REAL)
				    v.dw[((size_t)tap * ci + i) * k->out.c + o];
	if (!k->op->bias)
		return;
	for (int o = 0; o < k->out.c; o++) {
		double sum = 0;

		for (size_t r = 0; r < n; r++)
			sum += ((const REAL *)k->dy)[r * k->out.c + o];
		((REAL *)k->dw[1])[o] = (REAL)sum;
	}
}

/*
 * ---- bn: y = (x - mean) / sqrt(var + eps) * scale + offset ----
 *
 * In training, mean and (biased) variance are those of this microbatch; the
 * unbiased variance goes to the running statistics, as in PyTorch.
 */

static size_t
bn_saved(const struct task *k)
{
	return 2 * (size_t)k->out.c * sizeof(double);	/* mean, 1 / std */
}

static void
bn_statistics(struct task *k, double *mean, double *rstd)
{
	int C = k->out.c;
	size_t n = rows(&k->out);
	const REAL *x = k->x[0];

	for (int c = 0; c < C; c++) {
		double s = 0, v = 0;

		for (size_t r = 0; r < n; r++)
			s += x[r * C + c];
		mean[c] = s / (double)n;
		for (size_t r = 0; r < n; r++)
			v += (x[r * C + c] - mean[c]) * (x[r * C + c] - mean[c]);
		rstd[c] = 1 / sqrt(v / (double)n + k->op->eps);
		((REAL *)k->dw[2])[c] = (REAL)mean[c];
		((REAL *)k->dw[3])[c] =
		    (REAL)(v / (double)(n > 1 ? n - 1 : 1));
	}
}

static void
bn_forward(struct task *k)
{
	int C = k->out.c;
	size_t n = rows(&k->out);
	double *mean = k->saved, *rstd = mean + C;
	const REAL *x = k->x[0], *scale = k->w[0], *offset = k->w[1];
	REAL *y = k->y;

	if (k->training)
		bn_statistics(k, mean, rstd);
	for (int c = 0; c < C && !k->training; c++) {
		mean[c] = ((const REAL *)k->w[2])[c];
		rstd[c] = 1 / sqrt(((const REAL *)k->w[3])[c] + k->op->eps);
	}
	for (size_t r = 0; r < n; r++)
		for (int c = 0; c < C; c++)
			y[r * C + c] = (REAL)((x[r * C + c] - mean[c]) * rstd[c] *
			    scale[c] + offset[c]);
}

/*
 * With xh = (x - mean) rstd over n rows:  doffset = sum dy,
 * dscale = sum dy xh,  dx = scale rstd (dy - doffset / n - xh dscale / n).
 */
static void
bn_backward(struct task *k)
{
	int C = k->out.c;
	size_t n = rows(&k->out);
	const double *mean = k->saved, *rstd = mean + C;
	const REAL *x = k->x[0], *dy = k->dy, *scale = k->w[0];
	REAL *dx = gradient(k, 0);

	for (int c = 0; c < C; c++) {
		double ds = 0, db = 0;

		for (size_t r = 0; r < n; r++) {
			db += dy[r * C + c];
			ds += dy[r * C + c] * (x[r * C + c] - mean[c]) * rstd[c];
		}
		((REAL *)k->dw[0])[c] = (REAL)ds;
		((REAL *)k->dw[1])[c] = (REAL)db;
		for (size_t r = 0; r < n && dx != NULL; r++)
			dx[r * C + c] += (REAL)(scale[c] * rstd[c] *
			    (dy[r * C + c] - db / (double)n -
			    (x[r * C + c] - mean[c]) * rstd[c] * ds / (double)n));
	}
}

/* ---- relu: y = max(x, 0) ---- */

static void
relu_forward(struct task *k)
{
	const REAL *x = k->x[0];
	REAL *y = k->y;

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		y[i] = x[i] > 0 ? x[i] : 0;
}

static void
relu_backward(struct task *k)
{
	const REAL *y = k->y, *dy = k->dy;
	REAL *dx = gradient(k, 0);

	if (dx == NULL)
		return;
	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		if (y[i] > 0)
			dx[i] += dy[i];
}

/* ---- add: y = x0 + x1 + ... ---- */

static void
add_forward(struct task *k)
{
	REAL *y = k->y;

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++) {
		y[i] = ((const REAL *)k->x[0])[i];
		for (int j = 1; j < k->op->nin; j++)
			y[i] += ((const REAL *)k->x[j])[i];
	}
}

static void
add_backward(struct task *k)
{
	const REAL *dy = k->dy;

	for (int j = 0; j < k->op->nin; j++) {
		REAL *dx = gradient(k, j);

		for (size_t i = 0, n = dims_count(&k->out); i < n && dx; i++)
			dx[i] += dy[i];
	}
}

/*
 * ---- shift: the first c / fold channels come from the next frame, the next
 * c / fold from the one before, zeros beyond the ends ----
 */

/* Add (or set) y[t] from x[t + by] for channels first to last. */
static void
shift_channels(const struct dims *d, const REAL *x, REAL *y, int first,
    int last, int by)
{
	size_t plane = (size_t)d->h * d->w;

	for (int n = 0; n < d->n; n++)
		for (int t = 0; t < d->t; t++)
			for (size_t p = 0; p < plane; p++) {
				REAL *to = y + at(d, n, t, 0, 0) + p * d->c;
				const REAL *from = t + by < 0 || t + by >= d->t ?
				    NULL : x + at(d, n, t + by, 0, 0) + p * d->c;

				for (int c = first; c < last && from; c++)
					to[c] += from[c];
			}
}

static void
shift_by(const struct task *k, const REAL *x, REAL *y, int sign)
{
	int fold = k->out.c / k->op->fold;

	shift_channels(&k->out, x, y, 0, fold, sign);
	shift_channels(&k->out, x, y, fold, 2 * fold, -sign);
	shift_channels(&k->out, x, y, 2 * fold, k->out.c, 0);
}

static void
shift_forward(struct task *k)
{
	memset(k->y, 0, dims_count(&k->out) * sizeof(REAL));
	shift_by(k, k->x[0], k->y, 1);
}

static void
shift_backward(struct task *k)
{
	REAL *dx = gradient(k, 0);

	if (dx == NULL)
		return;
	shift_by(k, k->dy, dx, -1);
}

/* ---- maxpool: the largest of a window, the first of equals ---- */

static size_t
maxpool_saved(const struct task *k)
{
	return dims_count(&k->out) * sizeof(int32_t);	/* which input place */
}

static void
maxpool_forward(struct task *k)
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

			if (!conv_source(k, out, (int[]){ a, b, e }, from))
				continue;
			i = at(in, 0, from[0], from[1], from[2]) + (size_t)c;
			if (which[o] < 0 || x[at(in, n, 0, 0, 0) + i] > y[o]) {
				which[o] = (int32_t)i;
				y[o] = x[at(in, n, 0, 0, 0) + i];
			}
		}
	}
}

static void
maxpool_backward(struct task *k)
{
	const int32_t *which = k->saved;
	const REAL *dy = k->dy;
	REAL *dx = gradient(k, 0);
	size_t per = dims_count(&k->out) / k->out.n, o = 0;

	if (dx == NULL)
		return;
	for (int n = 0; n < k->out.n; n++)
		for (size_t i = 0; i < per; i++, o++)
			dx[at(&k->in[0], n, 0, 0, 0) + which[o]] += dy[o];
}

/* ---- avgpool: the mean over whole axes ---- */

/* The row of the output that row (n, t, h, w) of the input goes to. */
static size_t
avgpool_row(const struct task *k, int n, int t, int h, int w)
{
	int over = k->op->over;

	return at(&k->out, n, over & OVER_T ? 0 : t, over & OVER_H ? 0 : h,
	    over & OVER_W ? 0 : w);
}

static size_t
avgpool_scratch(const struct task *k)
{
	return dims_count(&k->out) * sizeof(double);
}

static void
avgpool_forward(struct task *k)
{
	const struct dims *d = &k->in[0];
	size_t n_out = dims_count(&k->out);
	double share = (double)n_out / (double)dims_count(d);
	double *sum = k->scratch;
	const REAL *x = k->x[0];

	memset(sum, 0, n_out * sizeof(double));
	for (int n = 0; n < d->n; n++)
	for (int t = 0; t < d->t; t++)
	for (int h = 0; h < d->h; h++)
	for (int w = 0; w < d->w; w++)
		for (int c = 0; c < d->c; c++)
			sum[avgpool_row(k, n, t, h, w) + c] +=
			    x[at(d, n, t, h, w) + c];
	for (size_t i = 0; i < n_out; i++)
		((REAL *)k->y)[i] = (REAL)(sum[i] * share);
}

static void
avgpool_backward(struct task *k)
{
	const struct dims *d = &k->in[0];
	double share = (double)dims_count(&k->out) / (double)dims_count(d);
	const REAL *dy = k->dy;
	REAL *dx = gradient(k, 0);

	if (dx == NULL)
		return;
	for (int n = 0; n < d->n; n++)
	for (int t = 0; t < d->t; t++)
	for (int h = 0; h < d->h; h++)
	for (int w = 0; w < d->w; w++)
		for (int c = 0; c < d->c; c++)
			dx[at(d, n, t, h, w) + c] += (REAL)(share *
			    dy[avgpool_row(k, n, t, h, w) + c]);
}

/* ---- dropout: y = x / (1 - rate) or 0, drawn by clip and place ---- */

static double
dropout_factor(const struct task *k, size_t i)
{
	size_t per = dims_count(&k->out) / k->out.n, place = i % per;
	uint64_t clip = k->feed->clip[i / per];
	struct rng_block b = rng_philox(k->feed->seed, (uint32_t)clip,
	    (uint32_t)(clip >> 32), (uint32_t)k->index << 20 |
	    (uint32_t)(place / 4), RNG_DROPOUT);

	return rng_unit(b.w[place % 4]) < k->op->rate ? 0 :
	    1 / (1 - k->op->rate);
}

static void
dropout_forward(struct task *k)
{
	const REAL *x = k->x[0];
	REAL *y = k->y;

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		y[i] = (REAL)(k->training ? x[i] * dropout_factor(k, i) : x[i]);
}

static void
dropout_backward(struct task *k)
{
	const REAL *dy = k->dy;
	REAL *dx = gradient(k, 0);

	if (dx == NULL)
		return;
	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		dx[i] += (REAL)(dy[i] * dropout_factor(k, i));
}

/* ---- linear: y = w x + b for every row; w is [out][in] ---- */

static void
linear_forward(struct task *k)
{
	int I = k->in[0].c, O = k->out.c;
	const REAL *x = k->x[0], *w = k->w[0], *b = k->w[1];
	REAL *y = k->y;

	for (size_t r = 0, n = rows(&k->out); r < n; r++)
		for (int o = 0; o < O; o++) {
			double s = b[o];

			for (int i = 0; i < I; i++)
				s += (double)w[(size_t)o * I + i] * x[r * I + i];
			y[r * O + o] = (REAL)s;
		}
}

static void
linear_backward(struct task *k)
{
	int I = k->in[0].c, O = k->out.c;
	size_t n = rows(&k->out);
	const REAL *x = k->x[0], *w = k->w[0], *dy = k->dy;
	REAL *dw = k->dw[0], *db = k->dw[1], *dx = gradient(k, 0);

	for (int o = 0; o < O; o++) {
		double s = 0;

		for (size_t r = 0; r < n; r++)
			s += dy[r * O + o];
		db[o] = (REAL)s;
		for (int i = 0; i < I; i++) {
			s = 0;
			for (size_t r = 0; r < n; r++)
				s += (double)dy[r * O + o] * x[r * I + i];
			dw[(size_t)o * I + i] = (REAL)s;
		}
	}
	for (size_t r = 0; r < n && dx != NULL; r++)
		for (int i = 0; i < I; i++) {
			double s = 0;

			for (int o = 0; o < O; o++)
				s += (double)w[(size_t)o * I + i] * dy[r * O + o];
			dx[r * I + i] += (REAL)s;
		}
}

/*
 * ---- loss: y = -ln softmax(x)[label] for each clip; the gradient is that of
 * the mean over the clips of the microbatch ----
 */

static void
loss_forward(struct task *k)
{
	int C = k->in[0].c;

	for (int n = 0; n < k->out.n; n++) {
		const REAL *x = (const REAL *)k->x[0] + (size_t)n * C;
		int label = k->feed->label[n];
		double top = x[0], sum = 0;

		for (int c = 1; c < C; c++)
			top = x[c] > top ? x[c] : top;
		for (int c = 0; c < C; c++)
			sum += exp(x[c] - top);
		((REAL *)k->y)[n] = (REAL)(label < 0 ? 0 :
		    log(sum) + top - x[label]);
	}
}

static void
loss_backward(struct task *k)
{
	int C = k->in[0].c;
	REAL *dx = gradient(k, 0);

	if (dx == NULL)
		return;
	for (int n = 0; n < k->out.n; n++) {
		const REAL *x = (const REAL *)k->x[0] + (size_t)n * C;
		int label = k->feed->label[n];
		double top = x[0], sum = 0;

		for (int c = 1; c < C; c++)
			top = x[c] > top ? x[c] : top;
		for (int c = 0; c < C; c++)
			sum += exp(x[c] - top);
		for (int c = 0; c < C && label >= 0; c++)
			dx[(size_t)n * C + c] += (REAL)((exp(x[c] - top) / sum -
			    (c == label)) / k->out.n);
	}
}

/* ---- memory and parameters ---- */

static struct device *
open_device(const struct device_options *o)
{
	(void)o;
	return xcalloc(1, sizeof(struct device));
}

static void
close_device(struct device *d)
{
	free(d);
}

static void *
alloc(struct device *d, size_t bytes)
{
	void *p = calloc(1, bytes > 0 ? bytes : 1);

	(void)d;
	if (p == NULL)
		fail("out of memory: %zu bytes wanted", bytes);
	return p;
}

static void
free_memory(struct device *d, void *p)
{
	(void)d;
	free(p);
}

static void
put(struct device *d, void *w, const double *host, size_t n)
{
	(void)d;
	for (size_t i = 0; i < n; i++)
		((REAL *)w)[i] = (REAL)host[i];
}

static void
get(struct device *d, double *host, const void *w, size_t n)
{
	(void)d;
	for (size_t i = 0; i < n; i++)
		host[i] = ((const REAL *)w)[i];
}

static void
copy(struct device *d, void *to, const void *from, size_t bytes)
{
	(void)d;
	memcpy(to, from, bytes);
}

static size_t
bytes_of(const struct device *d, const struct dims *shape)
{
	(void)d;
	return dims_count(shape) * sizeof(REAL);
}

static void
read_activation(struct device *d, double *host, const struct dims *shape,
    const void *activation)
{
	get(d, host, activation, dims_count(shape));
}

static void
write_activation(struct device *d, void *activation, const struct dims *shape,
    const double *host)
{
	put(d, activation, host, dims_count(shape));
}

static void
add(struct device *d, void *sum, const void *x, size_t n)
{
	(void)d;
	for (size_t i = 0; i < n; i++)
		((REAL *)sum)[i] += ((const REAL *)x)[i];
}

/* As PyTorch's SGD: the learning rate stands outside the momentum. */
static void
update(struct device *device, const struct update *u)
{
	REAL *w = u->w, *m = u->m;
	const REAL *g = u->g;

	(void)device;
	for (size_t i = 0; i < u->n; i++) {
		double d = g[i] * u->scale + u->decay * w[i];

		m[i] = (REAL)(u->momentum * m[i] + d);
		w[i] -= (REAL)(u->lr * (u->nesterov ? d + u->momentum * m[i] :
		    m[i]));
	}
}

static void
track(struct device *d, void *w, const void *x, size_t n, double rate,
    double scale)
{
	REAL *v = w;

	(void)d;
	for (size_t i = 0; i < n; i++)
		v[i] += (REAL)(rate * (((const REAL *)x)[i] * scale - v[i]));
}

static double
squares(struct device *d, const void *x, size_t n)
{
	double s = 0;

	(void)d;
	for (size_t i = 0; i < n; i++)
		s += (double)((const REAL *)x)[i] * ((const REAL *)x)[i];
	return s;
}

#define IMPL(...) &(const struct op_impl){ __VA_ARGS__ }

static const struct op_impl *const ops[OP_KINDS] = {
	[OP_INPUT] = IMPL(.forward = input_forward),
	[OP_CONV] = IMPL(.reads = READS_X, .scratch = conv_scratch,
	    .forward = conv_forward, .backward = conv_backward),
	[OP_BN] = IMPL(.reads = READS_X, .saved = bn_saved,
	    .forward = bn_forward, .backward = bn_backward),
	[OP_RELU] = IMPL(.reads = READS_Y, .forward = relu_forward,
	    .backward = relu_backward),
	[OP_ADD] = IMPL(.forward = add_forward, .backward = add_backward),
	[OP_SHIFT] = IMPL(.forward = shift_forward, .backward = shift_backward),
	[OP_MAXPOOL] = IMPL(.saved = maxpool_saved, .forward = maxpool_forward,
	    .backward = maxpool_backward),
	[OP_AVGPOOL] = IMPL(.scratch = avgpool_scratch,
	    .forward = avgpool_forward, .backward = avgpool_backward),
	[OP_DROPOUT] = IMPL(.forward = dropout_forward,
	    .backward = dropout_backward),
	[OP_LINEAR] = IMPL(.reads = READS_X, .forward = linear_forward,
	    .backward = linear_backward),
	[OP_LOSS] = IMPL(.reads = READS_X, .forward = loss_forward,
	    .backward = loss_backward),
};

const struct backend BACKEND = {
	.name = BACKEND_NAME, .elem = sizeof(REAL), .open = open_device,
	.close = close_device, .alloc = alloc, .free = free_memory, .put = put,
	.get = get, .upload = copy, .download = copy, .bytes = bytes_of,
	.read = read_activation, .write = write_activation, .add = add,
	.update = update, .track = track, .squares = squares, .ops = ops,
};
