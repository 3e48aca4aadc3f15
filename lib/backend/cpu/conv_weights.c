/* Convolutions: weights in the order of a pass, and their gradient. */
#include <string.h>

#include "backend/cpu/conv.h"

#define GRAIN 16384

/* ---- the weights' order ---- */

/*
 * Output channels ${from} to ${to} between the order of the graph and a copy
 * with more input channels: after ${before} that are others' in the group.
 */
struct fill { struct task *t; float *plain; int out; };

static void
fill(size_t from, size_t to, void *arg)
{
	const struct fill *f = arg;
	struct task *t = f->t;
	const struct conv *c = t->priv;
	int groups = t->op->groups;
	size_t taps = (size_t)t->op->k[0] * conv_tap(t->op);
	size_t few = taps * (size_t)(t->in[0].c / groups);
	size_t many = taps * (size_t)(c->in / c->groups);

	for (size_t o = from; o < to; o++) {
		size_t group = o / (size_t)(t->out.c / groups);
		size_t before = few * (group % (size_t)(groups / c->groups));
		float *plain = f->plain + many * o;

		if (f->out) {
			memcpy((float *)t->dw[0] + few * o, plain + before,
			    few * sizeof(float));
			continue;
		}
		memset(plain, 0, many * sizeof(float));
		memcpy(plain + before, (const float *)t->w[0] + few * o,
		    few * sizeof(float));
	}
}

static void
fill_up(struct call *k, int out)
{
	struct fill f = { k->t, (float *)k->plain, out };

	if (k->c->plain > 0)
		cpu_ranges(cpu_of(k->t), (size_t)k->t->out.c, 16, fill, &f);
}

struct order { struct call *k; float *outer; };

/* A slice of a piece, all its taps. */
static void
order_slice(int i, int thread, void *arg)
{
	struct order *o = arg;
	const struct op *op = o->k->t->op;
	struct piece *piece = o->k->p->piece;
	int step = op->k[0] * conv_tap(op);	/* of a channel */

	while (i >= dnnl_conv_slices(piece->conv))
		i -= dnnl_conv_slices(piece++->conv);
	if (o->k->p == &o->k->c->pass[CONV_FORWARD])
		step *= o->k->c->in / o->k->c->groups;
	for (int tap = 0; tap < op->k[0]; tap++)
		dnnl_conv_order(piece->conv, thread, i, o->outer +
		    (size_t)piece->channel * step + tap * conv_tap(op),
		    o->k->w + piece->at + piece->bytes * (size_t)tap);
}

static void
order_direct(int i, int thread, void *arg)
{
	struct call *k = arg;

	(void)thread;
	direct_order(&k->p->direct, i, k->t->w[0], (float *)k->w);
}

static void
order_grouped(int i, int thread, void *arg)
{
	struct call *k = arg;

	(void)thread;
	grouped_order(&k->p->grouped, k->p == &k->c->pass[CONV_DATA], i,
	    k->t->w[0], (float *)k->w);
}

void
conv_order(struct call *k)
{
	int gradient = k->p == &k->c->pass[CONV_WEIGHTS], n = 0;
	struct order o = { k, (float *)k->plain };

	if (k->p->by == CONV_DIRECT) {
		cpu_run(k->t, direct_slices(&k->p->direct), order_direct, k);
		return;
	}
	if (k->p->by == CONV_WINOGRAD) {
		conv_winograd_order(&k->p->winograd, k->t, k->w);
		return;
	}
	if (k->p->by == CONV_GROUPED) {
		cpu_run(k->t, grouped_blocks(&k->p->grouped,
		    k->p == &k->c->pass[CONV_DATA]), order_grouped, k);
		return;
	}
	if (k->c->plain == 0)
		o.outer = gradient ? k->t->dw[0] : (float *)k->t->w[0];
	else if (!gradient)
		fill_up(k, 0);
	for (int i = 0; i < k->p->pieces; i++)
		n += dnnl_conv_slices(k->p->piece[i].conv);
	cpu_run(k->t, n, order_slice, &o);
	if (gradient)
		fill_up(k, 1);
}

/* ---- weights: a gradient for each part, added in their order ---- */

static void
part_images(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct run *r = &k->p->run[i];

	dnnl_conv_run(k->p->piece->conv, thread, r->call,
	    conv_image(&k->t->in[0], k->x, r->first), k->w + k->p->bytes * (size_t)i,
	    NULL, conv_image(&k->t->out, k->y, r->first),
	    k->work + k->c->work * (size_t)thread);
}

/* One tap of one part: its clips, by runs of frames where they touch. */
static void
part_tap(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct task *t = k->t;
	int taps = t->op->k[0], tap = i % taps, from;
	const struct run *r = &k->p->run[i / taps];
	const struct piece *piece = k->p->piece;
	int frames = conv_frames(t, tap, &from), s = t->op->s[0];
	int calls = s > 1 ? frames : frames > 0, done = 0;
	char *work = k->work + k->c->work * (size_t)thread;
	float *w = (float *)(k->w + k->p->bytes * (size_t)(i / taps) +
	    piece->bytes * (size_t)tap);

	for (int j = 0; j < calls * r->images; j++) {
		int clip = r->first + j / calls, frame = from + j % calls;
		float *to = done ? (float *)(work + k->c->library) : w;

		dnnl_conv_run(piece->conv, thread, k->c->tap[tap],
		    conv_image(&t->in[0], k->x, clip * t->in[0].t + frame * s -
		    t->op->p[0] + tap), to, NULL, conv_image(&t->out, k->y,
		    clip * t->out.t + frame), work);
		if (done)
			conv_add(k, w, to, piece->bytes / sizeof(float));
		done = 1;
	}
	if (!done)
		memset(w, 0, piece->bytes);
}

static void
add_parts(size_t from, size_t to, void *arg)
{
	struct call *k = arg;
	float *sum = (float *)k->w + from;

	for (int i = 1; i < k->p->runs; i++)
		conv_add(k, sum, (float *)(k->w + k->p->bytes * (size_t)i) + from,
		    to - from);
}

/* The sum over all places, image by image. */
static void
bias_gradient(int block, int thread, void *arg)
{
	struct task *t = arg;
	int lanes = cpu_lanes(), first = block * lanes;
	float sum[LANES_MAX] = { 0 }, plane[LANES_MAX];

	(void)thread;
	for (int i = 0; i < cpu_images(&t->out); i++) {
		cpu_k(t)->plane_sum(cpu_plane(&t->out, t->dy, i, block),
		    cpu_places(&t->out), plane);
		for (int c = 0; c < lanes; c++)
			sum[c] += plane[c];
	}
	for (int c = 0; c < lanes && first + c < t->out.c; c++)
		((float *)t->dw[1])[first + c] = sum[c];
}

static void
library_gradient(struct call *k)
{
	if (k->c->timed)
		cpu_run(k->t, k->p->runs * k->t->op->k[0], part_tap, k);
	else
		cpu_run(k->t, k->p->runs, part_images, k);
	if (k->p->runs > 1)
		cpu_ranges(cpu_of(k->t), k->p->bytes / sizeof(float), GRAIN,
		    add_parts, k);
	conv_order(k);
}

/* ---- weights, by kernels of our own ---- */

static void
products_job(int i, int thread, void *arg)
{
	struct call *k = arg;

	outer_run(&k->p->outer, i, k->x, k->y, k->t->dw[0], (float *)k->w,
	    k->work + k->c->work * (size_t)thread);
}

static void
products_sum(int i, int thread, void *arg)
{
	struct call *k = arg;

	(void)thread;
	outer_add(&k->p->outer, i, k->t->dw[0], (float *)k->w);
}

static void
grouped_job(int i, int thread, void *arg)
{
	struct call *k = arg;

	grouped_gradient(&k->p->grouped, i, k->x, k->y, (float *)k->w,
	    k->work + k->c->work * (size_t)thread);
}

static void
grouped_sum(int i, int thread, void *arg)
{
	struct call *k = arg;

	(void)thread;
	grouped_add(&k->p->grouped, i, (float *)k->w, k->t->dw[0]);
}

void
conv_weight_gradient(struct task *t)
{
	struct call k = conv_call(t, CONV_WEIGHTS, t->x[0], t->dy);
	const struct pass *p = k.p;

	if (p->by == CONV_PRODUCTS) {
		cpu_run(t, outer_jobs(&p->outer), products_job, &k);
		cpu_run(t, outer_sums(&p->outer), products_sum, &k);
	} else if (p->by == CONV_WINOGRAD) {
		conv_winograd_gradient(&p->winograd, t, (float *)k.w, k.work,
		    k.c->work);
	} else if (p->by == CONV_GROUPED) {
		int blocks = grouped_blocks(&p->grouped, 0);

		cpu_run(t, p->runs * blocks, grouped_job, &k);
		cpu_run(t, blocks, grouped_sum, &k);
	} else {
		library_gradient(&k);
	}
	if (t->op->bias)
		cpu_run(t, cpu_blocks(t->out.c), bias_gradient, t);
}
