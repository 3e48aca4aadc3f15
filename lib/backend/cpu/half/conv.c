/*
 * Convolutions in bf16: activations as they lie, fp32 weights brought into the
 * library's order, where they are bf16, once for each pass, or as long as they
 * stay the same; sums in fp32.  Without AMX, 3x3 kernels of stride 1 are
 * multiplied in fp32 by Winograd's algorithm (conv_winograd.h).
 *
 * Channels are told as they lie, filled up: weights of those that are not
 * there are 0, and so are their outputs and gradients.  What has groups, or
 * extent in time, or one place an image, runs in fp32 on widened copies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/half/conv.h"
#include "base/mem.h"

#define GRAIN 16384

/* Calls that a thread gets: what one whose thread waits for a core leaves
 * undone, the others take. */
#define RUNS_A_THREAD 4

static int
is_ours(const struct task *t)
{
	const struct op *op = t->op;

	return half_is(&t->in[0]) && half_is(&t->out) && op->groups == 1 &&
	    op->k[0] == 1 && op->s[0] == 1 && op->p[0] == 0 &&
	    !cpu_is_pixels(&t->out);
}

/*
 * Parts of a weight gradient, whatever the number of threads: as in fp32, a
 * part is at least 800 places, since a whole gradient is written for it.
 */
static int
weight_parts(const struct task *t)
{
	size_t places = cpu_places(&t->out) * (size_t)cpu_images(&t->out);
	int parts = places >= 6400 ? 8 : places >= 1600 ? 4 : 2;

	return parts < cpu_images(&t->out) ? parts : cpu_images(&t->out);
}

/* ---- making ready ---- */

/*
 * Passes as products of our own, where there is AMX, rather than by oneDNN
 * 2.6.  GF/s of one thread of a Sapphire Rapids, 16 images, the other busy,
 * oneDNN's beside ours: gradients of the input with strides 63 to 132 beside
 * 225 to 410; 1x1 110 to 240 beside 200 to 365; 3x3 at 7x7 104 to 138 beside
 * 199 to 247, but 3x3 at 56x56 314 beside 236.  Forward, 1x1 at 7x7 225 to 274
 * beside 235 to 319 (343 to 555 beside 552 to 762 in a quiet minute), from few
 * channels to more 168 to 430 beside 190 to 485, and 3x3 385 beside 238.
 */
static int
prefers_product(const struct task *t, enum conv_pass pass)
{
	const struct op *op = t->op;
	int taps = op->k[1] * op->k[2];

	if (cpu_of(t)->amx == NULL || cpu_is_pixels(&t->in[0]))
		return 0;
	if (pass == CONV_DATA)
		return taps == 1 || op->s[1] > 1 || op->s[2] > 1 ||
		    cpu_places(&t->out) < 100;
	return pass == CONV_FORWARD && taps == 1 &&
	    (cpu_places(&t->out) < 100 || (op->s[1] == 1 && op->s[2] == 1 &&
	    t->out.c >= t->in[0].c));
}

static struct product_shape
shape_of(const struct task *t, enum conv_pass pass)
{
	const struct conv *c = t->priv;
	const struct op *op = t->op;

	return (struct product_shape){ .images = cpu_images(&t->out),
		.in = t->in[0].c, .out = t->out.c, .in_row = c->in,
		.out_row = c->out, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out_h = t->out.h, .out_w = t->out.w,
		.k = { op->k[1], op->k[2] }, .s = { op->s[1], op->s[2] },
		.p = { op->p[1], op->p[2] }, .back = pass == CONV_DATA };
}

static int
make_product(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	struct product_shape s = shape_of(t, pass);

	p->product = product_new(&s, pool_threads(cpu_of(t)->pool));
	p->bytes = cpu_pages(product_weights(p->product));
	if (product_scratch(p->product) > c->library)
		c->library = product_scratch(p->product);
	return 0;
}

/*
 * Weights' gradients by sums of our own, where there is AMX, measured as
 * above: 1x1 of 56x56 to 7x7 80 to 100, 58 to 77, 23 to 36 by oneDNN beside 160
 * to 250; with strides 21 to 130 beside 140 to 300; 3x3 at 56x56, 28x28 alike,
 * at 14x14 and 7x7 132 and 66 beside 240 and 200; the stem 43 beside 145.  But
 * 3x3 of 16 channels, half a block: 230 beside 175.
 */
static int
prefers_tiles(const struct task *t)
{
	const struct conv *c = t->priv;
	const struct op *op = t->op;
	struct product_shape s = shape_of(t, CONV_WEIGHTS);
	int narrow = c->in == 16 || c->out == 16;

	return cpu_of(t)->amx != NULL && places_can(&s) && !(narrow &&
	    op->k[1] * op->k[2] > 1 && op->s[1] == 1 && op->s[2] == 1);
}

static int
make_weights(struct task *t)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[CONV_WEIGHTS];
	struct product_shape s = shape_of(t, CONV_WEIGHTS);

	p->weights = weights_new(&s, pool_threads(cpu_of(t)->pool));
	p->runs = 1;
	p->bytes = cpu_pages(weights_sums(p->weights));
	if (weights_scratch(p->weights) > c->library)
		c->library = weights_scratch(p->weights);
	return 0;
}

static int
make_winograd(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];

	p->by_winograd = 1;
	conv_winograd_make(&p->winograd, t, pass, 1);
	p->runs = 1;
	p->bytes = p->winograd.weights;
	if (p->winograd.scratch > c->library)
		c->library = p->winograd.scratch;
	return 0;
}

static int
make_pass(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	const struct op *op = t->op;
	int images = cpu_images(&t->out);
	int most = RUNS_A_THREAD * pool_threads(cpu_of(t)->pool);
	struct conv_shape s = { .in = c->in, .out = c->out, .groups = 1,
		.in_h = t->in[0].h, .in_w = t->in[0].w, .out_h = t->out.h,
		.out_w = t->out.w, .bias = op->bias, .bf16 = 1,
		.k = { op->k[1], op->k[2] }, .s = { op->s[1], op->s[2] },
		.p = { op->p[1], op->p[2] }, .in_step = (int)conv_taps(t),
		.out_step = c->in * (int)conv_taps(t) };

	if (cpu_of(t)->amx == NULL && conv_winograd_fits(t, pass))
		return make_winograd(t, pass);
	if (prefers_product(t, pass))
		return make_product(t, pass);
	if (pass == CONV_WEIGHTS && prefers_tiles(t))
		return make_weights(t);
	p->runs = pass == CONV_WEIGHTS ? weight_parts(t) :
	    images < most ? images : most;
	p->run = xcalloc((size_t)p->runs, sizeof(*p->run));
	p->conv = dnnl_conv_new(cpu_of(t)->dnnl, op->name, pass, &s);
	if (p->conv == NULL)
		return -1;
	for (int i = 0; i < p->runs; i++) {
		struct run *r = &p->run[i];

		r->first = (int)((long)images * i / p->runs);
		r->images = (int)((long)images * (i + 1) / p->runs) - r->first;
		r->call = dnnl_conv_call(p->conv, r->images, 0);
		if (r->call < 0)
			return -1;
	}
	p->bytes = cpu_pages(dnnl_conv_weights(p->conv));
	if (dnnl_conv_scratch(p->conv) > c->library)
		c->library = dnnl_conv_scratch(p->conv);
	return 0;
}

static int
prepare(struct task *t)
{
	const int wants[CONV_PASSES] = { [CONV_FORWARD] = 1,
		[CONV_WEIGHTS] = t->wants_dw, [CONV_DATA] = t->wants_dx[0] };
	struct conv *c;

	if (!is_ours(t)) {
		t->impl = &half_widened;
		return t->impl->prepare(t);
	}
	t->priv = c = xcalloc(1, sizeof(*c));
	c->in = half_row(&t->in[0]);
	c->out = half_row(&t->out);
	if (c->in != t->in[0].c || c->out != t->out.c)
		c->plain = cpu_pages(((size_t)c->out * (size_t)c->in * conv_taps(t) +
		    (size_t)c->out) * sizeof(float));
	for (int p = 0; p < CONV_PASSES; p++)
		if (wants[p] && make_pass(t, (enum conv_pass)p) != 0)
			return -1;
	c->library = cpu_pages(c->library);
	return 0;
}

static void
release(struct task *t)
{
	struct conv *c = t->priv;

	if (c == NULL)
		return;
	for (int i = 0; i < CONV_PASSES; i++) {
		dnnl_conv_free(c->pass[i].conv);
		product_free(c->pass[i].product);
		weights_free(c->pass[i].weights);
		free(c->pass[i].run);
	}
	free(c);
	t->priv = NULL;
}

/* ---- kept: weights in order, forward and backward ---- */

static size_t
kept(const struct task *t)
{
	const struct conv *c = t->priv;

	return t->repeats ? c->pass[CONV_FORWARD].bytes +
	    c->pass[CONV_DATA].bytes : 0;
}

/* ---- scratch: the library's, weights filled up, those of a pass ---- */

static size_t
scratch(const struct task *t)
{
	const struct conv *c = t->priv;
	const struct pass *p = c->pass;
	size_t most = p[CONV_FORWARD].bytes;

	if (!t->idle) {
		size_t data = p[CONV_DATA].bytes, weights =
		    p[CONV_WEIGHTS].bytes * (size_t)p[CONV_WEIGHTS].runs;

		if (t->accumulate[0] && p[CONV_DATA].conv != NULL)
			data += half_bytes(&t->in[0]);
		most = data > most ? data : most;
		most = weights > most ? weights : most;
	}
	return c->library * (size_t)pool_threads(cpu_of(t)->pool) + c->plain +
	    most;
}

struct call
half_conv_call(struct task *t, enum conv_pass pass, const void *x, const void *y)
{
	struct conv *c = t->priv;
	struct call k = { .t = t, .c = c, .p = &c->pass[pass], .x = (void *)x,
		.y = (void *)y, .work = t->scratch };

	k.plain = k.work + c->library * (size_t)pool_threads(cpu_of(t)->pool);
	k.w = k.plain + c->plain;
	k.rest = k.w + k.p->bytes;
	if (t->repeats && pass != CONV_WEIGHTS)
		k.w = (char *)t->kept + (pass == CONV_DATA ?
		    c->pass[CONV_FORWARD].bytes : 0);
	return k;
}

/* Output channels ${from} to ${to} of the weights into a copy filled up. */
static void
fill(size_t from, size_t to, void *arg)
{
	const struct call *k = arg;
	size_t few = conv_taps(k->t) * (size_t)k->t->in[0].c;
	size_t many = conv_taps(k->t) * (size_t)k->c->in;

	for (size_t o = from; o < to; o++) {
		float *plain = (float *)k->plain + many * o;

		memset(plain, 0, many * sizeof(float));
		if (o < (size_t)k->t->out.c)
			memcpy(plain, (const float *)k->t->w[0] + few * o,
			    few * sizeof(float));
	}
}

static void
order_slice(int i, int thread, void *arg)
{
	struct call *k = arg;
	float *outer = k->c->plain > 0 ? (float *)k->plain :
	    (float *)k->t->w[0];

	dnnl_conv_order(k->p->conv, thread, i, outer, k->w);
}

static void
order_product(int i, int thread, void *arg)
{
	const struct call *k = arg;

	(void)thread;
	product_order(k->p->product, i, k->t->w[0], k->w);
}

static void
order_weights(struct call *k)
{
	if (k->t->repeats && !k->t->renew)
		return;
	if (k->p->by_winograd) {
		conv_winograd_order(&k->p->winograd, k->t, k->w);
		return;
	}
	if (k->p->product != NULL) {
		cpu_run(k->t, product_slices(k->p->product), order_product, k);
		return;
	}
	if (k->c->plain > 0)
		cpu_ranges(cpu_of(k->t), (size_t)k->c->out, 16, fill, k);
	cpu_run(k->t, dnnl_conv_slices(k->p->conv), order_slice, k);
}

/* The bias, filled up behind the weights that are; NULL of none. */
static float *
bias(const struct call *k)
{
	const struct task *t = k->t;
	float *b = (float *)k->plain + conv_taps(t) * (size_t)k->c->in *
	    (size_t)k->c->out;

	if (!t->op->bias || k->p != &k->c->pass[CONV_FORWARD])
		return NULL;
	return k->c->plain > 0 ? b : (float *)t->w[1];
}

static void
run_images(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct run *r = &k->p->run[i];

	dnnl_conv_run(k->p->conv, thread, r->call,
	    half_at(&k->t->in[0], k->x, r->first, 0), k->w, bias(k),
	    half_at(&k->t->out, k->y, r->first, 0),
	    k->work + k->c->library * (size_t)thread);
}

static void
run_product(int i, int thread, void *arg)
{
	const struct call *k = arg;
	int back = k->p == &k->c->pass[CONV_DATA];

	product_run(k->p->product, i, back ? k->y : k->x, k->w, bias(k),
	    back ? k->x : k->y, back && k->t->accumulate[0],
	    k->work + k->c->library * (size_t)thread);
}

static void
forward(struct task *t)
{
	struct call k = half_conv_call(t, CONV_FORWARD, t->x[0], t->y);

	order_weights(&k);
	if (k.p->by_winograd) {
		conv_winograd_run(&k.p->winograd, t, k.x, k.y, k.w, 0, k.work,
		    k.c->library);
		return;
	}
	if (t->op->bias && k.c->plain > 0) {
		memset(bias(&k), 0, (size_t)k.c->out * sizeof(float));
		memcpy(bias(&k), t->w[1], (size_t)t->out.c * sizeof(float));
	}
	if (k.p->product != NULL)
		cpu_run(t, product_jobs(k.p->product), run_product, &k);
	else
		cpu_run(t, k.p->runs, run_images, &k);
}

struct sum { const struct half_kernels *k; bf16 *to; const bf16 *from; };

static void
add_range(size_t from, size_t to, void *arg)
{
	const struct sum *s = arg;

	s->k->add(s->to + from, s->to + from, s->from + from, to - from);
}

static void
data_gradient(struct task *t)
{
	struct call k = half_conv_call(t, CONV_DATA, t->dx[0], t->dy);
	struct sum sum = { half_k(t), t->dx[0], NULL };

	order_weights(&k);
	if (k.p->by_winograd) {
		conv_winograd_run(&k.p->winograd, t, k.y, k.x, k.w,
		    t->accumulate[0], k.work, k.c->library);
		return;
	}
	if (k.p->product != NULL) {
		cpu_run(t, product_jobs(k.p->product), run_product, &k);
		return;
	}
	if (t->accumulate[0]) {
		k.x = k.rest;
		sum.from = k.x;
	}
	cpu_run(t, k.p->runs, run_images, &k);
	if (t->accumulate[0])
		cpu_ranges(cpu_of(t), half_image(&t->in[0]) *
		    (size_t)cpu_images(&t->in[0]), GRAIN, add_range, &sum);
}

static void
backward(struct task *t)
{
	if (t->wants_dw)
		half_conv_weights(t);
	if (t->dx[0] != NULL)
		data_gradient(t);
}

/* The implementations: forward, weights, data. */
static void
describe(const struct task *t, char *text, size_t size)
{
	const struct conv *c = t->priv;
	size_t n = 0;

	for (int i = 0; i < CONV_PASSES && n < size; i++) {
		const struct pass *p = &c->pass[i];
		const char *how = p->product != NULL ? "product of AMX tiles" :
		    p->by_winograd ? "winograd" :
		    p->weights != NULL ? "sum of AMX tiles" :
		    p->conv != NULL ? dnnl_conv_name(p->conv) : NULL;

		if (how != NULL)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
			    i > 0 ? ", " : "", how);
	}
}

const struct op_impl half_conv = {
	.reads = READS_X_DW, .prepare = prepare, .release = release,
	.scratch = scratch, .kept = kept, .forward = forward,
	.backward = backward, .describe = describe,
};
