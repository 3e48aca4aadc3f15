/*
 * Convolutions by oneDNN (library.h): what the library is told, and how a pass
 * is cut.  A forward or data pass is cut into runs of images and, where there
 * are fewer images than threads, windows of channels.
 */
#include <stdlib.h>

#include "backend/cpu/conv/library.h"
#include "backend/cpu/half/half.h"
#include "base/mem.h"

/*
 * Calls that a thread gets of a forward or data pass: what one call leaves undone
 * while its thread waits for a core, the others take.  Speed does not depend on
 * the images of a call (ResNet-50 at side 224, 1 to 16: within 5 %).
 */
#define RUNS_A_THREAD 4

/* ---- what the library is told ---- */

/*
 * The library takes few input channels for pixels, and groups that are no
 * multiple of a block it runs by plain loops, unless they have one channel:
 * channels are filled up, and groups joined until they are, with zeros for
 * weights.  Rows of bf16 are told as they lie.
 */
static void
widen(const struct pass *p, struct library *o)
{
	const struct task *t = p->t;
	const struct op *op = t->op;
	int in = t->in[0].c / op->groups, out = t->out.c / op->groups;
	int lanes = cpu_lanes(), join = 1;

	if (op->groups > 1 && (in > 1 || out > 1))
		while (op->groups % join != 0 || (join < op->groups &&
		    (in * join % lanes != 0 || out * join % lanes != 0)))
			join++;
	o->groups = op->groups / join;
	o->in = p->bf16 ? half_row(&t->in[0]) : o->groups > 1 ||
	    cpu_is_pixels(&t->in[0]) ? t->in[0].c : cpu_padded(t->in[0].c);
	o->out = p->bf16 ? half_row(&t->out) : t->out.c;
	if (o->in != t->in[0].c || o->out != t->out.c ||
	    o->groups != op->groups)
		o->plain = cpu_pages(((size_t)o->out * (size_t)(o->in /
		    o->groups * op->k[0] * pass_tap(p)) + (size_t)o->out) *
		    sizeof(float));
}

static struct conv_shape
shape_of(const struct pass *p, const struct library *o)
{
	const struct task *t = p->t;
	const struct op *op = t->op;
	int taps = op->k[0];

	return (struct conv_shape){ .in = o->in, .out = o->out,
		.groups = o->groups, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out_h = t->out.h, .out_w = t->out.w, .bias = op->bias,
		.bf16 = p->bf16,
		.k = { op->k[1], op->k[2] }, .s = { op->s[1], op->s[2] },
		.p = { op->p[1], op->p[2] }, .in_step = taps * pass_tap(p),
		.out_step = o->in / o->groups * taps * pass_tap(p) };
}

int
conv_library_has(const struct pass *p)
{
	struct library o = { 0 };
	struct conv_shape s;

	widen(p, &o);
	s = shape_of(p, &o);
	return dnnl_conv_has(cpu_of(p->t)->dnnl, p->kind, &s);
}

static int
fits(const struct pass *p)
{
	(void)p;
	return 1;
}

/* ---- the cut into parts and pieces ---- */

/* The number of images, or of clips, that are divided into parts. */
static int
images_of(const struct pass *p)
{
	const struct task *t = p->t;

	if (p->kind == CONV_WEIGHTS && pass_timed(p))
		return t->out.n;
	return cpu_images(p->kind == CONV_DATA ? &t->in[0] : &t->out);
}

/*
 * Parts of a weight gradient, whatever the number of threads: 2, 4 or 8.  Each
 * part is a whole gradient to be written and read again, which costs as much
 * as some 80 places of convolution: at least 800 places a part, but two parts.
 */
static int
weight_parts(const struct pass *p)
{
	const struct dims *d = &p->t->out;
	size_t places = cpu_places(d) * (size_t)cpu_images(d);
	int parts = places >= 6400 ? 8 : places >= 1600 ? 4 : 2;

	return parts < images_of(p) ? parts : images_of(p);
}

/* Blocks of channels that a pass may be cut into. */
static int
blocks_of(const struct pass *p, const struct library *o)
{
	if (o->groups > 1 || p->bf16)
		return 1;
	return p->kind == CONV_FORWARD ? cpu_blocks(p->t->out.c) :
	    p->kind == CONV_DATA ? cpu_blocks(p->t->in[0].c) : 1;
}

static void
cut(const struct pass *p, struct library *o)
{
	int images = images_of(p), threads = pass_threads(p);
	int most = threads * RUNS_A_THREAD;

	o->pieces = 1;
	o->parts = images;
	if (p->kind == CONV_WEIGHTS) {
		o->parts = weight_parts(p);
	} else if (!pass_timed(p) && images > most) {
		o->parts = most;
	} else if (images < threads) {
		int blocks = blocks_of(p, o);

		o->pieces = div_up(threads, images);
		o->pieces = o->pieces < blocks ? o->pieces : blocks;
	}
	o->part = xcalloc((size_t)o->parts, sizeof(*o->part));
	for (int i = 0; i < o->parts; i++) {
		struct part *a = &o->part[i];

		a->first = (int)((long)images * i / o->parts);
		a->images = (int)((long)images * (i + 1) / o->parts) - a->first;
	}
}

/* ---- made ready ---- */

static int
make_calls(const struct pass *p, struct library *o, struct dnnl_conv *conv)
{
	const struct task *t = p->t;
	int from;

	if (p->kind == CONV_WEIGHTS && pass_timed(p)) {
		for (int k = 0; k < t->op->k[0]; k++)
			if ((o->tap[k] = dnnl_conv_call(conv,
			    t->op->s[0] > 1 || library_frames(t, k, &from) == 0 ? 1 :
			    library_frames(t, k, &from), 0)) < 0)
				return -1;
		return 0;
	}
	for (int i = 0; i < o->parts; i++)
		if ((o->part[i].call = dnnl_conv_call(conv,
		    o->part[i].images, 0)) < 0)
			return -1;
	return pass_timed(p) && p->kind == CONV_FORWARD ?
	    (o->more = dnnl_conv_call(conv, 1, 1)) < 0 : 0;
}

static int
make_piece(const struct pass *p, struct library *o, int i)
{
	struct piece *piece = &o->piece[i];
	int lanes = cpu_lanes(), blocks = blocks_of(p, o);
	int from = blocks * i / o->pieces * lanes;
	int to = blocks * (i + 1) / o->pieces * lanes;
	struct conv_shape s = shape_of(p, o);

	if (o->pieces > 1 && p->kind == CONV_FORWARD)
		s.out = (to < s.out ? to : s.out) - from;
	if (o->pieces > 1 && p->kind == CONV_DATA)
		s.in = (to < s.in ? to : s.in) - from;
	piece->channel = from;
	piece->conv = dnnl_conv_new(cpu_of(p->t)->dnnl, p->t->op->name, p->kind,
	    &s);
	if (piece->conv == NULL || make_calls(p, o, piece->conv) != 0)
		return -1;
	piece->at = o->weights;
	piece->bytes = cpu_pages(dnnl_conv_weights(piece->conv));
	o->weights += piece->bytes * (size_t)p->t->op->k[0];
	if (dnnl_conv_scratch(piece->conv) > o->scratch)
		o->scratch = dnnl_conv_scratch(piece->conv);
	return 0;
}

/* Set the phases: the order of weights, or the pass on either side of it. */
static void
set_phases(struct pass *p, const struct library *o)
{
	const struct phase fill = { library_fill, div_up(o->out, LIBRARY_ROWS) };
	const struct phase add = { library_add,
		div_up((int)(o->weights / sizeof(float)), LIBRARY_GRAIN) };
	struct phase order = { library_order, 0 };
	struct phase *run = p->run;
	int timed = pass_timed(p), jobs = o->parts * o->pieces;

	for (int i = 0; i < o->pieces; i++)
		order.n += dnnl_conv_slices(o->piece[i].conv);
	if (p->kind == CONV_WEIGHTS) {
		*run++ = timed ? (struct phase){ library_part_tap,
			o->parts * p->t->op->k[0] } :
		    (struct phase){ library_part, o->parts };
		if (o->parts > 1)
			*run++ = add;
		*run++ = order;
		if (o->plain > 0)
			*run = fill;
		return;
	}
	p->order[0] = o->plain > 0 ? fill : order;
	if (o->plain > 0)
		p->order[1] = order;
	if (p->kind == CONV_FORWARD && p->t->op->bias &&
	    o->out != p->t->out.c)
		*run++ = (struct phase){ library_bias, 1 };
	*run = (struct phase){ !timed ? library_images :
	    p->kind == CONV_DATA ? library_frame_data : library_frame_forward,
	    jobs };
}

static int
make(struct pass *p)
{
	const struct task *t = p->t;
	struct library *o = p->own = xcalloc(1, sizeof(*o));

	widen(p, o);
	cut(p, o);
	o->tap = xcalloc((size_t)t->op->k[0], sizeof(*o->tap));
	o->piece = xcalloc((size_t)o->pieces, sizeof(*o->piece));
	for (int i = 0; i < o->pieces; i++)
		if (make_piece(p, o, i) != 0)
			return -1;
	o->scratch = cpu_pages(o->scratch);
	p->spare = o->plain;
	p->scratch = o->scratch;
	if (p->kind == CONV_WEIGHTS)
		p->spare += o->weights * (size_t)o->parts;
	else
		p->kept = o->weights;
	/* One tap's contribution is computed here before it is added. */
	if (pass_timed(p) && p->kind == CONV_DATA)
		p->scratch += cpu_image(&t->in[0]) * sizeof(float);
	if (pass_timed(p) && p->kind == CONV_WEIGHTS)
		p->scratch += o->piece->bytes;
	set_phases(p, o);
	return 0;
}

static void
release(struct pass *p)
{
	struct library *o = p->own;

	for (int i = 0; i < o->pieces && o->piece != NULL; i++)
		dnnl_conv_free(o->piece[i].conv);
	free(o->piece);
	free(o->part);
	free(o->tap);
	free(o);
}

static const char *
describe(const struct pass *p)
{
	const struct library *o = p->own;

	return dnnl_conv_name(o->piece->conv);
}

static int
shares(const struct pass *forward, const struct pass *data)
{
	const struct library *a = forward->own, *b = data->own;

	return a->pieces == 1 && b->pieces == 1 &&
	    dnnl_conv_same_order(a->piece->conv, b->piece->conv);
}

const struct algorithm conv_by_library = {
	.name = "oneDNN", .fits = fits, .make = make, .release = release,
	.describe = describe, .shares = shares,
};
