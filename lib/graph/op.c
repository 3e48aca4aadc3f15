/* The table of operators, their parameters and multiply-adds. */
#include <math.h>
#include <stdio.h>

#include "graph/shape.h"

/* ---- parameters ---- */

static int
op_add_param(struct param *p, int n, const struct op *op, const char *suffix,
    enum param_kind kind, double std, double fill)
{
	p[n] = (struct param){ .kind = kind, .std = std, .fill = fill };
	snprintf(p[n].name, sizeof(p[n].name), "%s.%s", op->name, suffix);
	return n + 1;
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
	int taps = op->k[0] * op->k[1] * op->k[2], n = 0;
	int cube[5] = { op->out, cin / op->conv.groups, op->k[0], op->k[1],
		op->k[2] };
	int plane[4] = { op->out, cin / op->conv.groups, op->k[1], op->k[2] };

	n = op_add_param(p, n, op, "weight", PARAM_WEIGHT,
	    op_deviation(op->conv.std,
	    sqrt(2.0 / ((double)op->out * taps))), 0);
	if (op->planar)
		op_shape(&p[0], 4, plane);
	else
		op_shape(&p[0], 5, cube);
	if (op->conv.bias) {
		n = op_add_param(p, n, op, "bias", PARAM_BIAS, 0, 0);
		op_shape(&p[1], 1, &op->out);
	}
	return n;
}

static int
op_bn_params(const struct op *op, int c, struct param *p)
{
	int n = 0;

	n = op_add_param(p, n, op, "weight", PARAM_SCALE, 0, op->bn.gamma);
	n = op_add_param(p, n, op, "bias", PARAM_OFFSET, 0, 0);
	n = op_add_param(p, n, op, "running_mean", PARAM_MEAN, 0, 0);
	n = op_add_param(p, n, op, "running_var", PARAM_VAR, 0, 1);
	for (int i = 0; i < n; i++)
		op_shape(&p[i], 1, &c);
	return n;
}

static int
op_linear_params(const struct op *op, int cin, struct param *p)
{
	int weight[2] = { op->out, cin }, n = 0;

	n = op_add_param(p, n, op, "weight", PARAM_WEIGHT,
	    op_deviation(op->linear.std, 0.01), 0);
	n = op_add_param(p, n, op, "bias", PARAM_BIAS, 0, 0);
	op_shape(&p[0], 2, weight);
	op_shape(&p[1], 1, &op->out);
	return n;
}

static int
op_scale_params(const struct op *op, int cin, struct param *p)
{
	static const int one = 1;

	if (!op->scale.trained)
		return 0;
	op_add_param(p, 0, op, "weight", PARAM_SCALE, 0, op_factor(op, cin));
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
	[OP_CONV] = { "conv", 1, 1, shape_window, NULL, op_conv_params,
	    op_conv_macs },
	[OP_BN] = { "bn", 1, 1, shape_same, NULL, op_bn_params, NULL },
	[OP_RELU] = { "relu", 1, 1, shape_same, NULL, NULL, NULL },
	[OP_ADD] = { "add", 2, OP_INPUTS, shape_same, NULL, NULL, NULL },
	[OP_SHIFT] = { "shift", 1, 1, shape_same, NULL, NULL, NULL },
	[OP_MAXPOOL] = { "maxpool", 1, 1, shape_window, NULL, NULL, NULL },
	[OP_AVGPOOL] = { "avgpool", 1, 1, shape_avgpool, NULL, NULL, NULL },
	[OP_DROPOUT] = { "dropout", 1, 1, shape_same, NULL, NULL, NULL },
	[OP_LINEAR] = { "linear", 1, 1, shape_linear, NULL, op_linear_params,
	    op_linear_macs },
	[OP_RELU6] = { "relu6", 1, 1, shape_same, NULL, NULL, NULL },
	[OP_SIGMOID] = { "sigmoid", 1, 1, shape_same, NULL, NULL, NULL },
	[OP_SWISH] = { "swish", 1, 1, shape_same, NULL, NULL, NULL },
	[OP_SCALE] = { "scale", 1, 1, shape_same, NULL, op_scale_params, NULL },
	[OP_MUL] = { "mul", 2, 2, shape_mul, NULL, NULL, NULL },
	[OP_CONCAT] = { "concat", 2, OP_INPUTS, shape_concat,
	    shape_channels_concat, NULL, NULL },
	[OP_FRAMES] = { "frames", 1, 1, shape_frames, NULL, NULL, NULL },
	[OP_BMM] = { "bmm", 2, 2, shape_bmm, shape_channels_bmm, NULL,
	op_bmm_macs },
	[OP_SOFTMAX] = { "softmax", 1, 1, shape_same, NULL, NULL, NULL },
	[OP_LOSS] = { "loss", 1, 1, shape_loss, NULL, NULL, NULL },
};
