/* Convolutions: which algorithm for which pass, and its jobs. */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/conv.h"
#include "base/fail.h"
#include "base/isa.h"
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

/* ---- choices ---- */

/*
 * Winograd's algorithm where it pays: on 3x3 of stride 1 from 32 channels to
 * 32 or more, where places fill 9 of 16 of their 4 x 4 tiles, and are enough
 * for the weights' transform, 17 ns for a pair of channels.  Effective GF/s
 * of one thread on 16 images, ours, direct, oneDNN's in calls of 4 images:
 * 64 channels of 56 x 56 320, 149, 221; 128 of 28 x 28 333, 112, 231; 256 of
 * 14 x 14 259, 161, 153; 512 of 7 x 7 203, 173, 68, with 4 ms of transform to
 * 13 of work; 64 of 6 x 6, 64 images, 183 beside 146 by oneDNN, backward 155
 * beside 138; but 16 of 24 x 24 93 beside 121.  Weight gradients, loaded, ours
 * and oneDNN's: 212, 173; 198, 184; 156, 136; of 7 x 7 161, 67 direct: half the
 * places are enough.  Its error, some 1e-6 relative, is that of the direct sum.
 */
static int
prefers_winograd(const struct task *t, enum conv_pass pass)
{
	const struct op *op = t->op;
	int tiles = (t->out.h + 3) / 4 * ((t->out.w + 3) / 4);
	size_t places = cpu_places(&t->out);

	return op->k[1] == 3 && op->k[2] == 3 && op->s[1] == 1 &&
	    op->s[2] == 1 && op->groups == 1 && t->in[0].c >= 32 &&
	    t->out.c >= 32 && op->p[1] <= 2 && op->p[2] <= 2 &&
	    places >= (size_t)tiles * 9 && places *
	    (size_t)cpu_images(&t->out) >= (pass == CONV_WEIGHTS ? 512 : 1024);
}

/*
 * A direct convolution of ours: kernels of one place, where gradients are added
 * to others without a pass of their own; and what oneDNN lacks, which are data
 * gradients of unequal strides with AVX2 and all that is base.  ResNet-50, 16
 * images of 224, GF/s of two threads, ours and oneDNN's: 256 to 64 channels of
 * 56 x 56 276, 250; 128 to 512 of 28 x 28 303, 308; 2048 to 512 of 7 x 7 251,
 * 244; of stride 2 267, 271; data 243, 196; 298, 267; 280, 258; of stride 2
 * 228, 213.  Where places do not follow one another they are
 * gathered, which costs 15 % of three by three taps, and half of what few
 * channels take: 64 to 128 of stride 2 72, 86; 16 to 32 24, 37.
 */
static int
prefers_direct(const struct task *t)
{
	const struct op *op = t->op;

	int strided = op->s[1] > 1 || op->s[2] > 1;

	if (op->groups > 1 || cpu_is_pixels(&t->in[0]))
		return 0;
	if (isa_best() == ISA_BASE || op->s[1] != op->s[2])
		return 1;
	return op->k[0] * op->k[1] * op->k[2] == 1 && (!strided ||
	    (cpu_lanes() == 16 && t->in[0].c >= 256 && t->out.c >= 256));
}

/*
 * A weight gradient by sums of outer products (outer.h) wherever there is one
 * group of blocked channels: they write it as it lies in the graph and are
 * seldom cut into parts, where oneDNN's has an order of its own.  Gradients of
 * ResNet-50 of 16 images in GF/s of either of two threads, loaded, ours and
 * oneDNN's: 256 to 64 channels of 56 x 56 67, 53; 512 to 128 of 28 x 28 72, 68;
 * 2048 to 512 of 7 x 7 66, 51; 1x1 of stride 2 62, 61 to 58, 46; 3x3 of stride
 * 2 71, 54 to 73, 40; 3x3 of 7 x 7 80, 51.  Pixels have to be gathered first,
 * 89 to 105 for 7x7 kernels, worse for 3x3: ours only where oneDNN has nothing.
 */
static int
prefers_products(const struct task *t)
{
	return t->op->groups == 1 && (!cpu_is_pixels(&t->in[0]) ||
	    isa_best() == ISA_BASE);
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
		c->plain = cpu_pages((size_t)t->out.c * c->in / c->groups *
		    op->k[0] * conv_tap(op) * sizeof(float));
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

/* What the library is told of a pass. */
static struct conv_shape
shape_of(const struct task *t)
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
	struct conv_shape s = shape_of(t);

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

static void
make_winograd(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	const struct op *op = t->op;
	struct winograd *g = &p->winograd;
	int threads = pool_threads(cpu_of(t)->pool), one = conv_tap(op);
	int back = pass == CONV_DATA;
	size_t scratch;

	p->by = CONV_WINOGRAD;
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
	p->bytes = cpu_pages(winograd_weights(g));
	scratch = winograd_scratch(g, p->tiles);
	c->library = scratch > c->library ? scratch : c->library;
}

/* A weight gradient of ours: runs are its parts. */
static void
make_products(struct task *t)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[CONV_WEIGHTS];
	const struct op *op = t->op;
	struct outer *g = &p->outer;
	size_t scratch;

	*g = (struct outer){ .clips = t->out.n, .in = t->in[0].c,
		.out = t->out.c, .pixels = cpu_is_pixels(&t->in[0]),
		.x = { t->in[0].t, t->in[0].h, t->in[0].w },
		.y = { t->out.t, t->out.h, t->out.w } };
	memcpy(g->k, op->k, sizeof(g->k));
	memcpy(g->s, op->s, sizeof(g->s));
	memcpy(g->p, op->p, sizeof(g->p));
	if (!c->timed) {
		g->clips = 1;
		g->x[0] = g->y[0] = cpu_images(&t->out);
	}
	outer_cut(g, pool_threads(cpu_of(t)->pool));
	p->by = CONV_PRODUCTS;
	p->runs = g->parts;
	p->bytes = cpu_pages(outer_parts(g)) / (size_t)g->parts;
	scratch = outer_scratch(g);
	c->library = scratch > c->library ? scratch : c->library;
}

static void
make_direct(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	struct direct *g = &p->direct;
	const struct op *op = t->op;
	int tap = op->k[0] * conv_tap(op), row = tap * t->in[0].c;
	int back = pass == CONV_DATA;

	p->by = CONV_DIRECT;
	*g = (struct direct){ .in = back ? t->out : t->in[0],
		.out = back ? t->in[0] : t->out, .back = back,
		.k = { op->k[0], op->k[1], op->k[2] },
		.s = { op->s[0], op->s[1], op->s[2] },
		.p = { op->p[0], op->p[1], op->p[2] },
		.in_step = back ? row : tap, .out_step = back ? tap : row };
	direct_cut(g, pool_threads(cpu_of(t)->pool));
	p->bytes = cpu_pages(direct_weights(g));
	if (direct_scratch(g) > c->library)
		c->library = direct_scratch(g);
}

static void
make_grouped(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	struct grouped *g = &p->grouped;
	const struct op *op = t->op;

	p->by = CONV_GROUPED;
	*g = (struct grouped){ .x = t->in[0], .y = t->out,
		.groups = op->groups };
	memcpy(g->k, op->k, sizeof(g->k));
	memcpy(g->s, op->s, sizeof(g->s));
	memcpy(g->p, op->p, sizeof(g->p));
	if (pass == CONV_WEIGHTS)
		p->runs = grouped_parts(g);
	p->bytes = grouped_weights(g, pass == CONV_DATA);
	if (pass != CONV_WEIGHTS)
		p->bytes = cpu_pages(p->bytes);
	if (grouped_scratch(g) > c->library)
		c->library = grouped_scratch(g);
}

static void
make_winograd_gradient(struct task *t)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[CONV_WEIGHTS];
	struct winograd_gradient *g = &p->gradient;
	size_t scratch;

	p->by = CONV_WINOGRAD;
	*g = (struct winograd_gradient){ .images = cpu_images(&t->out),
		.in = t->in[0].c, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out = t->out.c, .out_h = t->out.h, .out_w = t->out.w,
		.p = { t->op->p[1], t->op->p[2] } };
	p->runs = winograd_gradient_parts(g);
	p->bytes = cpu_pages(winograd_gradient_bytes(g)) / (size_t)p->runs;
	scratch = winograd_gradient_scratch(g);
	c->library = scratch > c->library ? scratch : c->library;
}

/*
 * Groups, by loops of ours where the library has plain ones alone, a hundred
 * times slower: weight gradients of small images, and most that is base.
 * Elsewhere its own are: 192 channels of 16 images of 7 x 7 by 3 x 3, forward
 * 0.16 ms and ours 0.27, backward 0.27 and 0.57; over time 0.2 and 0.53, 0.6 and
 * 1.1.
 */
static int
prefers_grouped(const struct task *t, enum conv_pass pass)
{
	struct conv_shape s = shape_of(t);

	return t->op->groups > 1 && !cpu_is_pixels(&t->in[0]) &&
	    !dnnl_conv_has(cpu_of(t)->dnnl, pass, &s);
}

static int
make_pass(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	int images = images_of(t, pass, c->timed);
	int threads = pool_threads(cpu_of(t)->pool);

	if (!c->timed && prefers_winograd(t, pass)) {
		if (pass == CONV_WEIGHTS)
			make_winograd_gradient(t);
		else
			make_winograd(t, pass);
		return 0;
	}
	if (pass != CONV_WEIGHTS && prefers_direct(t)) {
		make_direct(t, pass);
		return 0;
	}
	if (pass == CONV_WEIGHTS && prefers_products(t)) {
		make_products(t);
		return 0;
	}
	if (prefers_grouped(t, pass)) {
		make_grouped(t, pass);
		return 0;
	}
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
