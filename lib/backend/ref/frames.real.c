/* Operators that move frames and channels. */
#include <string.h>

#include "backend/ref/ref.h"

/*
 * ---- shift: y[t][c] = x[t + d][c], 0 outside the clip ----
 *
 * d is 1 for the first C / fold channels, -1 for the next C / fold, and 0 for
 * the rest.  With the attribute past, d is -1 for the first C / fold channels.
 */

/* y[t][c] += x[t + sign d][c] */
static void
ref_shift_by(const struct task *k, const REAL *x, REAL *y, int sign)
{
	const struct dims *d = &k->out;
	long frame = (long)d->h * d->w * d->c;

	for (size_t i = 0, n = dims_count(d); i < n; i++) {
		int by = sign * op_shift(k->op, d->c, (int)(i % (size_t)d->c));
		int t = (int)(i / (size_t)frame % (size_t)d->t) + by;

		if (t >= 0 && t < d->t)
			y[i] += x[(long)i + by * frame];
	}
}

static void
ref_shift_forward(struct task *k)
{
	memset(k->y, 0, dims_count(&k->out) * sizeof(REAL));
	ref_shift_by(k, k->x[0], k->y, 1);
}

static void
ref_shift_backward(struct task *k)
{
	REAL *dx = ref_gradient(k, 0);

	if (dx == NULL)
		return;
	ref_shift_by(k, k->dy, dx, -1);
}

REF_OP(shift);

/* ---- frames: y[t] = x[op_frame(t)] ---- */

/*
 * Add the selected frames of ${x} to ${y}.  With ${back}, add the frames of
 * ${x} to the selected frames of ${y}.
 */
static void
ref_frames_add(const struct task *k, const REAL *x, REAL *y, int back)
{
	const struct dims *in = &k->in[0], *out = &k->out;
	size_t size = (size_t)in->h * in->w * in->c;

	for (int n = 0; n < out->n; n++)
		for (int t = 0; t < out->t; t++) {
			size_t all = ref_at(in, n, op_frame(k->op, in->t, t), 0,
			    0);
			size_t few = ref_at(out, n, t, 0, 0);

			for (size_t i = 0; i < size; i++)
				y[(back ? all : few) + i] +=
				    x[(back ? few : all) + i];
		}
}

static void
ref_frames_forward(struct task *k)
{
	memset(k->y, 0, dims_count(&k->out) * sizeof(REAL));
	ref_frames_add(k, k->x[0], k->y, 0);
}

static void
ref_frames_backward(struct task *k)
{
	REAL *dx = ref_gradient(k, 0);

	if (dx != NULL)
		ref_frames_add(k, k->dy, dx, 1);
}

REF_OP(frames);

/* ---- concat: y[c] = x0[c], then the channels of x1, ... ---- */

static void
ref_concat_forward(struct task *k)
{
	REAL *y = k->y;

	for (size_t r = 0, n = ref_rows(&k->out); r < n; r++)
		for (int j = 0; j < k->op->nin; j++)
			for (int c = 0; c < k->in[j].c; c++)
				*y++ = ((const REAL *)k->x[j])
				    [r * k->in[j].c + c];
}

static void
ref_concat_backward(struct task *k)
{
	int first = 0;

	for (int j = 0; j < k->op->nin; first += k->in[j++].c) {
		REAL *dx = ref_gradient(k, j);

		for (size_t r = 0, n = ref_rows(&k->out); r < n && dx; r++)
			for (int c = 0; c < k->in[j].c; c++)
				dx[r * k->in[j].c + c] += ((const REAL *)
				    k->dy)[r * k->out.c + first + c];
	}
}

REF_OP(concat);
