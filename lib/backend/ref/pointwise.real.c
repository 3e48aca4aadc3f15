/* Elementwise operators. */
#include <math.h>

#include "backend/ref/ref.h"

/*
 * ---- input: y = (pixel / 255 - mean) / sd, with mean and sd of the channel
 * ----
 */

static void
ref_input_forward(struct task *k)
{
	const struct op *op = k->op;
	const uint8_t *x = k->feed->stream[op->input.stream].bytes;
	size_t n = ref_rows(&k->out), C = (size_t)k->out.c;
	REAL *y = k->y;

	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < C; c++)
			y[C * r + c] = (REAL)((x[C * r + c] / 255.0 -
			    op->input.mean.v[c]) / op->input.sd.v[c]);
}

static void
ref_input_forward_rounded(struct task *k)
{
	ref_input_forward(k);
	REF(round_output)(k);
}

const struct op_impl REF(input) = { .forward = ref_input_forward_rounded };

/*
 * ---- relu: y = max(x, 0) ----
 *
 * relu(NaN) and relu6(NaN) are NaN and pass the gradient, as in PyTorch
 * (threshold_backward and hardtanh_backward in native_functions).
 */

static void
ref_relu_forward(struct task *k)
{
	const REAL *x = k->x[0];
	REAL *y = k->y;

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		y[i] = x[i] <= 0 ? 0 : x[i];
}

static void
ref_relu_backward(struct task *k)
{
	const REAL *y = k->y, *dy = k->dy;
	REAL *dx = ref_gradient(k, 0);

	if (dx == NULL)
		return;
	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		if (!(y[i] <= 0))
			dx[i] += dy[i];
}

REF_OP(relu, .reads = READS_Y);

/* ---- add: y = x0 + x1 + ... ---- */

static void
ref_add_forward(struct task *k)
{
	REAL *y = k->y;

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++) {
		y[i] = ((const REAL *)k->x[0])[i];
		for (int j = 1; j < k->op->nin; j++)
			y[i] += ((const REAL *)k->x[j])[i];
	}
}

static void
ref_add_backward(struct task *k)
{
	const REAL *dy = k->dy;

	for (int j = 0; j < k->op->nin; j++) {
		REAL *dx = ref_gradient(k, j);

		for (size_t i = 0, n = dims_count(&k->out); i < n && dx; i++)
			dx[i] += dy[i];
	}
}

REF_OP(add);

/* ---- relu6: y = min(max(x, 0), 6) ---- */

static void
ref_relu6_forward(struct task *k)
{
	const REAL *x = k->x[0];
	REAL *y = k->y;

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		y[i] = x[i] > 6 ? 6 : x[i] <= 0 ? 0 : x[i];
}

static void
ref_relu6_backward(struct task *k)
{
	const REAL *y = k->y, *dy = k->dy;
	REAL *dx = ref_gradient(k, 0);

	for (size_t i = 0, n = dims_count(&k->out); i < n && dx; i++)
		if (!(y[i] <= 0 || y[i] >= 6))
			dx[i] += dy[i];
}

REF_OP(relu6, .reads = READS_Y);

/* ---- sigmoid: y = 1 / (1 + exp(-x)),  dy/dx = y (1 - y) ---- */

static double
ref_sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static void
ref_sigmoid_forward(struct task *k)
{
	const REAL *x = k->x[0];

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		((REAL *)k->y)[i] = (REAL)ref_sigmoid(x[i]);
}

static void
ref_sigmoid_backward(struct task *k)
{
	const REAL *y = k->y, *dy = k->dy;
	REAL *dx = ref_gradient(k, 0);

	for (size_t i = 0, n = dims_count(&k->out); i < n && dx; i++)
		dx[i] += (REAL)((double)dy[i] * y[i] * (1 - (double)y[i]));
}

REF_OP(sigmoid, .reads = READS_Y);

/* ---- swish: y = x s with s = sigmoid(x),  dy/dx = s (1 + x (1 - s)) ---- */

static void
ref_swish_forward(struct task *k)
{
	const REAL *x = k->x[0];

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		((REAL *)k->y)[i] = (REAL)(x[i] * ref_sigmoid(x[i]));
}

static void
ref_swish_backward(struct task *k)
{
	const REAL *x = k->x[0], *dy = k->dy;
	REAL *dx = ref_gradient(k, 0);

	for (size_t i = 0, n = dims_count(&k->out); i < n && dx; i++) {
		double s = ref_sigmoid(x[i]);

		dx[i] += (REAL)(dy[i] * s * (1 + x[i] * (1 - s)));
	}
}

REF_OP(swish, .reads = READS_X);

/* ---- scale: y = f x; f is a constant or a parameter ---- */

static double
ref_scale_factor(const struct task *k)
{
	return k->op->scale.trained ? (double)*(const REAL *)k->w[0] :
	    op_factor(k->op, k->in[0].c);
}

static void
ref_scale_forward(struct task *k)
{
	double f = ref_scale_factor(k);
	const REAL *x = k->x[0];

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		((REAL *)k->y)[i] = (REAL)(f * x[i]);
}

static void
ref_scale_backward(struct task *k)
{
	double f = ref_scale_factor(k), sum = 0;
	const REAL *x = k->x[0], *dy = k->dy;
	REAL *dx = ref_gradient(k, 0);

	for (size_t i = 0, n = dims_count(&k->out); i < n && dx; i++)
		dx[i] += (REAL)(f * dy[i]);
	if (!k->needs_weight_grad)
		return;
	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		sum += (double)x[i] * dy[i];
	*(REAL *)k->dw[0] = (REAL)sum;
}

REF_OP(scale, .reads = READS_X_DW);

/* ---- mul: y = a b; an axis of b of length 1 is broadcast ---- */

static size_t
ref_mul_scratch(const struct task *k)
{
	return dims_count(&k->in[1]) * sizeof(double);
}

static void
ref_mul_forward(struct task *k)
{
	const REAL *a = k->x[0], *b = k->x[1];

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		((REAL *)k->y)[i] = a[i] * b[ref_broadcast(&k->out, &k->in[1],
		    i)];
}

/* da = dy b;  db = sum of dy a over the broadcast axes. */
static void
ref_mul_backward(struct task *k)
{
	const REAL *a = k->x[0], *b = k->x[1], *dy = k->dy;
	REAL *da = ref_gradient(k, 0), *db;
	double *sum = k->scratch;

	memset(sum, 0, ref_mul_scratch(k));
	for (size_t i = 0, n = dims_count(&k->out); i < n; i++) {
		size_t j = ref_broadcast(&k->out, &k->in[1], i);

		sum[j] += (double)dy[i] * a[i];
		if (da != NULL)
			da[i] += dy[i] * b[j];
	}
	db = ref_gradient(k, 1);
	for (size_t j = 0, m = dims_count(&k->in[1]); j < m && db; j++)
		db[j] += (REAL)sum[j];
}

REF_OP(mul, .reads = READS_X, .scratch = ref_mul_scratch);
