/*
 * The reference back end: opening, rounding, operations on parameters, and the
 * table of operators.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "backend/ref/ref.h"
#include "backend/ref/round.h"
#include "base/mem.h"

static struct device *
ref_device_open(struct device_options *o)
{
	(void)o;
	return xcalloc(1, sizeof(struct device));
}

static void
ref_device_close(struct device *d)
{
	free(d);
}

static void
ref_device_round_all(const struct device *d, REAL *v, size_t n)
{
	if (d->o.precision == PRECISION_FP32)
		return;
	for (size_t i = 0; i < n; i++)
		v[i] = (REAL)round_to(v[i], d->o.precision);
}

void
REF(round_output)(struct task *k)
{
	if (k->op->kind != OP_LOSS)
		ref_device_round_all(k->device, k->y, dims_count(&k->out));
}

void
REF(round_gradients)(struct task *k)
{
	for (int j = 0; j < k->op->nin; j++)
		if (k->dx[j] != NULL)
			ref_device_round_all(k->device, k->dx[j],
			    dims_count(&k->in[j]));
}

static size_t
ref_device_bytes_of(const struct device *d, const struct dims *shape)
{
	(void)d;
	return dims_count(shape) * sizeof(REAL);
}

static void
ref_device_read_activation(struct device *d, double *host,
    const struct dims *shape, const void *activation)
{
	device_get(d, host, activation, dims_count(shape));
}

static void
ref_device_write_activation(struct device *d, void *activation,
    const struct dims *shape, const double *host)
{
	device_put(d, activation, host, dims_count(shape));
	ref_device_round_all(d, activation, dims_count(shape));
}

static void
ref_device_add(struct device *d, void *sum, const void *x, size_t n)
{
	(void)d;
	for (size_t i = 0; i < n; i++)
		((REAL *)sum)[i] += ((const REAL *)x)[i];
}

/*
 * w -= lr d with momentum; see struct update.  As in PyTorch's SGD, the
 * momentum does not contain the learning rate.
 */
static void
ref_device_update(struct device *device, const struct update *u)
{
	REAL *w = u->w, *m = u->m;
	const REAL *g = u->g;

	(void)device;
	for (size_t i = 0; i < u->n; i++) {
		double d = g[i] * u->scale + u->decay * w[i];

		if (m == NULL) {
			w[i] -= (REAL)(u->lr * d);
			continue;
		}
		m[i] = (REAL)(u->momentum * m[i] + d);
		w[i] -= (REAL)(u->lr * (u->nesterov ? d + u->momentum * m[i] :
		    m[i]));
	}
}

/* The direction of Adam; see struct moments. */
static void
ref_device_moments(struct device *device, const struct moments *k)
{
	const REAL *w = k->w;
	REAL *m = k->m, *v = k->v, *g = k->g;

	(void)device;
	for (size_t i = 0; i < k->n; i++) {
		double d = g[i] * k->scale;

		m[i] = (REAL)(m[i] + (1 - k->beta1) * (d - m[i]));
		v[i] = (REAL)(v[i] + (1 - k->beta2) * (d * d - v[i]));
		g[i] = (REAL)(m[i] / k->bias_correction1 /
		    (sqrt(v[i] / k->bias_correction2) + k->eps) + k->decay *
		    w[i]);
	}
}

void
REF(clamp)(struct device *d, const struct clamp *c)
{
	double largest = c->max / c->scale;
	REAL *v = c->x;

	(void)d;
	for (size_t i = 0; i < c->n; i++)
		v[i] = (REAL)(v[i] > largest ? largest : v[i] < -largest ?
		    -largest : v[i]);
}

void
REF(track)(struct device *d, const struct track *t)
{
	const REAL *x = t->x;
	REAL *v = t->w;

	(void)d;
	for (size_t i = 0; i < t->n; i++)
		v[i] += (REAL)(t->rate * (x[i] * t->scale - v[i]));
}

static void
ref_device_squares(struct device *d, double *sum, const void *x,
    const struct interval *part, size_t parts)
{
	const REAL *v = x;

	(void)d;
	for (size_t k = 0; k < parts; k++) {
		sum[k] = 0;
		for (size_t i = part[k].at; i < part[k].at + part[k].n; i++)
			sum[k] += (double)v[i] * v[i];
	}
}

static const struct op_impl *const ops[OP_KINDS] = {
#define OPERATOR(KIND, name, cpu, bf16) [OP_ ## KIND] = &REF(name),
#include "backend/ops.def"
};

static const struct layout_ops ref_layout = {
	.bytes = ref_device_bytes_of, .read = ref_device_read_activation,
	.write = ref_device_write_activation,
};

static const struct param_ops ref_param = {
	.add = ref_device_add, .update = ref_device_update,
	.moments = ref_device_moments, .clamp = REF(clamp),
	.track = REF(track), .squares = ref_device_squares,
};

const struct backend REF(backend) = {
	.name = sizeof(REAL) == sizeof(float) ? "ref" : "ref64",
	.elem = sizeof(REAL), .open = ref_device_open,
	.close = ref_device_close, .memory = &host_memory,
	.event = &host_event, .layout = &ref_layout, .param = &ref_param,
	.ops = ops,
};
