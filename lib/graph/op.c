/* The table of operators: shapes, parameters, work. */
#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "graph/op.h"

size_t
dims_count(const struct dims *d)
{
	return (size_t)d->n * (size_t)d->t * (size_t)d->h * (size_t)d->w *
	    (size_t)d->c;
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
	return count <= DIMS_MOST;
}

char *
dims_text(const struct dims *d, char *buf)
{
	snprintf(buf, 64, "%dx%dx%dx%dx%d", d->n, d->t, d->h, d->w, d->c);
	return buf;
}

/* ---- shapes ---- */

static int
infer_same(const struct op *op, const struct dims *in, struct dims *out)
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

/* A window of k over size + 2 p, moved by s. */
static int
windows(int size, int k, int s, int p)
{
	return size + 2 * p < k ? 0 : (size + 2 * p - k) / s + 1;
}

static int
infer_window(const struct op *op, const struct dims *in, struct dims *out)
{
	char text[64];

	*out = *in;
	out->t = windows(in->t, op->k[0], op->s[0], op->p[0]);
	out->h = windows(in->h, op->k[1], op->s[1], op->p[1]);
	out->w = windows(in->w, op->k[2], op->s[2], op->p[2]);
	if (op->kind == OP_CONV)
		out->c = op->out;
	if (out->t < 1 || out->h < 1 || out->w < 1)
		return fail("%s: input %s is smaller than the window %dx%dx%d",
		    op->name, dims_text(in, text), op->k[0], op->k[1],
		    op->k[2]);
	return 0;
}

static int
infer_avgpool(const struct op *op, const struct dims *in, struct dims *out)
{
	*out = *in;
	if (op->over & OVER_T)
		out->t = 1;
	if (op->over & OVER_H)
		out->h = 1;
	if (op->over & OVER_W)
		out->w = 1;
	return 0;
}

static int
infer_linear(const struct op *op, const struct dims *in, struct dims *out)
{
	*out = *in;
	out->c = op->out;
	return 0;
}

static int
infer_loss(const struct op *op, const struct dims *in, struct dims *out)
{
	char text[64];

	if (in->t != 1 || in->h != 1 || in->w != 1)
		return fail("%s: scores of shape %s (wanted one a clip: end the "
		    "network with avgpool over=t)", op->name, dims_text(in, text));
	*out = (struct dims){ in->n, 1, 1, 1, 1 };
	return 0;
}

/* ---- parameters ---- */

static int
add_param(struct param *p, int n, const struct op *op, const char *suffix,
    enum param_kind kind, double std, double fill)
{
	p[n] = (struct param){ .kind = kind, .std = std, .fill = fill };
	snprintf(p[n].name, sizeof(p[n].name), "%s.%s", op->name, suffix);
	return n + 1;
}

static void
shape(struct param *p, int ndim, const int *dim)
{
	p->ndim = ndim;
	p->count = 1;
	for (int i = 0; i < ndim; i++) {
		p->dim[i] = dim[i];
		if (__builtin_mul_overflow(p->count, (size_t)dim[i], &p->count))
			p->count = SIZE_MAX;
	}
}

/* He et al. 2015 over the outputs (fan-out), as torchvision initialises. */
static int
conv_params(const struct op *op, int cin, struct param *p)
{
	int taps = op->k[0] * op->k[1] * op->k[2], n = 0;
	int cube[5] = { op->out, cin / op->groups, op->k[0], op->k[1], op->k[2] };
	int plane[4] = { op->out, cin / op->groups, op->k[1], op->k[2] };

	n = add_param(p, n, op, "weight", PARAM_WEIGHT,
	    sqrt(2.0 / ((double)op->out * taps)), 0);
	if (op->planar)
		shape(&p[0], 4, plane);
	else
		shape(&p[0], 5, cube);
	if (op->bias) {
		n = add_param(p, n, op, "bias", PARAM_BIAS, 0, 0);
		shape(&p[1], 1, &op->out);
	}
	return n;
}

static int
bn_params(const struct op *op, int c, struct param *p)
{
	int n = 0;

	n = add_param(p, n, op, "weight", PARAM_SCALE, 0, op->gamma);
	n = add_param(p, n, op, "bias", PARAM_OFFSET, 0, 0);
	n = add_param(p, n, op, "running_mean", PARAM_MEAN, 0, 0);
	n = add_param(p, n, op, "running_var", PARAM_VAR, 0, 1);
	for (int i = 0; i < n; i++)
		shape(&p[i], 1, &c);
	return n;
}

static int
linear_params(const struct op *op, int cin, struct param *p)
{
	int weight[2] = { op->out, cin }, n = 0;

	n = add_param(p, n, op, "weight", PARAM_WEIGHT, op->std, 0);
	n = add_param(p, n, op, "bias", PARAM_BIAS, 0, 0);
	shape(&p[0], 2, weight);
	shape(&p[1], 1, &op->out);
	return n;
}

/* ---- work: one multiply-add is one, as the published counts have it ---- */

static double
conv_macs(const struct op *op, const struct dims *in, const struct dims *out)
{
	return (double)dims_count(out) * op->k[0] * op->k[1] * op->k[2] *
	    (in->c / op->groups);
}

static double
linear_macs(const struct op *op, const struct dims *in, const struct dims *out)
{
	(void)op;
	return (double)dims_count(out) * in->c;
}

const struct op_type op_types[OP_KINDS] = {
	[OP_INPUT] = { "input", 0, 0, " out mean std ", NULL, NULL, NULL },
	[OP_CONV] = { "conv", 1, 1, " in out k s p groups bias ", infer_window,
	    conv_params, conv_macs },
	[OP_BN] = { "bn", 1, 1, " in gamma eps momentum ", infer_same,
	    bn_params, NULL },
	[OP_RELU] = { "relu", 1, 1, " in ", infer_same, NULL, NULL },
	[OP_ADD] = { "add", 2, OP_INPUTS, " in ", infer_same, NULL, NULL },
	[OP_SHIFT] = { "shift", 1, 1, " in fold ", infer_same, NULL, NULL },
	[OP_MAXPOOL] = { "maxpool", 1, 1, " in k s p ", infer_window, NULL,
	    NULL },
	[OP_AVGPOOL] = { "avgpool", 1, 1, " in over ", infer_avgpool, NULL,
	    NULL },
	[OP_DROPOUT] = { "dropout", 1, 1, " in rate ", infer_same, NULL, NULL },
	[OP_LINEAR] = { "linear", 1, 1, " in out std ", infer_linear,
	    linear_params, linear_macs },
	[OP_LOSS] = { NULL, 1, 1, "", infer_loss, NULL, NULL },
};
