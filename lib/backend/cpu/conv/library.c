/* Convolutions by oneDNN: the jobs of the phases of a pass (library.h). */
#include <assert.h>
#include <string.h>

#include "backend/cpu/conv/library.h"
#include "backend/cpu/bf16/bf16.h"

/* ---- packing weights, and unpacking their gradients ---- */

/*
 * Return the weights in the order of the graph: those of the task, or padded
 * ones.
 */
static float *
library_outer_of(const struct conv_run *r)
{
	const struct library *o = r->p->state;
	const struct task *t = r->p->t;

	return o->plain > 0 ? r->workspace : r->p->kind == CONV_WEIGHTS ?
	    t->dw[0] : (float *)t->w[0];
}

static char *
library_part_of(const struct conv_run *r, int i)
{
	const struct library *o = r->p->state;

	return (char *)r->workspace + o->plain + o->weights * (size_t)i;
}

/*
 * Copy LIBRARY_ROWS output channels between the weights of the graph and padded
 * weights.  Where groups were merged, the weights of an output channel that
 * belong to input channels of other groups are zeros.
 */
void
library_fill(const void *state, int job, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct cpu_conv_pass *p = r->p;
	const struct task *t = p->t;
	const struct library *o = state;
	int groups = t->op->conv.groups, is_gradient = p->kind == CONV_WEIGHTS;
	size_t taps = (size_t)(p->k[0] * conv_pass_tap(p));
	size_t few = taps * (size_t)(p->in.c / groups);
	size_t many = taps * (size_t)(o->in / o->groups);
	int end = (job + 1) * LIBRARY_ROWS;

	for (int i = job * LIBRARY_ROWS; i < end && i < o->out; i++) {
		int group = i / (p->out.c / groups);
		size_t before = few * (size_t)(group % (groups / o->groups));
		float *plain = (float *)r->workspace + many * (size_t)i;

		if (!is_gradient)
			memset(plain, 0, many * sizeof(float));
		if (i >= p->out.c)
			continue;
		if (is_gradient)
			memcpy((float *)t->dw[0] + few * (size_t)i,
			    plain + before, few * sizeof(float));
		else
			memcpy(plain + before, (const float *)t->w[0] +
			    few * (size_t)i, few * sizeof(float));
	}
}

/*
 * Pack a slice of the weights of a piece, all taps; unpack one of a gradient.
 */
void
library_order(const void *state, int i, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct cpu_conv_pass *p = r->p;
	const struct library *o = state;
	const struct library_piece *piece = o->piece;
	char *inner = p->kind == CONV_WEIGHTS ? library_part_of(r, 0) :
	    r->packed;
	int tap = conv_pass_tap(p), taps = p->k[0];
	int step = taps * tap;		/* floats of a channel */

	while (i >= piece->slices)
		i -= piece++->slices;
	if (p->kind == CONV_FORWARD)
		step *= o->in / o->groups;
	for (int k = 0; k < taps; k++)
		dnnl_conv_reorder(piece->conv, b->thread, i,
		    library_outer_of(r) + (size_t)piece->channel *
		    (size_t)step + k * tap,
		    inner + piece->at + piece->bytes * (size_t)k);
}

/* ---- forward and data ---- */

/*
 * Return channel ${channel} of image ${i} of the activation ${x} of shape ${d},
 * which is &p->in or &p->out.
 */
static void *
library_image_of(const struct cpu_conv_pass *p, const struct dims *d,
    const void *x, int i, int channel)
{
	/* A piece begins at a block. */
	assert(channel % cpu_lanes() == 0);
	return (float *)x + conv_pass_image(p, d) * (size_t)i +
	    (size_t)channel * cpu_positions(d);
}

/* Return the input of a part, or its gradient, of a pass without time. */
static void *
library_part_in(const struct conv_run *r, const struct library_part *a,
    int channel)
{
	const struct dims *d = &r->p->in;

	return r->p->bf16 ? bf16_at(d, r->x, a->first, (size_t)(a->in_row *
	    d->w)) : library_image_of(r->p, d, r->x, a->first, channel);
}

static void *
library_part_out(const struct conv_run *r, const struct library_part *a,
    int channel)
{
	const struct dims *d = &r->p->out;

	return r->p->bf16 ? bf16_at(d, r->y, a->first, (size_t)(a->out_row *
	    d->w)) : library_image_of(r->p, d, r->y, a->first, channel);
}

/*
 * Return the bias from ${channel}, padded if oneDNN sees more channels, or
 * NULL.
 */
static float *
library_bias_of(const struct conv_run *r, int channel)
{
	const struct library *o = r->p->state;
	const float *bias = conv_run_bias(r);

	if (bias != NULL && o->out != r->p->out.c)
		bias = (float *)r->workspace + (size_t)o->out * (size_t)(o->in /
		    o->groups * r->p->k[0] * conv_pass_tap(r->p));
	return bias != NULL ? (float *)bias + channel : NULL;
}

/* Copy the bias, padded with zeros to the channels that oneDNN sees. */
void
library_bias(const void *state, int i, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct library *o = state;
	const float *bias = conv_run_bias(r);
	float *to = library_bias_of(r, 0);

	(void)i;
	memset(to, 0, (size_t)o->out * sizeof(float));
	memcpy(to, bias, (size_t)r->p->out.c * sizeof(float));
}

void
library_images(const void *state, int i, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct cpu_conv_pass *p = r->p;
	const struct library *o = state;
	const struct library_piece *piece = &o->piece[i % o->pieces];
	const struct library_part *a = &o->part[i / o->pieces];
	int forward = p->kind == CONV_FORWARD;

	dnnl_conv_run(piece->conv, b->thread, a->call, (void *[]){
	    library_part_in(r, a, forward ? 0 : piece->channel),
	    (char *)r->packed + piece->at,
	    library_part_out(r, a, forward ? piece->channel : 0),
	    library_bias_of(r, piece->channel), b->scratch });
}

/*
 * Fill channels ${from} to ${to} of an output frame whose taps all read
 * padding: with the bias, and with 0 in the lanes beyond the last channel.
 */
static void
library_frame_fill(const struct cpu_conv_pass *p, float *y, int from, int to)
{
	const struct task *t = p->t;
	int lanes = cpu_lanes();

	for (; from < to; from += lanes,
	    y += cpu_positions(&p->out) * (size_t)lanes) {
		float bias[LANES_MAX] = { 0 };

		for (int c = 0; t->op->conv.bias && c < lanes &&
		    from + c < p->out.c;
		    c++)
			bias[c] = ((const float *)t->w[1])[from + c];
		cpu_k(t)->plane_fill(y, cpu_positions(&p->out), bias, 0);
	}
}

/*
 * Compute an output frame: sum over the taps that read frames of the clip.
 * There are none if the padding is as long as the kernel.
 */
void
library_frame_forward(const void *state, int i, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct cpu_conv_pass *p = r->p;
	const struct library *o = state;
	const struct library_piece *piece = &o->piece[i % o->pieces];
	int end = i % o->pieces + 1 < o->pieces ? piece[1].channel :
	    cpu_padded(p->out.c);
	int frame = i / o->pieces, clip = frame / p->out.t, done = 0;
	int first = frame % p->out.t * p->s[0] - p->p[0];
	float *y = library_image_of(p, &p->out, r->y, frame, piece->channel);

	for (int j = 0; j < p->k[0]; j++) {
		if (first + j < 0 || first + j >= p->in.t)
			continue;
		dnnl_conv_run(piece->conv, b->thread, done ? o->more :
		    o->part[0].call, (void *[]){ library_image_of(p, &p->in,
		    r->x, clip * p->in.t + first + j, 0), (char *)r->packed +
		    piece->at + piece->bytes * (size_t)j, y, done ? NULL :
		    library_bias_of(r, piece->channel), b->scratch });
		done = 1;
	}
	if (!done)
		library_frame_fill(p, y, piece->channel, end);
}

/*
 * Compute a frame of the input gradient.  oneDNN cannot add to it, so add each
 * further tap from the scratch memory.
 */
void
library_frame_data(const void *state, int i, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct cpu_conv_pass *p = r->p;
	const struct task *t = p->t;
	const struct library *o = state;
	const struct library_piece *piece = &o->piece[i % o->pieces];
	int frame = i / o->pieces, clip = frame / p->in.t, done = 0;
	char *work = b->scratch;
	size_t positions = cpu_positions(&p->in), n = conv_pass_image(p,
	    &p->in);
	float *x = library_image_of(p, &p->in, r->x, frame, piece->channel);

	if (i % o->pieces + 1 < o->pieces)
		n = (size_t)piece[1].channel * positions;
	n -= (size_t)piece->channel * positions;
	for (int j = 0; j < p->k[0]; j++) {
		int at = frame % p->in.t + p->p[0] - j;
		float *to = done ? (float *)(work + o->scratch) : x;

		if (at < 0 || at % p->s[0] != 0 ||
		    at / p->s[0] >= p->out.t)
			continue;
		dnnl_conv_run(piece->conv, b->thread, o->part[0].call,
		    (void *[]){ to, (char *)r->packed + piece->at +
		    piece->bytes * (size_t)j, library_image_of(p, &p->out,
		    r->y, clip * p->out.t + at / p->s[0], 0), NULL, work });
		if (done)
			cpu_k(t)->add(x, x, to, n);
		done = 1;
	}
	if (!done)
		memset(x, 0, n * sizeof(float));
}

/* ---- weight gradients: one for each part, added in their order ---- */

int
library_frames(const struct cpu_conv_pass *p, int tap, int *from)
{
	int s = p->s[0], before = p->p[0] - tap, to;

	*from = before > 0 ? div_up(before, s) : 0;
	to = p->in.t - 1 + before;		/* of the input, times s */
	to = to < 0 ? 0 : to / s + 1;
	to = to < p->out.t ? to : p->out.t;
	return to > *from ? to - *from : 0;
}

void
library_part(const void *state, int i, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct library *o = state;
	const struct library_part *a = &o->part[i];

	dnnl_conv_run(o->piece->conv, b->thread, a->call, (void *[]){
	    library_part_in(r, a, 0), library_part_of(r, i),
	    library_part_out(r, a, 0), NULL, b->scratch });
}

/*
 * Compute one tap of one part, clip by clip.  Without a stride in time, a call
 * takes all frames of a clip that the tap uses.
 */
void
library_part_tap(const void *state, int i, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct cpu_conv_pass *p = r->p;
	const struct task *t = p->t;
	const struct library *o = state;
	int taps = p->k[0], tap = i % taps, from;
	const struct library_part *a = &o->part[i / taps];
	const struct library_piece *piece = o->piece;
	int frames = library_frames(p, tap, &from), s = p->s[0];
	int calls = s > 1 ? frames : frames > 0, done = 0;
	char *work = b->scratch;
	float *w = (float *)(library_part_of(r, i / taps) + piece->bytes *
	    (size_t)tap);

	for (int j = 0; j < calls * a->images; j++) {
		int clip = a->first + j / calls, frame = from + j % calls;
		float *to = done ? (float *)(work + o->scratch) : w;

		dnnl_conv_run(piece->conv, b->thread, o->tap[tap], (void *[]){
		    library_image_of(p, &p->in, r->x, clip * p->in.t + frame *
		    s - p->p[0] + tap, 0), to, library_image_of(p, &p->out,
		    r->y, clip * p->out.t + frame, 0), NULL, work });
		if (done)
			cpu_k(t)->add(w, w, to, piece->bytes / sizeof(float));
		done = 1;
	}
	if (!done)
		memset(w, 0, piece->bytes);
}

void
library_add(const void *state, int job, const struct conv_buffers *b)
{
	const struct conv_run *r = b->run;
	const struct library *o = state;
	size_t from = (size_t)job * LIBRARY_GRAIN;
	size_t all = o->weights / sizeof(float);
	size_t n = all - from < LIBRARY_GRAIN ? all - from : LIBRARY_GRAIN;
	float *sum = (float *)library_part_of(r, 0) + from;

	for (int i = 1; i < o->parts; i++)
		cpu_k(r->p->t)->add(sum, sum, (float *)library_part_of(r, i) +
		    from, n);
}
