/*
 * Convolutions by oneDNN.  A forward or data pass is cut into runs of images
 * and, where there are fewer images than threads, windows of channels.
 *
 * A kernel with extent in time is a sum over its taps: frame by frame, each
 * tap a convolution over h and w of the input frame it falls on.  oneDNN's own
 * convolutions over three dimensions want time inside of the channel blocks,
 * where no other operator has it.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/conv/conv.h"
#include "backend/cpu/half/half.h"
#include "base/mem.h"

#define GRAIN 16384

/*
 * Calls that a thread gets of a forward or data pass: what one call leaves undone
 * while its thread waits for a core, the others take.  Speed does not depend on
 * the images of a call (ResNet-50 at side 224, 1 to 16: within 5 %).
 */
#define RUNS_A_THREAD 4

/* A window of channels: out of CONV_FORWARD, in of CONV_DATA. */
struct piece {
	struct dnnl_conv *conv;
	int channel;
	size_t at, bytes;	/* of its first tap's weights; of one tap */
};

/* Images of a job, or clips of a gradient over time. */
struct part { int first, images, call; };

struct own {
	int in, out, groups;		/* as the library is told */
	int pieces, parts;
	struct piece *piece;
	struct part *part;
	size_t plain;			/* bytes of weights and bias filled up with
					 * zeros; 0 if there is nothing to fill */
	size_t weights;			/* bytes of all taps, in order */
	size_t library;			/* scratch of a call */
	int more;			/* the call that adds */
	int *tap;			/* calls of the taps' gradients */
};

/* ---- what the library is told ---- */

/*
 * The library takes few input channels for pixels, and groups that are no
 * multiple of a block it runs by plain loops, unless they have one channel:
 * channels are filled up, and groups joined until they are, with zeros for
 * weights.  Rows of bf16 are told as they lie.
 */
static void
widen(const struct pass *p, struct own *o)
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
shape_of(const struct pass *p, const struct own *o)
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
	struct own o = { 0 };
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

/* The frames of a clip's output that tap ${k} adds to, how many, from ${from};
 * frame f reads input frame f s - p + k. */
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

/* What parts are cut from. */
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
blocks_of(const struct pass *p, const struct own *o)
{
	if (o->groups > 1 || p->bf16)
		return 1;
	return p->kind == CONV_FORWARD ? cpu_blocks(p->t->out.c) :
	    p->kind == CONV_DATA ? cpu_blocks(p->t->in[0].c) : 1;
}

static void
cut(const struct pass *p, struct own *o)
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
make_calls(const struct pass *p, struct own *o, struct dnnl_conv *conv)
{
	const struct task *t = p->t;
	int from;

	if (p->kind == CONV_WEIGHTS && pass_timed(p)) {
		for (int k = 0; k < t->op->k[0]; k++)
			if ((o->tap[k] = dnnl_conv_call(conv,
			    t->op->s[0] > 1 || frames_of(t, k, &from) == 0 ? 1 :
			    frames_of(t, k, &from), 0)) < 0)
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
make_piece(const struct pass *p, struct own *o, int i)
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
	if (dnnl_conv_scratch(piece->conv) > o->library)
		o->library = dnnl_conv_scratch(piece->conv);
	return 0;
}

static int
make(struct pass *p)
{
	const struct task *t = p->t;
	struct own *o = p->own = xcalloc(1, sizeof(*o));

	widen(p, o);
	cut(p, o);
	o->tap = xcalloc((size_t)t->op->k[0], sizeof(*o->tap));
	o->piece = xcalloc((size_t)o->pieces, sizeof(*o->piece));
	for (int i = 0; i < o->pieces; i++)
		if (make_piece(p, o, i) != 0)
			return -1;
	o->library = cpu_pages(o->library);
	p->spare = o->plain;
	p->scratch = o->library;
	if (p->kind == CONV_WEIGHTS)
		p->spare += o->weights * (size_t)o->parts;
	else
		p->kept = o->weights;
	/* What a tap adds to a frame or gradient. */
	if (pass_timed(p) && p->kind == CONV_DATA)
		p->scratch += cpu_image(&t->in[0]) * sizeof(float);
	if (pass_timed(p) && p->kind == CONV_WEIGHTS)
		p->scratch += o->piece->bytes;
	return 0;
}

static void
release(struct pass *p)
{
	struct own *o = p->own;

	for (int i = 0; i < o->pieces && o->piece != NULL; i++)
		dnnl_conv_free(o->piece[i].conv);
	free(o->piece);
	free(o->part);
	free(o->tap);
	free(o);
}

/* ---- the weights' order ---- */

/*
 * Output channels ${from} to ${to} between the order of the graph and a copy
 * with more channels: input channels come after ${before} that are others' in
 * the group.
 */
struct fill { const struct run *r; int is_gradient; };

static void
fill(size_t from, size_t to, void *arg)
{
	const struct fill *f = arg;
	const struct task *t = f->r->p->t;
	const struct own *o = f->r->p->own;
	int groups = t->op->groups;
	size_t taps = (size_t)(t->op->k[0] * pass_tap(f->r->p));
	size_t few = taps * (size_t)(t->in[0].c / groups);
	size_t many = taps * (size_t)(o->in / o->groups);

	for (size_t i = from; i < to; i++) {
		size_t group = i / (size_t)(t->out.c / groups);
		size_t before = few * (group % (size_t)(groups / o->groups));
		float *plain = (float *)f->r->spare + many * i;

		if (!f->is_gradient)
			memset(plain, 0, many * sizeof(float));
		if (i >= (size_t)t->out.c)
			continue;
		if (f->is_gradient)
			memcpy((float *)t->dw[0] + few * i, plain + before,
			    few * sizeof(float));
		else
			memcpy(plain + before, (const float *)t->w[0] + few * i,
			    few * sizeof(float));
	}
}

static void
fill_up(const struct run *r, int is_gradient)
{
	const struct own *o = r->p->own;
	struct fill f = { r, is_gradient };

	if (o->plain > 0)
		cpu_ranges(cpu_of(r->p->t), (size_t)o->out, 16, fill, &f);
}

struct slices { const struct run *r; float *outer; char *inner; };

/* A slice of a piece, all its taps. */
static void
order_slice(int i, int thread, void *arg)
{
	const struct slices *s = arg;
	const struct pass *p = s->r->p;
	const struct own *o = p->own;
	const struct piece *piece = o->piece;
	int tap = pass_tap(p), taps = p->t->op->k[0];
	int step = taps * tap;		/* of a channel */

	while (i >= dnnl_conv_slices(piece->conv))
		i -= dnnl_conv_slices(piece++->conv);
	if (p->kind == CONV_FORWARD)
		step *= o->in / o->groups;
	for (int k = 0; k < taps; k++)
		dnnl_conv_order(piece->conv, thread, i, s->outer +
		    (size_t)piece->channel * (size_t)step + k * tap,
		    s->inner + piece->at + piece->bytes * (size_t)k);
}

static void
order_all(const struct run *r, float *outer, void *inner)
{
	const struct own *o = r->p->own;
	struct slices s = { r, o->plain > 0 ? r->spare : outer, inner };
	int n = 0;

	for (int i = 0; i < o->pieces; i++)
		n += dnnl_conv_slices(o->piece[i].conv);
	cpu_run(r->p->t, n, order_slice, &s);
}

static void
order(const struct run *r)
{
	fill_up(r, 0);
	order_all(r, (float *)r->p->t->w[0], r->kept);
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
	const struct own *o = r->p->own;
	const float *bias = run_bias(r);

	if (bias != NULL && o->out != r->p->t->out.c)
		bias = (float *)r->spare + (size_t)o->out *
		    (size_t)(o->in * pass_tap(r->p));
	return bias != NULL ? (float *)bias + channel : NULL;
}

static void
fill_bias(const struct run *r)
{
	const struct own *o = r->p->own;
	const float *bias = run_bias(r);
	float *to = bias_of(r, 0);

	if (to == bias)
		return;
	memset(to, 0, (size_t)o->out * sizeof(float));
	memcpy(to, bias, (size_t)r->p->t->out.c * sizeof(float));
}

static void
run_images(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct own *o = p->own;
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

/* Compute one output frame: sum the taps that fall on frames of the clip.  None
 * does if the padding is as long as the kernel. */
static void
frame_forward(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct task *t = p->t;
	const struct own *o = p->own;
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

/* A frame of the input gradient; the library cannot add here, so we do. */
static void
frame_data(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct task *t = p->t;
	const struct own *o = p->own;
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
		float *to = done ? (float *)(work + o->library) : x;

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

static char *
part_of(const struct run *r, int i)
{
	const struct own *o = r->p->own;

	return (char *)r->spare + o->plain + o->weights * (size_t)i;
}

static void
part_images(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct own *o = p->own;
	const struct part *a = &o->part[i];

	dnnl_conv_run(o->piece->conv, thread, a->call,
	    image_of(p, &p->t->in[0], r->x, a->first, 0), part_of(r, i), NULL,
	    image_of(p, &p->t->out, r->y, a->first, 0), run_scratch(r, thread));
}

/* One tap of one part: its clips, by runs of frames where they touch. */
static void
part_tap(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct pass *p = r->p;
	const struct task *t = p->t;
	const struct own *o = p->own;
	int taps = t->op->k[0], tap = i % taps, from;
	const struct part *a = &o->part[i / taps];
	const struct piece *piece = o->piece;
	int frames = frames_of(t, tap, &from), s = t->op->s[0];
	int calls = s > 1 ? frames : frames > 0, done = 0;
	char *work = run_scratch(r, thread);
	float *w = (float *)(part_of(r, i / taps) + piece->bytes * (size_t)tap);

	for (int j = 0; j < calls * a->images; j++) {
		int clip = a->first + j / calls, frame = from + j % calls;
		float *to = done ? (float *)(work + o->library) : w;

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

static void
add_parts(size_t from, size_t to, void *arg)
{
	const struct run *r = arg;
	const struct own *o = r->p->own;
	float *sum = (float *)part_of(r, 0) + from;

	for (int i = 1; i < o->parts; i++)
		cpu_k(r->p->t)->add(sum, sum, (float *)part_of(r, i) + from,
		    to - from);
}

static void
gradient(const struct run *r)
{
	const struct own *o = r->p->own;
	const struct task *t = r->p->t;

	if (pass_timed(r->p))
		cpu_run(t, o->parts * t->op->k[0], part_tap, (void *)r);
	else
		cpu_run(t, o->parts, part_images, (void *)r);
	if (o->parts > 1)
		cpu_ranges(cpu_of(t), o->weights / sizeof(float), GRAIN,
		    add_parts, (void *)r);
	order_all(r, t->dw[0], part_of(r, 0));
	fill_up(r, 1);
}

static void
run(const struct run *r)
{
	const struct own *o = r->p->own;

	if (r->p->kind == CONV_WEIGHTS) {
		gradient(r);
		return;
	}
	fill_bias(r);
	cpu_run(r->p->t, o->parts * o->pieces, !pass_timed(r->p) ? run_images :
	    r->p->kind == CONV_DATA ? frame_data : frame_forward, (void *)r);
}

static const char *
describe(const struct pass *p)
{
	const struct own *o = p->own;

	return dnnl_conv_name(o->piece->conv);
}

static int
shares(const struct pass *forward, const struct pass *data)
{
	const struct own *a = forward->own, *b = data->own;

	return a->pieces == 1 && b->pieces == 1 &&
	    dnnl_conv_same_order(a->piece->conv, b->piece->conv);
}

const struct algorithm conv_by_library = {
	.name = "oneDNN", .fits = fits, .make = make, .release = release,
	.order = order, .run = run, .describe = describe, .shares = shares,
};
