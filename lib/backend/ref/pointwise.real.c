/* Operators that take each number for itself. */
#include "backend/ref/ref.h"

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

const struct op_impl REF(input) = { .forward = input_forward };

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

REF_OP(relu, .reads = READS_Y);

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

REF_OP(add);
