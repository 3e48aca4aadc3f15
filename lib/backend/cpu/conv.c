/*
 * Convolutions.  The images of a microbatch are cut into CHUNKS or fewer equal
 * runs, whatever the number of threads; each run is one call of oneDNN by one
 * thread.  Weight gradients of the runs are added in their order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"
#include "base/fail.h"
#include "base/mem.h"

#define CHUNKS 4
#define GRAIN 16384

struct conv {
	struct dnnl_conv *dnnl;
	int chunks, images;		/* images of one chunk */
	int in;				/* input channels, filled up to a block:
					 * oneDNN takes fewer for pixels */
	size_t weights[CONV_PASSES];	/* bytes, rounded up */
	size_t plain;			/* of weights filled up with zeros; 0 if
					 * there is nothing to fill */
	size_t work;			/* scratch bytes of a thread */
};

static size_t
round_up(size_t bytes)
{
	return (bytes + 4095) / 4096 * 4096;
}

/* The most runs of equal length, up to CHUNKS. */
static int
chunks_of(int images)
{
	int n = CHUNKS;

	while (images % n != 0)
		n--;
	return n;
}

static int
prepare(struct task *t)
{
	const struct op *op = t->op;
	struct conv *c;
	int images = cpu_images(&t->out);
	struct conv_shape s = { .in = t->in[0].c, .out = t->out.c,
		.groups = op->groups, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out_h = t->out.h, .out_w = t->out.w, .bias = op->bias,
		.k = { op->k[1], op->k[2] }, .s = { op->s[1], op->s[2] },
		.p = { op->p[1], op->p[2] } };

	if (op->k[0] != 1 || op->s[0] != 1 || op->p[0] != 0)
		return fail("%s: the cpu back end runs convolutions over h and w "
		    "only (k=1,%d,%d); the ref back end runs this one", op->name,
		    op->k[1], op->k[2]);
	if (cpu_is_pixels(&t->out) || (t->in[0].c <= 3) !=
	    cpu_is_pixels(&t->in[0]))
		return fail("%s: the cpu back end has no convolution from %d to "
		    "%d channels here", op->name, t->in[0].c, t->out.c);
	c = xcalloc(1, sizeof(*c));
	t->priv = c;
	c->chunks = chunks_of(images);
	c->images = s.images = images / c->chunks;
	c->in = cpu_is_pixels(&t->in[0]) || op->groups > 1 ? t->in[0].c :
	    cpu_padded(t->in[0].c);
	s.in = c->in;
	if (c->in != t->in[0].c)
		c->plain = round_up((size_t)t->out.c * c->in * s.k[0] * s.k[1] *
		    sizeof(float));
	c->dnnl = dnnl_conv_new(cpu_of(t)->dnnl, op->name, &s, !t->training ?
	    1 : t->wants_dx[0] ? 3 : 2);
	if (c->dnnl == NULL)
		return -1;
	for (int p = 0; p < CONV_PASSES; p++)
		c->weights[p] = round_up(dnnl_conv_weights(c->dnnl,
		    (enum conv_pass)p));
	c->work = round_up(dnnl_conv_scratch(c->dnnl));
	return 0;
}

static void
release(struct task *t)
{
	struct conv *c = t->priv;

	if (c == NULL)
		return;
	dnnl_conv_free(c->dnnl);
	free(c);
	t->priv = NULL;
}

static size_t
bias_bytes(const struct task *t)
{
	return round_up((size_t)t->out.c * sizeof(float));
}

/*
 * Scratch: work for each thread, weights filled up, then those of the pass (or
 * a gradient for each chunk) and an input gradient that has to be added.
 */
static size_t
scratch(const struct task *t)
{
	const struct conv *c = t->priv;
	size_t work = c->work * (size_t)pool_threads(cpu_of(t)->pool);
	size_t most = c->weights[CONV_FORWARD];

	if (t->training) {
		size_t data = c->weights[CONV_DATA];
		size_t weights = (c->weights[CONV_WEIGHTS] + bias_bytes(t)) *
		    (size_t)c->chunks;

		if (t->accumulate[0])
			data += round_up(cpu_floats(&t->in[0]) * sizeof(float));
		most = data > most ? data : most;
		most = weights > most ? weights : most;
	}
	return work + c->plain + most;
}

/* What the parts of a pass share. */
struct call {
	struct task *t;
	struct conv *c;
	enum conv_pass pass;
	char *x, *w, *b, *y, *work;
	size_t w_step, b_step;		/* between the chunks' gradients */
};

static void
run_chunk(int i, int thread, void *arg)
{
	struct call *k = arg;
	size_t x = cpu_image(&k->t->in[0]) * sizeof(float) * k->c->images;
	size_t y = cpu_image(&k->t->out) * sizeof(float) * k->c->images;

	dnnl_conv_run(k->c->dnnl, thread, k->pass, k->x + x * i,
	    k->w + k->w_step * i, k->b != NULL ? k->b + k->b_step * i : NULL,
	    k->y + y * i, k->work + k->c->work * thread);
}

static struct call
call(struct task *t, enum conv_pass pass, const void *x, const void *y)
{
	struct conv *c = t->priv;
	char *s = t->scratch;

	return (struct call){ .t = t, .c = c, .pass = pass, .x = (char *)x,
		.y = (char *)y, .work = s,
		.w = s + c->work * (size_t)pool_threads(cpu_of(t)->pool) + c->plain };
}

/*
 * Weights between the order of the graph and that of a pass, through a copy
 * with more input channels where those are filled up.
 */
static void
pad(struct task *t, float *plain, int in)
{
	struct conv *c = t->priv;
	size_t taps = (size_t)t->op->k[1] * t->op->k[2];
	size_t few = taps * (size_t)t->in[0].c, many = taps * (size_t)c->in;

	for (int o = 0; o < t->out.c; o++) {
		float *to = plain + many * (size_t)o;

		if (!in) {
			memcpy((float *)t->dw[0] + few * (size_t)o, to,
			    few * sizeof(float));
			continue;
		}
		memcpy(to, (const float *)t->w[0] + few * (size_t)o,
		    few * sizeof(float));
		memset(to + few, 0, (many - few) * sizeof(float));
	}
}

static void
weights_in(struct call *k)
{
	float *plain = (float *)(k->w - k->c->plain);

	if (k->c->plain > 0)
		pad(k->t, plain, 1);
	dnnl_conv_reorder(k->c->dnnl, k->pass, k->c->plain > 0 ? plain :
	    k->t->w[0], k->w);
}

static void
weights_out(struct call *k)
{
	float *plain = (float *)(k->w - k->c->plain);

	dnnl_conv_reorder_out(k->c->dnnl, k->w, k->c->plain > 0 ? plain :
	    k->t->dw[0]);
	if (k->c->plain > 0)
		pad(k->t, plain, 0);
}

static void
forward(struct task *t)
{
	struct call k = call(t, CONV_FORWARD, t->x[0], t->y);

	weights_in(&k);
	k.b = t->op->bias ? (char *)t->w[1] : NULL;
	cpu_run(t, k.c->chunks, run_chunk, &k);
}

struct parts { const struct kernels *k; char *to; size_t step; int n; };

static void
add_parts(size_t from, size_t to, void *arg)
{
	const struct parts *p = arg;
	float *sum = (float *)p->to + from;

	for (int i = 1; i < p->n; i++)
		p->k->add(sum, sum, (const float *)(p->to + p->step * i) +
		    from, to - from);
}

static void
weight_gradient(struct task *t)
{
	struct call k = call(t, CONV_WEIGHTS, t->x[0], t->dy);
	const struct kernels *add = cpu_of(t)->k;
	struct parts w = { add, k.w, k.c->weights[CONV_WEIGHTS], k.c->chunks };

	k.w_step = w.step;
	if (t->op->bias) {
		k.b = k.w + w.step * (size_t)w.n;
		k.b_step = bias_bytes(t);
	}
	cpu_run(t, k.c->chunks, run_chunk, &k);
	cpu_ranges(cpu_of(t), dnnl_conv_weights(k.c->dnnl, CONV_WEIGHTS) /
	    sizeof(float), GRAIN, add_parts, &w);
	weights_out(&k);
	if (t->op->bias) {
		struct parts b = { add, k.b, k.b_step, k.c->chunks };

		add_parts(0, (size_t)t->out.c, &b);
		cpu_k(t)->scale(t->dw[1], 1, (float *)k.b, (size_t)t->out.c, 0);
	}
}

struct sum { const struct kernels *k; float *to; const float *from; };

static void
add_range(size_t from, size_t to, void *arg)
{
	const struct sum *s = arg;

	s->k->add(s->to + from, s->to + from, s->from + from, to - from);
}

static void
data_gradient(struct task *t)
{
	struct call k = call(t, CONV_DATA, t->dx[0], t->dy);
	struct sum sum = { cpu_of(t)->k, t->dx[0], NULL };

	if (t->accumulate[0]) {
		k.x = k.w + k.c->weights[CONV_DATA];
		sum.from = (const float *)k.x;
	}
	weights_in(&k);
	cpu_run(t, k.c->chunks, run_chunk, &k);
	if (t->accumulate[0])
		cpu_ranges(cpu_of(t), cpu_floats(&t->in[0]), GRAIN, add_range, &sum);
}

static void
backward(struct task *t)
{
	weight_gradient(t);
	if (t->dx[0] != NULL)
		data_gradient(t);
}

/* The implementations oneDNN chose: forward, weights, data. */
static void
describe(const struct task *t, char *text, size_t size)
{
	const struct conv *c = t->priv;
	size_t n = 0;

	for (int p = 0; p < CONV_PASSES && n < size; p++) {
		const char *name = dnnl_conv_name(c->dnnl, (enum conv_pass)p);

		if (*name != '\0')
			n += (size_t)snprintf(text + n, size - n, "%s%s",
			    p > 0 ? ", " : "", name);
	}
}

const struct op_impl cpu_conv = {
	.reads = READS_X, .prepare = prepare, .release = release,
	.scratch = scratch, .forward = forward, .backward = backward,
	.describe = describe,
};
