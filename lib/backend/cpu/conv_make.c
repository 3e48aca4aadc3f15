/*
 * Convolutions made ready: what the library is told of them, its passes in runs
 * and pieces, and the memory that all of them need.
 */
#include <stdlib.h>

#include "backend/cpu/conv.h"
#include "base/fail.h"
#include "base/mem.h"

/*
 * Calls that a thread gets of a direct pass: what one call leaves undone while
 * its thread waits for a core, the others take.  Speed does not depend on the
 * images of a call (ResNet-50 at side 224, 1 to 16: within 5 %).
 */
#define RUNS_A_THREAD 4

/* What runs are cut from: images, or clips for a gradient over time. */
static int
images_of(const struct task *t, enum conv_pass pass, int timed)
{
	if (pass == CONV_WEIGHTS && timed)
		return t->out.n;
	return cpu_images(pass == CONV_DATA ? &t->in[0] : &t->out);
}

int
conv_frames(const struct task *t, int k, int *from)
{
	const struct op *op = t->op;
	int s = op->s[0], p = op->p[0], to;

	*from = k < p ? (p - k + s - 1) / s : 0;
	to = t->in[0].t - 1 + p - k;		/* of the input, times s */
	to = to < 0 ? 0 : to / s + 1;
	to = to < t->out.t ? to : t->out.t;
	return to > *from ? to - *from : 0;
}

/* ---- passes of the library ---- */

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
			    t->op->s[0] > 1 || conv_frames(t, k, &from) == 0 ? 1 :
			    conv_frames(t, k, &from), 0)) < 0)
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

struct conv_shape
conv_shape_of(const struct task *t)
{
	const struct conv *c = t->priv;
	const struct op *op = t->op;
	int taps = op->k[0];

	return (struct conv_shape){ .in = c->in, .out = t->out.c,
		.groups = c->groups, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out_h = t->out.h, .out_w = t->out.w, .bias = op->bias,
		.k = { op->k[1], op->k[2] }, .s = { op->s[1], op->s[2] },
		.p = { op->p[1], op->p[2] }, .in_step = taps * conv_tap(op),
		.out_step = c->in / c->groups * taps * conv_tap(op) };
}

static int
make_piece(struct task *t, enum conv_pass pass, int i)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	struct piece *piece = &p->piece[i];
	int lanes = cpu_lanes(), blocks = blocks_of(t, pass);
	int from = blocks * i / p->pieces * lanes;
	int to = blocks * (i + 1) / p->pieces * lanes;
	struct conv_shape s = conv_shape_of(t);

	if (p->pieces > 1 && pass == CONV_FORWARD)
		s.out = (to < s.out ? to : s.out) - from;
	if (p->pieces > 1 && pass == CONV_DATA)
		s.in = (to < s.in ? to : s.in) - from;
	piece->channel = from;
	piece->conv = dnnl_conv_new(cpu_of(t)->dnnl, t->op->name, pass, &s);
	if (make_calls(t, pass, piece->conv) != 0)
		return -1;
	piece->at = p->bytes;
	piece->bytes = cpu_pages(dnnl_conv_weights(piece->conv));
	p->bytes += piece->bytes * (size_t)t->op->k[0];
	if (dnnl_conv_scratch(piece->conv) > c->library)
		c->library = dnnl_conv_scratch(piece->conv);
	return 0;
}

/* A pass by the library: runs of images, and windows of channels. */
static int
make_library(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	int images = images_of(t, pass, c->timed);
	int threads = pool_threads(cpu_of(t)->pool);

	p->pieces = 1;
	p->runs = images;
	if (pass == CONV_WEIGHTS)
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
		if (make_piece(t, pass, i) != 0)
			return -1;
	return 0;
}

/* ---- a convolution ---- */

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
		c->plain = cpu_pages((size_t)t->out.c * c->in / c->groups *
		    op->k[0] * conv_tap(op) * sizeof(float));
}

static int
make_pass(struct task *t, enum conv_pass pass)
{
	enum conv_by by = conv_choose(t, pass);

	if (by == CONV_DNNL)
		return make_library(t, pass);
	conv_make_ours(t, pass, by);
	return 0;
}

int
conv_prepare(struct task *t)
{
	const struct op *op = t->op;
	const int wants[CONV_PASSES] = { [CONV_FORWARD] = 1,
		[CONV_WEIGHTS] = t->wants_dw, [CONV_DATA] = t->wants_dx[0] };
	struct conv *c;

	if (cpu_is_pixels(&t->out))
		return fail("%s: the cpu back end has no convolution from %d to "
		    "%d channels here", op->name, t->in[0].c, t->out.c);
	c = xcalloc(1, sizeof(*c));
	t->priv = c;
	c->timed = op->k[0] > 1 || op->s[0] > 1 || op->p[0] > 0;
	c->tap = xcalloc((size_t)op->k[0], sizeof(*c->tap));
	widen(t);
	for (int p = 0; p < CONV_PASSES; p++)
		if (wants[p] && make_pass(t, (enum conv_pass)p) != 0)
			return -1;
	c->shared = wants[CONV_DATA] && c->pass[CONV_FORWARD].by == CONV_DNNL &&
	    c->pass[CONV_DATA].by == CONV_DNNL &&
	    c->pass[CONV_FORWARD].pieces == 1 &&
	    c->pass[CONV_DATA].pieces == 1 &&
	    dnnl_conv_same_order(c->pass[CONV_FORWARD].piece[0].conv,
	    c->pass[CONV_DATA].piece[0].conv);
	c->work = c->library = cpu_pages(c->library);
	if (c->timed) {
		size_t frame = wants[CONV_DATA] ? cpu_image(&t->in[0]) *
		    sizeof(float) : 0;
		size_t tap = wants[CONV_WEIGHTS] &&
		    c->pass[CONV_WEIGHTS].by == CONV_DNNL ?
		    c->pass[CONV_WEIGHTS].piece[0].bytes : 0;

		c->work += cpu_pages(frame > tap ? frame : tap);
	}
	return 0;
}

void
conv_release(struct task *t)
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
