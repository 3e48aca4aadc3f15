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

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"
#include "backend/cpu/winograd.h"
#include "base/fail.h"
#include "base/mem.h"

#define GRAIN 16384

/*
 * Calls that a thread gets of a direct pass: what one call leaves undone while
 * its thread waits for a core, the others take.  Speed does not depend on the
 * images of a call (ResNet-50 at side 224, 1 to 16: within 5 %).
 */
#define RUNS_A_THREAD 4

/* A window of channels: out of CONV_FORWARD, in of CONV_DATA. */
struct piece {
	struct dnnl_conv *conv;
	int channel;
	size_t at, bytes;	/* of its first tap's weights; of one tap */
};

struct run { int first, images, call; };

/* By oneDNN in pieces, or by Winograd's algorithm in runs of tiles. */
struct pass {
	int pieces, runs;
	struct piece *piece;
	struct run *run;
	int tiles;		/* of a run; 0: not Winograd's */
	struct winograd winograd;
	size_t bytes;		/* of the weights of all taps, in order */
};

struct conv {
	struct pass pass[CONV_PASSES];
	int in, groups;			/* as the library is told, see widen */
	int timed;			/* taps, strides or padding in time */
	size_t plain;			/* of weights filled up with zeros; 0 if
					 * there is nothing to fill */
	size_t work;			/* scratch bytes of a thread, and of */
	size_t library;			/* them the library's; the rest is what
					 * a tap adds to an image or gradient */
	int more;			/* the call that adds */
	int *tap;			/* calls of the taps' gradients */
};

static size_t
round_up(size_t bytes)
{
	return (bytes + 4095) / 4096 * 4096;
}

/* The numbers of a tap's kernel over h and w, and of one channel's weights. */
static int
tap_of(const struct op *op)
{
	return op->k[1] * op->k[2];
}

/* What runs are cut from: images, or clips for a gradient over time. */
static int
images_of(const struct task *t, enum conv_pass pass, int timed)
{
	if (pass == CONV_WEIGHTS && timed)
		return t->out.n;
	return cpu_images(pass == CONV_DATA ? &t->in[0] : &t->out);
}

/*
 * The frames of a clip's output that tap ${k} adds to, ${n} of them from
 * ${from}; frame f reads input frame f s - p + k.
 */
static int
frames_of(const struct task *t, int k, int *from)
{
	const struct op *op = t->op;
	int s = op->s[0], p = op->p[0], to;

	*from = k < p ? (p - k + s - 1) / s : 0;
	to = t->in[0].t - 1 + p - k;		/* of the input, times s */
	to = to < 0 ? 0 : to / s + 1;
	to = to < t->out.t ? to : t->out.t;
	return to > *from ? to - *from : 0;
}

/* ---- choices ---- */

/*
 * Winograd's algorithm where it pays: on 3x3 of stride 1 from 32 channels to
 * 32 or more, where 4 x 4 tiles cover a plane well, and where there are enough
 * places for the weights' transform, 40 ns for a pair of channels.  Effective
 * GF/s of one thread on 16 images, ours, direct, oneDNN's in calls of 4 images:
 * 64 channels of 56 x 56 320, 149, 221; 128 of 28 x 28 333, 112, 231; 256 of
 * 14 x 14 259, 161, 153; 512 of 7 x 7 203, 173, 68, with 11 ms of transform to
 * 18 of work.  Its error, some 1e-6 relative, is that of the direct sum.
 */
static int
prefers_winograd(const struct task *t)
{
	const struct op *op = t->op;
	int tiles = (t->out.h + 3) / 4 * ((t->out.w + 3) / 4);
	size_t places = cpu_places(&t->out);

	return op->k[1] == 3 && op->k[2] == 3 && op->s[1] == 1 &&
	    op->s[2] == 1 && op->groups == 1 && t->in[0].c >= 32 &&
	    t->out.c >= 32 && op->p[1] <= 2 && op->p[2] <= 2 &&
	    places * 10 >= (size_t)tiles * 16 * 6 &&
	    places * (size_t)cpu_images(&t->out) >= 1024;
}

/*
 * Images of a call of oneDNN's Winograd for a weight gradient; 0: direct.  64
 * tiles a call, 4 images at least, and two calls.  In GF/s by 4 images, against
 * direct: 64 channels of 56 x 56 170, 85; 128 of 28 x 28 190, 82; 256 of 14 x
 * 14 170, 97; of 7 x 7 by 16 170, 96; but by 4 70.
 */
static int
winograd_images(const struct task *t)
{
	int tiles = (t->out.h + 3) / 4 * ((t->out.w + 3) / 4);
	int images = tiles >= 16 ? 4 : (63 + tiles) / tiles;

	return prefers_winograd(t) && cpu_lanes() == 16 &&
	    t->in[0].c >= 64 && t->out.c >= 64 &&
	    cpu_images(&t->out) >= 2 * images ? images : 0;
}

/*
 * Parts of a weight gradient, whatever the number of threads: 2, 4 or 8.  Each
 * part is a whole gradient to be written and read again, which costs as much
 * as some 80 places of convolution: at least 800 places a part, but two parts.
 */
static int
weight_parts(const struct task *t, int timed)
{
	int images = timed ? t->out.n : cpu_images(&t->out);
	size_t places = cpu_places(&t->out) * (size_t)cpu_images(&t->out);
	int parts = places >= 6400 ? 8 : places >= 1600 ? 4 : 2;

	return parts < images ? parts : images;
}

/*
 * The library takes few input channels for pixels, and groups that are no
 * multiple of a block it runs by plain loops, unless they have one channel:
 * channels are filled up, and groups joined until they are, with zeros for
 * weights.
 */
static void
widen(struct task *t)
{
	struct conv *c = t->priv;
	const struct op *op = t->op;
	int in = t->in[0].c / op->groups, out = t->out.c / op->groups;
	int lanes = cpu_lanes(), join = 1;

	if (op->groups > 1 && (in > 1 || out > 1))
		while (op->groups % join != 0 || (join < op->groups &&
		    (in * join % lanes != 0 || out * join % lanes != 0)))
			join++;
	c->groups = op->groups / join;
	c->in = c->groups > 1 || cpu_is_pixels(&t->in[0]) ? t->in[0].c :
	    cpu_padded(t->in[0].c);
	if (c->in != t->in[0].c || c->groups != op->groups)
		c->plain = round_up((size_t)t->out.c * c->in / c->groups *
		    op->k[0] * tap_of(op) * sizeof(float));
}

/* ---- making ready ---- */

static int
blocks_of(const struct task *t, enum conv_pass pass)
{
	if (((const struct conv *)t->priv)->groups > 1)
		return 1;
	return pass == CONV_FORWARD ? cpu_blocks(t->out.c) :
	    pass == CONV_DATA ? cpu_blocks(t->in[0].c) : 1;
}

static int
make_calls(struct task *t, enum conv_pass pass, struct dnnl_conv *conv)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	int from;

	if (pass == CONV_WEIGHTS && c->timed) {
		for (int k = 0; k < t->op->k[0]; k++)
			if ((c->tap[k] = dnnl_conv_call(conv,
			    t->op->s[0] > 1 || frames_of(t, k, &from) == 0 ? 1 :
			    frames_of(t, k, &from), 0)) < 0)
				return -1;
		return 0;
	}
	for (int r = 0; r < p->runs; r++)
		if ((p->run[r].call = dnnl_conv_call(conv, p->run[r].images,
		    0)) < 0)
			return -1;
	return c->timed && pass == CONV_FORWARD ?
	    (c->more = dnnl_conv_call(conv, 1, 1)) < 0 : 0;
}

static int
make_piece(struct task *t, enum conv_pass pass, int i, int winograd)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	struct piece *piece = &p->piece[i];
	const struct op *op = t->op;
	int lanes = cpu_lanes(), blocks = blocks_of(t, pass), taps = op->k[0];
	int from = blocks * i / p->pieces * lanes;
	int to = blocks * (i + 1) / p->pieces * lanes;
	struct conv_shape s = { .in = c->in, .out = t->out.c,
		.groups = c->groups, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out_h = t->out.h, .out_w = t->out.w, .bias = op->bias,
		.k = { op->k[1], op->k[2] }, .s = { op->s[1], op->s[2] },
		.p = { op->p[1], op->p[2] }, .in_step = taps * tap_of(op),
		.out_step = c->in / c->groups * taps * tap_of(op) };

	if (p->pieces > 1 && pass == CONV_FORWARD)
		s.out = (to < s.out ? to : s.out) - from;
	if (p->pieces > 1 && pass == CONV_DATA)
		s.in = (to < s.in ? to : s.in) - from;
	piece->channel = from;
	piece->conv = dnnl_conv_new(cpu_of(t)->dnnl, op->name, pass, &s,
	    winograd);
	if (make_calls(t, pass, piece->conv) != 0)
		return -1;
	piece->at = p->bytes;
	piece->bytes = round_up(dnnl_conv_weights(piece->conv));
	p->bytes += piece->bytes * (size_t)taps;
	if (dnnl_conv_scratch(piece->conv) > c->library)
		c->library = dnnl_conv_scratch(piece->conv);
	return 0;
}

static void
make_winograd(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	const struct op *op = t->op;
	struct winograd *g = &p->winograd;
	int threads = pool_threads(cpu_of(t)->pool), one = tap_of(op);
	int back = pass == CONV_DATA;
	size_t scratch;

	*g = (struct winograd){ .images = cpu_images(&t->out), .turned = back,
		.in = t->in[0].c, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out = t->out.c, .out_h = t->out.h, .out_w = t->out.w,
		.p = { op->p[1], op->p[2] },
		.in_step = one, .out_step = one * t->in[0].c };
	if (back)
		*g = (struct winograd){ .images = g->images, .turned = 1,
			.in = g->out, .in_h = g->out_h, .in_w = g->out_w,
			.out = g->in, .out_h = g->in_h, .out_w = g->in_w,
			.p = { 2 - op->p[1], 2 - op->p[2] },
			.in_step = g->out_step, .out_step = g->in_step };
	p->tiles = winograd_call_tiles(g, threads);
	p->runs = (winograd_tiles(g) + p->tiles - 1) / p->tiles;
	p->bytes = round_up(winograd_weights(g));
	scratch = winograd_scratch(g, p->tiles);
	c->library = scratch > c->library ? scratch : c->library;
}

static int
make_pass(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	int images = images_of(t, pass, c->timed);
	int threads = pool_threads(cpu_of(t)->pool);
	int winograd = c->timed || pass != CONV_WEIGHTS ? 0 :
	    winograd_images(t);

	if (pass != CONV_WEIGHTS && !c->timed && prefers_winograd(t)) {
		make_winograd(t, pass);
		return 0;
	}
	p->pieces = 1;
	p->runs = images;
	if (winograd > 0)
		p->runs = images / winograd;
	else if (pass == CONV_WEIGHTS)
		p->runs = weight_parts(t, c->timed);
	else if (!c->timed && images > threads * RUNS_A_THREAD)
		p->runs = threads * RUNS_A_THREAD;
	else if (images < threads) {
		int blocks = blocks_of(t, pass);

		p->pieces = (threads + images - 1) / images;
		p->pieces = p->pieces < blocks ? p->pieces : blocks;
	}
	p->run = xcalloc((size_t)p->runs, sizeof(*p->run));
	for (int i = 0; i < p->runs; i++) {
		struct run *r = &p->run[i];

		r->first = (int)((long)images * i / p->runs);
		r->images = (int)((long)images * (i + 1) / p->runs) - r->first;
	}
	p->piece = xcalloc((size_t)p->pieces, sizeof(*p->piece));
	for (int i = 0; i < p->pieces; i++)
		if (make_piece(t, pass, i, winograd > 0) != 0)
			return -1;
	return 0;
}

static int
prepare(struct task *t)
{
	const struct op *op = t->op;
	int passes = !t->training ? 1 : t->wants_dx[0] ? 3 : 2;
	struct conv *c;

	if (cpu_is_pixels(&t->out) || (t->in[0].c <= 3) !=
	    cpu_is_pixels(&t->in[0]))
		return fail("%s: the cpu back end has no convolution from %d to "
		    "%d channels here", op->name, t->in[0].c, t->out.c);
	c = xcalloc(1, sizeof(*c));
	t->priv = c;
	c->timed = op->k[0] > 1 || op->s[0] > 1 || op->p[0] > 0;
	c->tap = xcalloc((size_t)op->k[0], sizeof(*c->tap));
	widen(t);
	for (int p = 0; p < passes; p++)
		if (make_pass(t, (enum conv_pass)p) != 0)
			return -1;
	c->work = c->library = round_up(c->library);
	if (c->timed && t->training) {
		size_t frame = passes == 3 ? cpu_image(&t->in[0]) *
		    sizeof(float) : 0;
		size_t tap = c->pass[CONV_WEIGHTS].piece[0].bytes;

		c->work += round_up(frame > tap ? frame : tap);
	}
	return 0;
}

static void
release(struct task *t)
{
	struct conv *c = t->priv;

	if (c == NULL)
		return;
	for (int i = 0; i < CONV_PASSES; i++) {
		struct pass *p = &c->pass[i];

		for (int j = 0; j < p->pieces && p->piece != NULL; j++)
			dnnl_conv_free(p->piece[j].conv);
		free(p->piece);
		free(p->run);
	}
	free(c->tap);
	free(c);
	t->priv = NULL;
}

/* ---- scratch: work of each thread, weights filled up, those of a pass ---- */

static size_t
scratch(const struct task *t)
{
	const struct conv *c = t->priv;
	size_t work = c->work * (size_t)pool_threads(cpu_of(t)->pool);
	size_t most = c->pass[CONV_FORWARD].bytes;

	if (t->training) {
		size_t data = c->pass[CONV_DATA].bytes;
		size_t weights = c->pass[CONV_WEIGHTS].bytes *
		    (size_t)c->pass[CONV_WEIGHTS].runs;

		if (t->accumulate[0])
			data += round_up(cpu_floats(&t->in[0]) * sizeof(float));
		most = data > most ? data : most;
		most = weights > most ? weights : most;
	}
	return work + c->plain + most;
}

/* What the jobs of a pass share. */
struct call {
	struct task *t;
	struct conv *c;
	struct pass *p;
	float *x, *y;			/* of the first image */
	char *work, *plain, *w;		/* in scratch */
};

static struct call
call(struct task *t, enum conv_pass pass, const void *x, const void *y)
{
	struct conv *c = t->priv;
	struct call k = { .t = t, .c = c, .p = &c->pass[pass], .x = (float *)x,
		.y = (float *)y, .work = t->scratch };

	k.plain = k.work + c->work * (size_t)pool_threads(cpu_of(t)->pool);
	k.w = k.plain + c->plain;
	return k;
}

static float *
image(const struct dims *d, float *of, int i)
{
	return of + cpu_image(d) * (size_t)i;
}

static void
add(struct call *k, float *to, const float *from, size_t n)
{
	cpu_k(k->t)->add(to, to, from, n);
}

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
	size_t taps = (size_t)t->op->k[0] * tap_of(t->op);
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
	int step = op->k[0] * tap_of(op);	/* of a channel */

	while (i >= dnnl_conv_slices(piece->conv))
		i -= dnnl_conv_slices(piece++->conv);
	if (o->k->p == &o->k->c->pass[CONV_FORWARD])
		step *= o->k->c->in / o->k->c->groups;
	for (int tap = 0; tap < op->k[0]; tap++)
		dnnl_conv_order(piece->conv, thread, i, o->outer +
		    (size_t)piece->channel * step + tap * tap_of(op),
		    o->k->w + piece->at + piece->bytes * (size_t)tap);
}

static void
order_winograd(int i, int thread, void *arg)
{
	struct call *k = arg;

	(void)thread;
	winograd_order(&k->p->winograd, i, k->t->w[0], k->w);
}

static void
order_weights(struct call *k)
{
	int gradient = k->p == &k->c->pass[CONV_WEIGHTS], n = 0;
	struct order o = { k, (float *)k->plain };

	if (k->p->tiles > 0) {
		cpu_run(k->t, winograd_slices(&k->p->winograd), order_winograd,
		    k);
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

/* ---- forward and data: jobs are a piece of a run of images ---- */

static void
run_images(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct piece *piece = &k->p->piece[i % k->p->pieces];
	const struct run *r = &k->p->run[i / k->p->pieces];
	int forward = k->p == &k->c->pass[CONV_FORWARD];
	float *x = image(&k->t->in[0], k->x, r->first);
	float *y = image(&k->t->out, k->y, r->first);
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
run_tiles(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct pass *p = k->p;
	int from = i * p->tiles, all = winograd_tiles(&p->winograd);
	int to = from + p->tiles < all ? from + p->tiles : all;
	int back = p->winograd.turned;

	winograd_run(&p->winograd, from, to, back ? k->y : k->x, k->w,
	    k->t->op->bias && !back ? k->t->w[1] : NULL, back ? k->x : k->y,
	    k->work + k->c->work * (size_t)thread);
}

/* A frame of the output: the taps that fall on frames of the clip. */
static void
frame_forward(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct task *t = k->t;
	const struct piece *piece = &k->p->piece[i % k->p->pieces];
	int frame = i / k->p->pieces, clip = frame / t->out.t, done = 0;
	int first = frame % t->out.t * t->op->s[0] - t->op->p[0];
	float *y = image(&t->out, k->y, frame) +
	    (size_t)piece->channel * cpu_places(&t->out);

	for (int j = 0; j < t->op->k[0]; j++) {
		if (first + j < 0 || first + j >= t->in[0].t)
			continue;
		dnnl_conv_run(piece->conv, thread, done ? k->c->more :
		    k->p->run[0].call, image(&t->in[0], k->x,
		    clip * t->in[0].t + first + j), k->w + piece->at +
		    piece->bytes * (size_t)j, t->op->bias && !done ?
		    (float *)t->w[1] + piece->channel : NULL, y,
		    k->work + k->c->work * (size_t)thread);
		done = 1;
	}
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
	float *x = image(&t->in[0], k->x, frame) +
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
		    image(&t->out, k->y, clip * t->out.t + at / t->op->s[0]),
		    work);
		if (done)
			add(k, x, to, n);
		done = 1;
	}
	if (!done)
		memset(x, 0, n * sizeof(float));
}

/* All jobs; ${frame} is one of a kernel over time. */
static void
run_pass(struct call *k, void (*frame)(int i, int thread, void *arg))
{
	order_weights(k);
	if (k->p->tiles > 0)
		cpu_run(k->t, k->p->runs, run_tiles, k);
	else
		cpu_run(k->t, k->p->runs * k->p->pieces, k->c->timed ? frame :
		    run_images, k);
}

static void
forward(struct task *t)
{
	struct call k = call(t, CONV_FORWARD, t->x[0], t->y);

	run_pass(&k, frame_forward);
}

struct sum { struct call *k; float *to; const float *from; };

static void
add_range(size_t from, size_t to, void *arg)
{
	const struct sum *s = arg;

	add(s->k, s->to + from, s->from + from, to - from);
}

static void
data_gradient(struct task *t)
{
	struct call k = call(t, CONV_DATA, t->dx[0], t->dy);
	struct sum sum = { &k, t->dx[0], NULL };

	if (t->accumulate[0]) {
		k.x = (float *)(k.w + k.p->bytes);
		sum.from = k.x;
	}
	run_pass(&k, frame_data);
	if (t->accumulate[0])
		cpu_ranges(cpu_of(t), cpu_floats(&t->in[0]), GRAIN, add_range,
		    &sum);
}

/* ---- weights: a gradient for each part, added in their order ---- */

static void
part_images(int i, int thread, void *arg)
{
	struct call *k = arg;
	const struct run *r = &k->p->run[i];

	dnnl_conv_run(k->p->piece->conv, thread, r->call,
	    image(&k->t->in[0], k->x, r->first), k->w + k->p->bytes * (size_t)i,
	    NULL, image(&k->t->out, k->y, r->first),
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
	int frames = frames_of(t, tap, &from), s = t->op->s[0];
	int calls = s > 1 ? frames : frames > 0, done = 0;
	char *work = k->work + k->c->work * (size_t)thread;
	float *w = (float *)(k->w + k->p->bytes * (size_t)(i / taps) +
	    piece->bytes * (size_t)tap);

	for (int j = 0; j < calls * r->images; j++) {
		int clip = r->first + j / calls, frame = from + j % calls;
		float *to = done ? (float *)(work + k->c->library) : w;

		dnnl_conv_run(piece->conv, thread, k->c->tap[tap],
		    image(&t->in[0], k->x, clip * t->in[0].t + frame * s -
		    t->op->p[0] + tap), to, NULL, image(&t->out, k->y,
		    clip * t->out.t + frame), work);
		if (done)
			add(k, w, to, piece->bytes / sizeof(float));
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
		add(k, sum, (float *)(k->w + k->p->bytes * (size_t)i) + from,
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
weight_gradient(struct task *t)
{
	struct call k = call(t, CONV_WEIGHTS, t->x[0], t->dy);

	if (k.c->timed)
		cpu_run(t, k.p->runs * t->op->k[0], part_tap, &k);
	else
		cpu_run(t, k.p->runs, part_images, &k);
	if (k.p->runs > 1)
		cpu_ranges(cpu_of(t), k.p->bytes / sizeof(float), GRAIN,
		    add_parts, &k);
	order_weights(&k);
	if (t->op->bias)
		cpu_run(t, cpu_blocks(t->out.c), bias_gradient, t);
}

static void
backward(struct task *t)
{
	weight_gradient(t);
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

		if (p->runs > 0)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
			    i > 0 ? ", " : "", p->tiles > 0 ? "winograd" :
			    dnnl_conv_name(p->piece[0].conv));
	}
}

const struct op_impl cpu_conv = {
	.reads = READS_X, .prepare = prepare, .release = release,
	.scratch = scratch, .forward = forward, .backward = backward,
	.describe = describe,
};
