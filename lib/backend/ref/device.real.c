/* The reference back end: memory, parameters, what is stored, its table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ref/ref.h"
#include "backend/ref/round.h"
#include "base/fail.h"
#include "base/mem.h"

static struct device *
open_device(struct device_options *o)
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
round_all(const struct device *d, REAL *v, size_t n)
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
		round_all(k->device, k->y, dims_count(&k->out));
}

void
REF(round_gradients)(struct task *k)
{
	for (int j = 0; j < k->op->nin; j++)
		if (k->dx[j] != NULL)
			round_all(k->device, k->dx[j], dims_count(&k->in[j]));
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
	round_all(d, activation, dims_count(shape));
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

		if (m == NULL) {
			w[i] -= (REAL)(u->lr * d);
			continue;
		}
		m[i] = (REAL)(u->momentum * m[i] + d);
		w[i] -= (REAL)(u->lr * (u->nesterov ? d + u->momentum * m[i] :
		    m[i]));
	}
}

static void
moments(struct device *device, const struct moments *k)
{
	const REAL *w = k->w;
	REAL *m = k->m, *v = k->v, *g = k->g;

	(void)device;
	for (size_t i = 0; i < k->n; i++) {
		double d = g[i] * k->scale;

		m[i] = (REAL)(m[i] + (1 - k->beta1) * (d - m[i]));
		v[i] = (REAL)(v[i] + (1 - k->beta2) * (d * d - v[i]));
		g[i] = (REAL)(m[i] / k->rest1 / (sqrt(v[i] / k->rest2) +
		    k->eps) + k->decay * w[i]);
	}
}

static void
clamp(struct device *d, const struct clamp *c)
{
	double most = c->most / c->scale;
	REAL *v = c->x;

	(void)d;
	for (size_t i = 0; i < c->n; i++)
		v[i] = (REAL)(v[i] > most ? most : v[i] < -most ? -most : v[i]);
}

static void
track(struct device *d, const struct track *t)
{
	const REAL *x = t->x;
	REAL *v = t->w;

	(void)d;
	for (size_t i = 0; i < t->n; i++)
		v[i] += (REAL)(t->rate * (x[i] * t->scale - v[i]));
}

static void
squares(struct device *d, double *sum, const void *x,
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
	[OP_INPUT] = &REF(input), [OP_CONV] = &REF(conv), [OP_BN] = &REF(bn),
	[OP_RELU] = &REF(relu), [OP_ADD] = &REF(add),
	[OP_SHIFT] = &REF(shift), [OP_MAXPOOL] = &REF(maxpool),
	[OP_AVGPOOL] = &REF(avgpool), [OP_DROPOUT] = &REF(dropout),
	[OP_LINEAR] = &REF(linear), [OP_RELU6] = &REF(relu6),
	[OP_SIGMOID] = &REF(sigmoid), [OP_SWISH] = &REF(swish),
	[OP_SCALE] = &REF(scale), [OP_MUL] = &REF(mul),
	[OP_CONCAT] = &REF(concat), [OP_FRAMES] = &REF(frames),
	[OP_BMM] = &REF(bmm), [OP_SOFTMAX] = &REF(softmax),
	[OP_LOSS] = &REF(loss),
};

const struct backend REF(backend) = {
	.name = sizeof(REAL) == sizeof(float) ? "ref" : "ref64",
	.elem = sizeof(REAL), .open = open_device,
	.close = close_device, .alloc = alloc, .free = free_memory, .put = put,
	.get = get, .upload = copy, .download = copy, .bytes = bytes_of,
	.read = read_activation, .write = write_activation, .add = add,
	.update = update, .moments = moments, .clamp = clamp, .track = track,
	.squares = squares, .ops = ops,
	.event_new = host_event_new, .event_free = host_event_free,
	.event_record = host_event_record, .event_wait = host_event_wait,
};
