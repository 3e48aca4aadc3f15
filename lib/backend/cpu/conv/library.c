/* Convolutions by oneDNN: the jobs of a pass (library.h). */
#include <string.h>

#include "backend/cpu/conv/library.h"
#include "backend/cpu/half/half.h"

/* ---- the order of weights and of their gradients ---- */

/* The weights that the library orders: the graph's, or those filled up. */
static float *
outer_of(const struct run *r)
{
	const struct library *o = r->p->own;
	const struct task *t = r->p->t;

	return o->plain > 0 ? r->spare : r->p->kind == CONV_WEIGHTS ?
	    t->dw[0] : (float *)t->w[0];
}

static char *
part_of(const struct run *r, int i)
{
	const struct library *o = r->p->own;

	return (char *)r->spare + o->plain + o->weights * (size_t)i;
}

/*
 * Copy LIBRARY_ROWS output channels between the order of the graph and a copy
 * with more channels: input channels come after ${before} that are others' in
 * the group.
 */
void
library_fill(int job, int thread, void *arg)
{
	const struct run *r = arg;
	const struct task *t = r->p->t;
	const struct library *o = r->p->own;
	int groups = t->op->groups, is_gradient = r->p->kind == CONV_WEIGHTS;
	size_t taps = (size_t)(t->op->k[0] * pass_tap(r->p));
	size_t few = taps * (size_t)(t->in[0].c / groups);
	size_t many = taps * (size_t)(o->in / o->groups);
	int end = (job + 1) * LIBRARY_ROWS;

	(void)thread;
	for (int i = job * LIBRARY_ROWS; i < end && i < o->out; i++) {
		int group = i / (t->out.c / groups);
		size_t before = few * (size_t)(group % (groups / o->groups));
		float *plain = (float *)r->spare + many * (size_t)i;

		if (!is_gradient)
			memset(plain, 0, many * sizeof(float));
		if (i >= t->out.c)
			continue;
		if (is_gradient)
			memcpy((float *)t->dw[0] + few * (size_t)i,
			    plain + before, few * sizeof(float));
		else
			memcpy(plain + before, (const float *)t->w[0] +
			    few * (size_t)i, few * sizeof(float));
	}
}

/* Order a slice of a piece's weights, all taps; of a gradient, back again. */
void
library_order(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct library *o = p->own;
	const struct piece *piece = o->piece;
	char *inner = p->kind == CONV_WEIGHTS ? part_of(r, 0) : r->kept;
	int tap = pass_tap(p), taps = p->t->op->k[0];
	int step = taps * tap;		/* of a channel */

	while (i >= dnnl_conv_slices(piece->conv))
		i -= dnnl_conv_slices(piece++->conv);
	if (p->kind == CONV_FORWARD)
		step *= o->in / o->groups;
	for (int k = 0; k < taps; k++)
		dnnl_conv_order(piece->conv, thread, i, outer_of(r) +
		    (size_t)piece->channel * (size_t)step + k * tap,
		    inner + piece->at + piece->bytes * (size_t)k);
}

/* ---- forward and data ---- */

/* Image ${i} of the activation ${x}, from ${channel} on. */
static void *
image_of(const struct pass *p, const struct dims *d, const void *x, int i,
    int channel)
{
	if (p->bf16)
		return half_at(d, x, i, 0) + channel;
	return (float *)x + cpu_image(d) * (size_t)i +
	    (size_t)channel * cpu_places(d);
}

/* The bias, as many numbers as the library is told channels; NULL of none. */
static float *
bias_of(const struct run *r, int channel)
{
	const struct library *o = r->p->own;
	const float *bias = run_bias(r);

	if (bias != NULL && o->out != r->p->t->out.c)
		bias = (float *)r->spare + (size_t)o->out *
		    (size_t)(o->in * pass_tap(r->p));
	return bias != NULL ? (float *)bias + channel : NULL;
}

/* Copy the bias and fill it up with zeros to the library's channels. */
void
library_bias(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct library *o = r->p->own;
	const float *bias = run_bias(r);
	float *to = bias_of(r, 0);

	(void)i;
	(void)thread;
	memset(to, 0, (size_t)o->out * sizeof(float));
	memcpy(to, bias, (size_t)r->p->t->out.c * sizeof(float));
}

void
library_images(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct library *o = p->own;
	const struct piece *piece = &o->piece[i % o->pieces];
	const struct part *a = &o->part[i / o->pieces];
	int forward = p->kind == CONV_FORWARD;

	dnnl_conv_run(piece->conv, thread, a->call,
	    image_of(p, &p->t->in[0], r->x, a->first,
	    forward ? 0 : piece->channel), (char *)r->kept + piece->at,
	    bias_of(r, piece->channel), image_of(p, &p->t->out, r->y, a->first,
	    forward ? piece->channel : 0), run_scratch(r, thread));
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

/* Compute an output frame: sum the taps that fall on frames of the clip.  None
 * does if the padding is as long as the kernel. */
void
library_frame_forward(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct task *t = p->t;
	const struct library *o = p->own;
	const struct piece *piece = &o->piece[i % o->pieces];
	int end = i % o->pieces + 1 < o->pieces ? piece[1].channel :
	    cpu_padded(t->out.c);
	int frame = i / o->pieces, clip = frame / t->out.t, done = 0;
	int first = frame % t->out.t * t->op->s[0] - t->op->p[0];
	float *y = image_of(p, &t->out, r->y, frame, piece->channel);

	for (int j = 0; j < t->op->k[0]; j++) {
		if (first + j < 0 || first + j >= t->in[0].t)
			continue;
		dnnl_conv_run(piece->conv, thread, done ? o->more :
		    o->part[0].call, image_of(p, &t->in[0], r->x,
		    clip * t->in[0].t + first + j, 0), (char *)r->kept +
		    piece->at + piece->bytes * (size_t)j, done ? NULL :
		    bias_of(r, piece->channel), y, run_scratch(r, thread));
		done = 1;
	}
	if (!done)
		frame_fill(t, y, piece->channel, end);
}

/* Compute a frame of the input gradient.  oneDNN cannot add to one. */
void
library_frame_data(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct task *t = p->t;
	const struct library *o = p->own;
	const struct piece *piece = &o->piece[i % o->pieces];
	int frame = i / o->pieces, clip = frame / t->in[0].t, done = 0;
	char *work = run_scratch(r, thread);
	size_t places = cpu_places(&t->in[0]), n = cpu_image(&t->in[0]);
	float *x = image_of(p, &t->in[0], r->x, frame, piece->channel);

	if (i % o->pieces + 1 < o->pieces)
		n = (size_t)piece[1].channel * places;
	n -= (size_t)piece->channel * places;
	for (int j = 0; j < t->op->k[0]; j++) {
		int at = frame % t->in[0].t + t->op->p[0] - j;
		float *to = done ? (float *)(work + o->scratch) : x;

		if (at < 0 || at % t->op->s[0] != 0 ||
		    at / t->op->s[0] >= t->out.t)
			continue;
		dnnl_conv_run(piece->conv, thread, o->part[0].call, to,
		    (char *)r->kept + piece->at + piece->bytes * (size_t)j,
		    NULL, image_of(p, &t->out, r->y, clip * t->out.t +
		    at / t->op->s[0], 0), work);
		if (done)
			cpu_k(t)->add(x, x, to, n);
		done = 1;
	}
	if (!done)
		memset(x, 0, n * sizeof(float));
}

/* ---- weights: a gradient for each part, added in their order ---- */

int
library_frames(const struct task *t, int tap, int *from)
{
	const struct op *op = t->op;
	int s = op->s[0], p = op->p[0], to;

	*from = tap < p ? (p - tap + s - 1) / s : 0;
	to = t->in[0].t - 1 + p - tap;		/* of the input, times s */
	to = to < 0 ? 0 : to / s + 1;
	to = to < t->out.t ? to : t->out.t;
	return to > *from ? to - *from : 0;
}

void
library_part(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct library *o = p->own;
	const struct part *a = &o->part[i];

	dnnl_conv_run(o->piece->conv, thread, a->call,
	    image_of(p, &p->t->in[0], r->x, a->first, 0), part_of(r, i), NULL,
	    image_of(p, &p->t->out, r->y, a->first, 0), run_scratch(r, thread));
}

/* One tap of one part: its clips, by runs of frames where they touch. */
void
library_part_tap(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct task *t = p->t;
	const struct library *o = p->own;
	int taps = t->op->k[0], tap = i % taps, from;
	const struct part *a = &o->part[i / taps];
	const struct piece *piece = o->piece;
	int frames = library_frames(t, tap, &from), s = t->op->s[0];
	int calls = s > 1 ? frames : frames > 0, done = 0;
	char *work = run_scratch(r, thread);
	float *w = (float *)(part_of(r, i / taps) + piece->bytes * (size_t)tap);

	for (int j = 0; j < calls * a->images; j++) {
		int clip = a->first + j / calls, frame = from + j % calls;
		float *to = done ? (float *)(work + o->scratch) : w;

		dnnl_conv_run(piece->conv, thread, o->tap[tap],
		    image_of(p, &t->in[0], r->x, clip * t->in[0].t + frame * s -
		    t->op->p[0] + tap, 0), to, NULL, image_of(p, &t->out, r->y,
		    clip * t->out.t + frame, 0), work);
		if (done)
			cpu_k(t)->add(w, w, to, piece->bytes / sizeof(float));
		done = 1;
	}
	if (!done)
		memset(w, 0, piece->bytes);
}

void
library_add(int job, int thread, void *arg)
{
	const struct run *r = arg;
	const struct library *o = r->p->own;
	size_t from = (size_t)job * LIBRARY_GRAIN;
	size_t all = o->weights / sizeof(float);
	size_t n = all - from < LIBRARY_GRAIN ? all - from : LIBRARY_GRAIN;
	float *sum = (float *)part_of(r, 0) + from;

	(void)thread;
	for (int i = 1; i < o->parts; i++)
		cpu_k(r->p->t)->add(sum, sum, (float *)part_of(r, i) + from, n);
}
