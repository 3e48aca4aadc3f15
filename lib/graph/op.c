/* The table of operators: their shapes, parameters and multiply-adds. */
#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "graph/op.h"

/* ---- shapes, and the indices that frames and shift read ---- */

size_t
dims_count(const struct dims *d)
{
	return (size_t)d->n * (size_t)d->t * (size_t)d->h * (size_t)d->w *
	    (size_t)d->c;
}

size_t
dims_positions(const struct dims *d)
{
	return (size_t)d->t * (size_t)d->h * (size_t)d->w;
}

int
dims_fit(const struct dims *d)
{
	const int extent[] = { d->n, d->t, d->h, d->w, d->c };
	size_t count = 1;

	for (int i = 0; i < 5; i++)
		if (extent[i] < 1 || __builtin_mul_overflow(count,
		    (size_t)extent[i], &count))
			return 0;
	return count <= DIMS_MAX;
}

char *
dims_text(const struct dims *d, char *buf)
{
	snprintf(buf, 64, "%dx%dx%dx%dx%d", d->n, d->t, d->h, d->w, d->c);
	return buf;
}

static int
op_shape_same(const struct op *op, const struct dims *in, struct dims *out)
{
	char a[64], b[64];

	*out = in[0];
	for (int i = 1; i < op->nin; i++)
		if (in[i].n != out->n || in[i].t != out->t ||
		    in[i].h != out->h || in[i].w != out->w ||
		    in[i].c != out->c)
			return fail("%s: inputs of shapes %s and %s (wanted "
			    "equal ones)", op->name, dims_text(&in[0], a),
			    dims_text(&in[i], b));
	return 0;
}

/* Return the number of windows of length k, at distance s, in size + 2 p. */
static int
op_shape_windows(int size, int k, int s, int p)
{
	return size + 2 * p < k ? 0 : (size + 2 * p - k) / s + 1;
}

static int
op_shape_window(const struct op *op, const struct dims *in, struct dims *out)
{
	char text[64];

	*out = *in;
	out->t = op_shape_windows(in->t, op->k[0], op->s[0], op->p[0]);
	out->h = op_shape_windows(in->h, op->k[1], op->s[1], op->p[1]);
	out->w = op_shape_windows(in->w, op->k[2], op->s[2], op->p[2]);
	if (op->kind == OP_CONV)
		out->c = op->out;
	if (out->t < 1 || out->h < 1 || out->w < 1)
		return fail("%s: input %s is smaller than the window %dx%dx%d",
		    op->name, dims_text(in, text), op->k[0], op->k[1],
		    op->k[2]);
	return 0;
}

static int
op_shape_avgpool(const struct op *op, const struct dims *in, struct dims *out)
{
	if (op->avgpool.axes == 0)
		return op_shape_window(op, in, out);
	*out = *in;
	if (op->avgpool.axes & OVER_T)
		out->t = 1;
	if (op->avgpool.axes & OVER_H)
		out->h = 1;
	if (op->avgpool.axes & OVER_W)
		out->w = 1;
	return 0;
}

static int
op_shape_linear(const struct op *op, const struct dims *in, struct dims *out)
{
	*out = *in;
	out->c = op->out;
	return 0;
}

static int
op_shape_loss(const struct op *op, const struct dims *in, struct dims *out)
{
	char text[64];

	if (in->t != 1 || in->h != 1 || in->w != 1)
		return fail("%s: scores of shape %s (wanted one a clip: end "
		    "the network with avgpool over=t)", op->name,
		    dims_text(in, text));
	*out = (struct dims){ in->n, 1, 1, 1, 1 };
	return 0;
}

/* An axis of the second input has the length of the first one's, or 1. */
static int
op_shape_mul(const struct op *op, const struct dims *in, struct dims *out)
{
	const struct dims *a = &in[0], *b = &in[1];
	char ta[64], tb[64];

	*out = *a;
	if (a->n != b->n || a->c != b->c || (b->t != a->t && b->t != 1) ||
	    (b->h != a->h && b->h != 1) || (b->w != a->w && b->w != 1))
		return fail("%s: inputs of shapes %s and %s (wanted equal "
		    "ones, or a second one of 1 frame, row or column)",
		    op->name, dims_text(a, ta), dims_text(b, tb));
	return 0;
}

static int
op_shape_concat(const struct op *op, const struct dims *in, struct dims *out)
{
	char a[64], b[64];

	*out = in[0];
	for (int i = 1; i < op->nin; i++) {
		if (in[i].n != out->n || in[i].t != out->t ||
		    in[i].h != out->h || in[i].w != out->w)
			return fail("%s: inputs of shapes %s and %s (wanted "
			    "ones that differ in their channels only)",
			    op->name, dims_text(&in[0], a),
			    dims_text(&in[i], b));
		if (__builtin_add_overflow(out->c, in[i].c, &out->c) ||
		    out->c > OP_CHANNELS)
			return fail("%s: more than %d channels", op->name,
			    OP_CHANNELS);
	}
	return 0;
}

static int
op_shape_frames(const struct op *op, const struct dims *in, struct dims *out)
{
	*out = *in;
	out->t = op_frames(op, in->t);
	if (out->t < 1)
		return fail("%s: %d frames, of which step=%d first=%d takes "
		    "none", op->name, in->t, op->frames.step, op->frames.first);
	return 0;
}

static int
op_shape_bmm(const struct op *op, const struct dims *in, struct dims *out)
{
	const struct dims *a = &in[0], *b = &in[1];
	int ta = op->bmm.transpose & TRANSPOSE_A;
	int tb = op->bmm.transpose & TRANSPOSE_B;
	size_t pa = dims_positions(a), pb = dims_positions(b);
	size_t inner = ta ? pa : (size_t)a->c;
	size_t columns = tb ? pb : (size_t)b->c;

	*out = *a;
	if (ta)
		*out = (struct dims){ a->n, 1, 1, a->c, 0 };
	if (a->n != b->n || inner != (tb ? (size_t)b->c : pb))
		return fail("%s: %d products of %zux%zu and %d of %zux%zu "
		    "matrices (wanted as many columns there as rows here)",
		    op->name, a->n, ta ? (size_t)a->c : pa, inner, b->n,
		    tb ? (size_t)b->c : pb, columns);
	if (columns > OP_CHANNELS)
		return fail("%s: an output of %zu channels (wanted at most %d)",
		    op->name, columns, OP_CHANNELS);
	out->c = (int)columns;
	return 0;
}

/* ---- output channels that are not those of the first input ---- */

static int
op_channels_concat(const struct op *op, const int *in)
{
	long long sum = 0;

	for (int i = 0; i < op->nin; i++) {
		if (in[i] == 0)
			return 0;
		sum += in[i];
	}
	return sum <= OP_CHANNELS ? (int)sum : -1;
}

/* The number of positions is known with a shape only. */
static int
op_channels_bmm(const struct op *op, const int *in)
{
	return op->bmm.transpose & TRANSPOSE_B ? 0 : in[1];
}

/*
 * Every step-th frame from ${first}, or frames spread evenly from the first to
 * the last, as PySlowFast's trunc(linspace(0, T - 1, T / step)).
 */
int
op_frames(const struct op *op, int frames)
{
	const struct op_frames *f = &op->frames;

	if (f->spread)
		return frames / f->step;
	return (frames - f->first + f->step - 1) / f->step;
}

int
op_frame(const struct op *op, int frames, int i)
{
	int n = op_frames(op, frames);

	if (op->frames.spread)
		return n == 1 ? 0 : (int)((int64_t)i * (frames - 1) / (n - 1));
	return op->frames.first + i * op->frames.step;
}

double
op_factor(const struct op *op, int channels)
{
	const struct factor *f = &op->scale.factor;

	return f->per == PER_CHANNELS ? f->by / channels :
	    f->per == PER_ROOT ? f->by / sqrt(channels) : f->by;
}

int
op_shift(const struct op *op, int channels, int c)
{
	int fold = channels / op->shift.fold;

	if (op->shift.past)
		return c < fold ? -1 : 0;
	return c < fold ? 1 : c < 2 * fold ? -1 : 0;
}

/* ---- parameters ---- */

static void
op_param(struct param *p, const struct op *op, const char *suffix,
    enum param_kind kind, double std, double fill)
{
	*p = (struct param){ .kind = kind, .std = std, .fill = fill };
	snprintf(p->name, sizeof(p->name), "%s.%s", op->name, suffix);
}

static void
op_shape(struct param *p, int ndim, const int *dim)
{
	p->ndim = ndim;
	p->count = 1;
	for (int i = 0; i < ndim; i++) {
		p->dim[i] = dim[i];
		/* reader_append rejects a count of SIZE_MAX. */
		if (__builtin_mul_overflow(p->count, (size_t)dim[i], &p->count))
			p->count = SIZE_MAX;
	}
}

/* Return ${std}, or ${otherwise} if it is not given. */
static double
op_deviation(double std, double otherwise)
{
	return isnan(std) ? otherwise : std;
}

/* He et al. 2015 over the outputs (fan-out), as torchvision initializes. */
static int
op_conv_params(const struct op *op, int cin, struct param *p)
{
	int taps = op->k[0] * op->k[1] * op->k[2];
	int cube[5] = { op->out, cin / op->conv.groups, op->k[0], op->k[1],
		op->k[2] };
	int plane[4] = { op->out, cin / op->conv.groups, op->k[1], op->k[2] };

	op_param(&p[0], op, "weight", PARAM_WEIGHT, op_deviation(op->conv.std,
	    sqrt(2.0 / ((double)op->out * taps))), 0);
	if (op->planar)
		op_shape(&p[0], 4, plane);
	else
		op_shape(&p[0], 5, cube);
	if (!op->conv.bias)
		return 1;
	op_param(&p[1], op, "bias", PARAM_BIAS, 0, 0);
	op_shape(&p[1], 1, &op->out);
	return 2;
}

static int
op_bn_params(const struct op *op, int c, struct param *p)
{
	op_param(&p[0], op, "weight", PARAM_SCALE, 0, op->bn.gamma);
	op_param(&p[1], op, "bias", PARAM_OFFSET, 0, 0);
	op_param(&p[2], op, "running_mean", PARAM_MEAN, 0, 0);
	op_param(&p[3], op, "running_var", PARAM_VAR, 0, 1);
	for (int i = 0; i < 4; i++)
		op_shape(&p[i], 1, &c);
	return 4;
}

static int
op_linear_params(const struct op *op, int cin, struct param *p)
{
	int weight[2] = { op->out, cin };

	op_param(&p[0], op, "weight", PARAM_WEIGHT,
	    op_deviation(op->linear.std, 0.01), 0);
	op_param(&p[1], op, "bias", PARAM_BIAS, 0, 0);
	op_shape(&p[0], 2, weight);
	op_shape(&p[1], 1, &op->out);
	return 2;
}

static int
op_scale_params(const struct op *op, int cin, struct param *p)
{
	static const int one = 1;

	if (!op->scale.trained)
		return 0;
	op_param(&p[0], op, "weight", PARAM_SCALE, 0, op_factor(op, cin));
	op_shape(&p[0], 1, &one);
	return 1;
}

/* ---- multiply-adds: one counts as 1, as in published counts ---- */

static double
op_conv_macs(const struct op *op, const struct dims *in, const struct dims *out)
{
	return (double)dims_count(out) * op->k[0] * op->k[1] * op->k[2] *
	    (in->c / op->conv.groups);
}

static double
op_linear_macs(const struct op *op, const struct dims *in,
    const struct dims *out)
{
	(void)op;
	return (double)dims_count(out) * in->c;
}

static double
op_bmm_macs(const struct op *op, const struct dims *in, const struct dims *out)
{
	return (double)dims_count(out) * (op->bmm.transpose & TRANSPOSE_A ?
	    (double)dims_positions(in) : in->c);
}

/*
 * Columns: name, minimum and maximum of inputs, infer, channels, params, macs.
 */
const struct op_type op_types[OP_KINDS] = {
	[OP_INPUT] = { "input", 0, 0, NULL, NULL, NULL, NULL },
	[OP_CONV] = { "conv", 1, 1, op_shape_window, NULL, op_conv_params,
	    op_conv_macs },
	[OP_BN] = { "bn", 1, 1, op_shape_same, NULL, op_bn_params, NULL },
	[OP_RELU] = { "relu", 1, 1, op_shape_same, NULL, NULL, NULL },
	[OP_ADD] = { "add", 2, OP_INPUTS, op_shape_same, NULL, NULL, NULL },
	[OP_SHIFT] = { "shift", 1, 1, op_shape_same, NULL, NULL, NULL },
	[OP_MAXPOOL] = { "maxpool", 1, 1, op_shape_window, NULL, NULL, NULL },
	[OP_AVGPOOL] = { "avgpool", 1, 1, op_shape_avgpool, NULL, NULL, NULL },
	[OP_DROPOUT] = { "dropout", 1, 1, op_shape_same, NULL, NULL, NULL },
	[OP_LINEAR] = { "linear", 1, 1, op_shape_linear, NULL, op_linear_params,
	    op_linear_macs },
	[OP_RELU6] = { "relu6", 1, 1, op_shape_same, NULL, NULL, NULL },
	[OP_SIGMOID] = { "sigmoid", 1, 1, op_shape_same, NULL, NULL, NULL },
	[OP_SWISH] = { "swish", 1, 1, op_shape_same, NULL, NULL, NULL },
	[OP_SCALE] = { "scale", 1, 1, op_shape_same, NULL, op_scale_params,
	    NULL },
	[OP_MUL] = { "mul", 2, 2, op_shape_mul, NULL, NULL, NULL },
	[OP_CONCAT] = { "concat", 2, OP_INPUTS, op_shape_concat,
	    op_channels_concat, NULL, NULL },
	[OP_FRAMES] = { "frames", 1, 1, op_shape_frames, NULL, NULL, NULL },
	[OP_BMM] = { "bmm", 2, 2, op_shape_bmm, op_channels_bmm, NULL,
	    op_bmm_macs },
	[OP_SOFTMAX] = { "softmax", 1, 1, op_shape_same, NULL, NULL, NULL },
	[OP_LOSS] = { "loss", 1, 1, op_shape_loss, NULL, NULL, NULL },
};
