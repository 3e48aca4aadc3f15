/*
 * Convolutions: the operator.  A pass is cut into jobs, one for a thread to
 * run at a time: runs of images, and where there are fewer images than threads
 * windows of channels as well.  Forward and data passes are cut for the
 * threads at hand, since the bits of an image depend on nothing else.  The
 * parts of a weight gradient are a function of the shape, and are added in
 * their order.
 *
 * A kernel with extent in time is a sum over its taps: frame by frame, each
 * tap a convolution over h and w of the input frame it falls on.  oneDNN's own
 * convolutions over three dimensions want time inside of the channel blocks,
 * where no other operator has it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/conv.h"

#define GRAIN 16384

/* ---- scratch: work of each thread, weights filled up, those of a pass ---- */

static size_t
scratch(const struct task *t)
{
	const struct conv *c = t->priv;
	size_t work = c->work * (size_t)pool_threads(cpu_of(t)->pool);
	size_t most = t->repeats ? 0 : c->pass[CONV_FORWARD].bytes;

	if (!t->idle) {
		size_t data = t->repeats ? 0 : c->pass[CONV_DATA].bytes;
		size_t weights = c->pass[CONV_WEIGHTS].bytes *
		    (size_t)c->pass[CONV_WEIGHTS].runs;

		if (t->accumulate[0] && c->pass[CONV_DATA].by == CONV_DNNL)
			data += cpu_pages(cpu_floats(&t->in[0]) * sizeof(float));
		most = data > most ? data : most;
		most = weights > most ? weights : most;
	}
	return work + c->plain + most;
}

/* Weights in order, where several microbatches read them. */
static size_t
kept(const struct task *t)
{
	const struct conv *c = t->priv;

	return !t->repeats ? 0 : c->pass[CONV_FORWARD].bytes +
	    (c->shared ? 0 : c->pass[CONV_DATA].bytes);
}

struct call
conv_call(struct task *t, enum conv_pass pass, const void *x, const void *y)
{
	struct conv *c = t->priv;
	struct call k = { .t = t, .c = c, .p = &c->pass[pass], .x = (float *)x,
		.y = (float *)y, .work = t->scratch };

	k.plain = k.work + c->work * (size_t)pool_threads(cpu_of(t)->pool);
	k.w = k.plain + c->plain;
	k.order = 1;
	if (pass != CONV_WEIGHTS && t->repeats) {
		k.w = (char *)t->kept + (pass == CONV_DATA && !c->shared ?
		    c->pass[CONV_FORWARD].bytes : 0);
		k.order = t->renew && !(pass == CONV_DATA && c->shared);
	}
	return k;
}

/* ---- forward and data: jobs are a piece of a run of images ---- */

static void
run_images(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct piece *piece = &k->p->piece[i % k->p->pieces];
	const struct run *r = &k->p->run[i / k->p->pieces];
	int forward = k->p == &k->c->pass[CONV_FORWARD];
	float *x = conv_image(&k->t->in[0], k->x, r->first);
	float *y = conv_image(&k->t->out, k->y, r->first);
	float *b = NULL;

	if (forward)
		y += (size_t)piece->channel * cpu_places(&k->t->out);
	else
		x += (size_t)piece->channel * cpu_places(&k->t->in[0]);
	if (forward && k->t->op->bias)
		b = (float *)k->t->w[1] + piece->channel;
	dnnl_conv_run(piece->conv, thread, r->call, x, k->w + piece->at, b, y,
	    k->work + k->c->work * (size_t)thread);
}

static void
run_direct(int i, int thread, void *arg)
{
	struct call *k = arg;
	int back = k->p->direct.back;

	direct_run(&k->p->direct, i, back ? k->y : k->x, (float *)k->w,
	    k->t->op->bias && !back ? k->t->w[1] : NULL, back ? k->x : k->y,
	    k->more, k->work + k->c->work * (size_t)thread);
}

static void
run_grouped(int i, int thread, void *arg)
{
	struct call *k = arg;
	void *work = k->work + k->c->work * (size_t)thread;

	if (k->p == &k->c->pass[CONV_DATA])
		grouped_back(&k->p->grouped, i, k->y, (float *)k->w, k->x,
		    k->more, work);
	else
		grouped_forward(&k->p->grouped, i, k->x, (float *)k->w,
		    k->t->op->bias ? k->t->w[1] : NULL, k->y, work);
}

/* Fill channels ${from} to ${to} of an output frame whose taps all fall on
 * padding: with the bias, and with 0 above the last channel. */
static void
frame_fill(const struct task *t, float *y, int from, int to)
{
	int lanes = cpu_lanes();

	for (; from < to; from += lanes, y += cpu_places(&t->out) * (size_t)lanes) {
		float bias[LANES_MAX] = { 0 };

		for (int c = 0; t->op->bias && c < lanes && from + c < t->out.c;
		    c++)
			bias[c] = ((const float *)t->w[1])[from + c];
		cpu_k(t)->plane_fill(y, cpu_places(&t->out), bias, 0);
	}
}

/* Compute one output frame: sum the taps that fall on frames of the clip.  None
 * does if the padding is as long as the kernel. */
static void
frame_forward(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct task *t = k->t;
	const struct piece *piece = &k->p->piece[i % k->p->pieces];
	int end = i % k->p->pieces + 1 < k->p->pieces ? piece[1].channel :
	    cpu_padded(t->out.c);
	int frame = i / k->p->pieces, clip = frame / t->out.t, done = 0;
	int first = frame % t->out.t * t->op->s[0] - t->op->p[0];
	float *y = conv_image(&t->out, k->y, frame) +
	    (size_t)piece->channel * cpu_places(&t->out);

	for (int j = 0; j < t->op->k[0]; j++) {
		if (first + j < 0 || first + j >= t->in[0].t)
			continue;
		dnnl_conv_run(piece->conv, thread, done ? k->c->more :
		    k->p->run[0].call, conv_image(&t->in[0], k->x,
		    clip * t->in[0].t + first + j), k->w + piece->at +
		    piece->bytes * (size_t)j, t->op->bias && !done ?
		    (float *)t->w[1] + piece->channel : NULL, y,
		    k->work + k->c->work * (size_t)thread);
		done = 1;
	}
	if (!done)
		frame_fill(t, y, piece->channel, end);
}

/* A frame of the input gradient; the library cannot add here, so we do. */
static void
frame_data(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct task *t = k->t;
	const struct piece *piece = &k->p->piece[i % k->p->pieces];
	const struct piece *next = i % k->p->pieces + 1 < k->p->pieces ?
	    piece + 1 : NULL;
	int frame = i / k->p->pieces, clip = frame / t->in[0].t, done = 0;
	char *work = k->work + k->c->work * (size_t)thread;
	size_t places = cpu_places(&t->in[0]), n = cpu_image(&t->in[0]);
	float *x = conv_image(&t->in[0], k->x, frame) +
	    (size_t)piece->channel * places;

	n = (next != NULL ? (size_t)next->channel * places : n) -
	    (size_t)piece->channel * places;
	for (int j = 0; j < t->op->k[0]; j++) {
		int at = frame % t->in[0].t + t->op->p[0] - j;
		float *to = done ? (float *)(work + k->c->library) : x;

		if (at < 0 || at % t->op->s[0] != 0 ||
		    at / t->op->s[0] >= t->out.t)
			continue;
		dnnl_conv_run(piece->conv, thread, k->p->run[0].call, to,
		    k->w + piece->at + piece->bytes * (size_t)j, NULL,
		    conv_image(&t->out, k->y, clip * t->out.t + at / t->op->s[0]),
		    work);
		if (done)
			conv_add(k, x, to, n);
		done = 1;
	}
	if (!done)
		memset(x, 0, n * sizeof(float));
}

/* All jobs; ${frame} is one of a kernel over time. */
static void
run_pass(struct call *k, void (*frame)(int i, int thread, void *arg))
{
	int back = k->p == &k->c->pass[CONV_DATA];

	if (k->order)
		conv_order(k);
	if (k->p->by == CONV_DIRECT)
		cpu_run(k->t, k->p->direct.jobs, run_direct, k);
	else if (k->p->by == CONV_WINOGRAD)
		conv_winograd_run(&k->p->winograd, k->t, back ? k->y : k->x,
		    back ? k->x : k->y, k->w, k->more, k->work, k->c->work);
	else if (k->p->by == CONV_GROUPED)
		cpu_run(k->t, grouped_jobs(&k->p->grouped, back), run_grouped, k);
	else
		cpu_run(k->t, k->p->runs * k->p->pieces, k->c->timed ? frame :
		    run_images, k);
}

static void
forward(struct task *t)
{
	struct call k = conv_call(t, CONV_FORWARD, t->x[0], t->y);

	run_pass(&k, frame_forward);
}

struct sum { struct call *k; float *to; const float *from; };

static void
add_range(size_t from, size_t to, void *arg)
{
	const struct sum *s = arg;

	conv_add(s->k, s->to + from, s->from + from, to - from);
}

static void
data_gradient(struct task *t)
{
	struct call k = conv_call(t, CONV_DATA, t->dx[0], t->dy);
	struct sum sum = { &k, t->dx[0], NULL };
	int after = t->accumulate[0] && k.p->by == CONV_DNNL;

	k.more = t->accumulate[0];
	if (after) {
		k.x = (float *)(k.plain + k.c->plain +
		    (t->repeats ? 0 : k.p->bytes));
		sum.from = k.x;
	}
	run_pass(&k, frame_data);
	if (after)
		cpu_ranges(cpu_of(t), cpu_floats(&t->in[0]), GRAIN, add_range,
		    &sum);
}

static void
backward(struct task *t)
{
	if (t->wants_dw)
		conv_weight_gradient(t);
	if (t->dx[0] != NULL)
		data_gradient(t);
}

/* The implementations: forward, weights, data. */
static void
describe(const struct task *t, char *text, size_t size)
{
	static const char *const names[] = { [CONV_DIRECT] = "direct",
		[CONV_WINOGRAD] = "winograd", [CONV_PRODUCTS] = "products",
		[CONV_GROUPED] = "grouped" };
	const int has[CONV_PASSES] = { [CONV_FORWARD] = 1,
		[CONV_WEIGHTS] = t->wants_dw, [CONV_DATA] = t->wants_dx[0] };
	const struct conv *c = t->priv;
	size_t n = 0;

	for (int i = 0; i < CONV_PASSES && n < size; i++) {
		const struct pass *p = &c->pass[i];

		if (has[i])
			n += (size_t)snprintf(text + n, size - n, "%s%s",
			    i > 0 ? ", " : "", names[p->by] != NULL ?
			    names[p->by] : dnnl_conv_name(p->piece[0].conv));
	}
}

const struct op_impl cpu_conv = {
	.reads = READS_X_DW, .prepare = conv_prepare,
	.release = conv_release, .scratch = scratch, .kept = kept,
	.forward = forward, .backward = backward,
	.describe = describe,
};
