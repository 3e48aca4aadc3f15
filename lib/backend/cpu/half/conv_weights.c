/* Convolutions in bf16: the gradients of weights and bias. */
#include <string.h>

#include "backend/cpu/half/conv.h"

#define GRAIN 16384

/* ---- by oneDNN: a gradient for each part, added in their order ---- */

static void
run_images(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct run *r = &k->p->run[i];

	dnnl_conv_run(k->p->conv, thread, r->call,
	    half_at(&k->t->in[0], k->x, r->first, 0),
	    k->w + k->p->bytes * (size_t)i, NULL,
	    half_at(&k->t->out, k->y, r->first, 0),
	    k->work + k->c->library * (size_t)thread);
}

static void
add_parts(size_t from, size_t to, void *arg)
{
	struct call *k = arg;
	float *sum = (float *)k->w + from;

	for (int i = 1; i < k->p->runs; i++)
		cpu_k(k->t)->add(sum, sum, (float *)(k->w + k->p->bytes *
		    (size_t)i) + from, to - from);
}

/* Output channels ${from} to ${to} of a gradient filled up. */
static void
take_out(size_t from, size_t to, void *arg)
{
	const struct call *k = arg;
	size_t few = conv_taps(k->t) * (size_t)k->t->in[0].c;
	size_t many = conv_taps(k->t) * (size_t)k->c->in;

	for (size_t o = from; o < to; o++)
		memcpy((float *)k->t->dw[0] + few * o,
		    (const float *)k->plain + many * o, few * sizeof(float));
}

static void
order_slice(int i, int thread, void *arg)
{
	struct call *k = arg;

	dnnl_conv_order(k->p->conv, thread, i, k->c->plain > 0 ?
	    (float *)k->plain : k->t->dw[0], k->w);
}

static void
by_library(struct call *k)
{
	struct task *t = k->t;

	cpu_run(t, k->p->runs, run_images, k);
	if (k->p->runs > 1)
		cpu_ranges(cpu_of(t), k->p->bytes / sizeof(float), GRAIN,
		    add_parts, k);
	cpu_run(t, dnnl_conv_slices(k->p->conv), order_slice, k);
	if (k->c->plain > 0)
		cpu_ranges(cpu_of(t), (size_t)t->out.c, 16, take_out, k);
}

/* ---- on tiles ---- */

static void
run_job(int i, int thread, void *arg)
{
	const struct call *k = arg;

	weights_run(k->p->weights, i, k->x, k->y, k->t->dw[0], (float *)k->w,
	    k->work + k->c->library * (size_t)thread);
}

static void
add_block(int i, int thread, void *arg)
{
	const struct call *k = arg;

	(void)thread;
	weights_add(k->p->weights, i, k->t->dw[0], (const float *)k->w);
}

static void
by_tiles(struct call *k)
{
	cpu_run(k->t, weights_jobs(k->p->weights), run_job, k);
	cpu_run(k->t, weights_blocks(k->p->weights), add_block, k);
}

/* ---- bias ---- */

/* The sum over all places, image by image, of 16 channels. */
static void
bias_gradient(int block, int thread, void *arg)
{
	struct task *t = arg;
	const struct dims *d = &t->out;
	int first = block * 16, end = d->c < first + 16 ? d->c : first + 16;
	double sum[16] = { 0 };

	(void)thread;
	for (int i = 0; i < cpu_images(d); i++)
		for (size_t p = 0; p < cpu_places(d); p++)
			for (int c = first; c < end; c++)
				sum[c - first] += bf16_wide(half_at(d, t->dy, i,
				    p)[c]);
	for (int c = first; c < end; c++)
		((float *)t->dw[1])[c] = (float)sum[c - first];
}

void
half_conv_weights(struct task *t)
{
	struct call k = half_conv_call(t, CONV_WEIGHTS, t->x[0], t->dy);

	if (k.p->by_winograd)
		conv_winograd_gradient(&k.p->winograd, t, (float *)k.w, k.work,
		    k.c->library);
	else if (k.p->weights != NULL)
		by_tiles(&k);
	else
		by_library(&k);
	if (t->op->bias)
		cpu_run(t, half_row(&t->out) / 16, bias_gradient, t);
}
