/*
 * Convolutions by oneDNN (library.h), as a candidate algorithm: the shape that
 * oneDNN sees, and how a pass is split.  A forward or data pass is split into
 * blocks of images.  If there are too few images, it is split into windows of
 * rows or ranges of channels.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/conv/library.h"
#include "backend/cpu/bf16/bf16.h"
#include "base/mem.h"

/*
 * Calls per thread of a forward or data pass.  If a thread has to wait for a
 * core, other threads take its remaining calls.  The images of a call do not
 * affect the speed: ResNet-50 at 224 x 224, 1 to 16 images, within 5 %.
 */
#define RUNS_A_THREAD 4

/* ---- the shape that oneDNN sees ---- */

/*
 * oneDNN treats few input channels as pixels.  It runs groups by its reference
 * loops unless they have one channel or a multiple of a block.  So pad the
 * channels, and merge groups until they are a multiple, with zeros for the
 * added weights.  Rows of bf16 keep their padded length.
 */
static void
conv_library_widen(const struct cpu_conv_pass *p, struct library *o)
{
	const struct task *t = p->t;
	const struct op *op = t->op;
	int in = p->in.c / op->conv.groups, out = p->out.c / op->conv.groups;
	int lanes = cpu_lanes(), join = 1;

	if (op->conv.groups > 1 && (in > 1 || out > 1))
		while (op->conv.groups % join != 0 || (join < op->conv.groups &&
		    (in * join % lanes != 0 || out * join % lanes != 0)))
			join++;
	o->groups = op->conv.groups / join;
	o->in = p->bf16 ? bf16_row(&p->in) : o->groups > 1 ||
	    p->pixels ? p->in.c : cpu_padded(p->in.c);
	o->out = p->bf16 ? bf16_row(&p->out) : p->out.c;
	if (o->in != p->in.c || o->out != p->out.c ||
	    o->groups != op->conv.groups)
		o->plain = cpu_pages(((size_t)o->out * (size_t)(o->in /
		    o->groups * p->k[0] * conv_pass_tap(p)) + (size_t)o->out) *
		    sizeof(float));
}

static struct dnnl_shape
conv_library_shape_of(const struct cpu_conv_pass *p, const struct library *o)
{
	const struct task *t = p->t;
	const struct op *op = t->op;
	int taps = p->k[0];

	return (struct dnnl_shape){ .in = o->in, .out = o->out,
		.groups = o->groups, .in_h = p->in.h, .in_w = p->in.w,
		.out_h = p->out.h, .out_w = p->out.w, .bias = op->conv.bias,
		.pixels = p->pixels, .bf16 = p->bf16,
		.k = { p->k[1], p->k[2] }, .s = { p->s[1], p->s[2] },
		.p = { p->p[1], p->p[2] }, .in_step = taps * conv_pass_tap(p),
		.out_step = o->in / o->groups * taps * conv_pass_tap(p) };
}

/* ---- splitting into parts and pieces ---- */

/* Return the images, or for weight gradients over time the clips, to split. */
static int
conv_library_images_of(const struct cpu_conv_pass *p)
{
	if (p->kind == CONV_WEIGHTS && conv_pass_timed(p))
		return p->out.n;
	return cpu_images(p->kind == CONV_DATA ? &p->in : &p->out);
}

/*
 * Return the parts of a weight gradient, 2, 4 or 8, for any number of threads.
 * Writing and reading the gradient of a part costs as much as about 80
 * positions of convolution.  A part has at least 800 positions, except that
 * there are always at least 2 parts.
 */
static int
conv_library_weight_parts(const struct cpu_conv_pass *p)
{
	const struct dims *d = &p->out;
	size_t positions = cpu_positions(d) * (size_t)cpu_images(d);

	return positions >= 6400 ? 8 : positions >= 1600 ? 4 : 2;
}

/* Return the blocks of channels that a pass can be split into. */
static int
conv_library_blocks_of(const struct cpu_conv_pass *p, const struct library *o)
{
	if (o->groups > 1 || p->bf16)
		return 1;
	return p->kind == CONV_FORWARD ? cpu_blocks(p->out.c) :
	    p->kind == CONV_DATA ? cpu_blocks(p->in.c) : 1;
}

/*
 * Return the windows of rows to split an image into, at most ${largest} and at
 * least 1.  This needs channels innermost, and rows of input and output in
 * every window.
 */
static int
conv_library_windows_of(const struct cpu_conv_pass *p, int largest)
{
	int rows = p->kind == CONV_DATA ? p->in.h / p->s[1] : p->out.h;

	/* A gradient with fewer rows than the stride has no rows to split. */
	if (!p->bf16 || p->p[1] >= p->k[1] || p->s[1] > p->k[1] || rows == 0)
		return 1;
	return largest < rows ? largest : rows;
}

/*
 * Set window ${i} of ${n}: its output rows, and the input rows that they read.
 * In CONV_DATA, exchange input and output.
 */
static void
conv_library_set_window(const struct cpu_conv_pass *p, struct library_part *a,
    int i, int n)
{
	int k = p->k[1], s = p->s[1], pad = p->p[1];
	int rows = p->kind == CONV_DATA ? p->in.h : p->out.h;
	int from = (int)((long)rows * i / n),
	    to = (int)((long)rows * (i + 1) / n);
	int first = p->kind == CONV_DATA ? from + pad - k + 1 : from * s - pad;
	int end = p->kind == CONV_DATA ? (to - 1 + pad) / s + 1 :
	    (to - 1) * s - pad + k;

	if (p->kind == CONV_DATA) {
		first = first > 0 ? div_up(first, s) : 0;
		end = end < p->out.h ? end : p->out.h;
		a->in_row = from;
		a->in_rows = to - from;
		a->out_row = first;
		a->out_rows = end - first;
		a->top = pad + from - first * s;
		return;
	}
	a->top = first < 0 ? -first : 0;
	first = first > 0 ? first : 0;
	end = end < p->in.h ? end : p->in.h;
	a->in_row = first;
	a->in_rows = end - first;
	a->out_row = from;
	a->out_rows = to - from;
}

/*
 * Cut a pass into o->pieces ranges of channels and parts: ${windows} windows of
 * each image or, with one window, at most ${parts} parts of whole images.
 */
static void
conv_library_cut(const struct cpu_conv_pass *p, struct library *o, int parts,
    int windows)
{
	int images = conv_library_images_of(p);

	o->parts = windows == 1 && parts < images ? parts : images * windows;
	assert(o->parts > 0);
	free(o->part);
	o->part = xcalloc((size_t)o->parts, sizeof(*o->part));
	for (int i = 0; i < o->parts; i++) {
		struct library_part *a = &o->part[i];

		*a = (struct library_part){ .images = 1, .in_rows = p->in.h,
			.out_rows = p->out.h, .top = p->p[1],
			.first = (int)((long)images * i / o->parts) };
		if (windows > 1)
			conv_library_set_window(p, a, i % windows, windows);
		else
			a->images = (int)((long)images * (i + 1) / o->parts) -
			    a->first;
		assert(a->images > 0 && a->in_rows > 0 && a->out_rows > 0);
	}
}

/* Return the shape of piece ${i}, and set its first channel. */
static struct dnnl_shape
conv_library_piece_of(const struct cpu_conv_pass *p, const struct library *o,
    int i, int *channel)
{
	int lanes = cpu_lanes(), blocks = conv_library_blocks_of(p, o);
	int from = blocks * i / o->pieces * lanes;
	int to = blocks * (i + 1) / o->pieces * lanes;
	struct dnnl_shape s = conv_library_shape_of(p, o);

	assert(o->pieces == 1 || from < to);
	if (o->pieces > 1 && p->kind == CONV_FORWARD)
		s.out = (to < s.out ? to : s.out) - from;
	if (o->pieces > 1 && p->kind == CONV_DATA)
		s.in = (to < s.in ? to : s.in) - from;
	*channel = from;
	return s;
}

/*
 * Return call ${i} of a piece.  Weight gradients over time have a call for each
 * tap.  Other passes have one for each part, and forward passes over time
 * another one that adds.  Return a call of no images after the last one.
 */
static struct conv_call
conv_library_call_of(const struct cpu_conv_pass *p, const struct library *o,
    int i)
{
	struct conv_call call = { 1, 0, p->in.h, p->out.h, p->p[1] };
	const struct library_part *a = &o->part[i];
	int timed = conv_pass_timed(p), from, n;

	if (p->kind == CONV_WEIGHTS && timed && i < p->k[0]) {
		n = library_frames(p, i, &from);
		call.images = p->s[0] > 1 || n == 0 ? 1 : n;
		return call;
	}
	if (p->kind == CONV_WEIGHTS ? !timed && i < o->parts : i < o->parts)
		return (struct conv_call){ timed ? 1 : a->images, 0, a->in_rows,
			a->out_rows, a->top };
	call.more = 1;
	call.images = p->kind == CONV_FORWARD && timed && i == o->parts;
	return call;
}

/* Return 1 if oneDNN runs all calls of all pieces. */
static int
conv_library_runs(const struct cpu_conv_pass *p, const struct library *o)
{
	struct conv_call *list = NULL, call;
	size_t n = 0, capacity = 0, j;
	int has = 1, channel;

	for (int i = 0; (call = conv_library_call_of(p, o, i)).images > 0;
	    i++) {
		for (j = 0; j < n && memcmp(&list[j], &call, sizeof(call)) !=
		    0;)
			j++;
		list = array_reserve(list, n, &capacity, sizeof(*list));
		list[j] = call;
		n += j == n;
	}
	for (int i = 0; i < o->pieces && has; i++) {
		struct dnnl_shape s = conv_library_piece_of(p, o, i, &channel);

		has = dnnl_conv_has(cpu_of(p->t)->dnnl, p->kind, &s, list,
		    (int)n);
	}
	free(list);
	return has;
}

/*
 * oneDNN 2.6.3 reads scratch memory that it has not written in weight gradients
 * in bf16 with fewer columns than the stride: 109 of 1,050 shapes with kernels
 * of more than one column, all of this kind.
 */
static int
conv_library_reads_garbage(const struct cpu_conv_pass *p)
{
	return p->bf16 && p->kind == CONV_WEIGHTS && p->in.w < p->s[2];
}

/* Return 1 if oneDNN runs the pass, not split, by more than reference loops. */
static int
conv_library_can(const struct cpu_conv_pass *p)
{
	struct library o = { .pieces = 1 };
	int has;

	if (conv_library_reads_garbage(p))
		return 0;
	conv_library_widen(p, &o);
	conv_library_cut(p, &o, p->kind == CONV_WEIGHTS ?
	    conv_library_weight_parts(p) : conv_library_images_of(p), 1);
	has = conv_library_runs(p, &o);
	free(o.part);
	return has;
}

/*
 * Split a pass for the threads as far as oneDNN runs every part.  It may choose
 * another order of weights or other loops for windows of other heights.  It
 * runs the whole pass in any case (conv_library_can), so the number of threads
 * decides about the speed alone.
 */
static void
conv_library_split(const struct cpu_conv_pass *p, struct library *o)
{
	int images = conv_library_images_of(p), threads = conv_pass_threads(p);
	int parts = p->kind == CONV_WEIGHTS ? conv_library_weight_parts(p) :
	    threads * RUNS_A_THREAD, windows = 1;
	int blocks = conv_library_blocks_of(p, o);

	o->pieces = 1;
	if (!conv_pass_timed(p) && images < parts)
		windows = conv_library_windows_of(p, div_up(parts, images));
	else if (conv_pass_timed(p) && p->kind != CONV_WEIGHTS)
		parts = images;
	if (p->kind != CONV_WEIGHTS && images < threads && windows == 1) {
		o->pieces = div_up(threads, images);
		o->pieces = o->pieces < blocks ? o->pieces : blocks;
	}
	for (;;) {
		conv_library_cut(p, o, parts, windows);
		if (conv_library_runs(p, o))
			return;
		if (windows > 1)
			windows--;
		else if (o->pieces > 1)
			o->pieces--;
		else if (p->kind == CONV_WEIGHTS || parts >= images)
			return;
		else
			parts = images;
	}
}

/* ---- preparing ---- */

static int
conv_library_make_calls(const struct cpu_conv_pass *p, struct library *o,
    struct dnnl_conv *conv)
{
	int timed = conv_pass_timed(p);
	struct conv_call call;

	for (int i = 0; (call = conv_library_call_of(p, o, i)).images > 0;
	    i++) {
		int n = dnnl_conv_call(conv, &call);

		if (n < 0)
			return -1;
		if (p->kind == CONV_WEIGHTS && timed)
			o->tap[i] = n;
		else if (i < o->parts)
			o->part[i].call = n;
		else
			o->more = n;
	}
	return 0;
}

static int
conv_library_make_piece(const struct cpu_conv_pass *p, struct library *o, int i)
{
	struct library_piece *piece = &o->piece[i];
	struct dnnl_shape s = conv_library_piece_of(p, o, i, &piece->channel);
	struct dnnl_made made;

	piece->conv = dnnl_conv_new(cpu_of(p->t)->dnnl, p->t->op->name, p->kind,
	    &s);
	if (conv_library_make_calls(p, o, piece->conv) != 0)
		return -1;
	piece->at = o->weights;
	made = dnnl_conv_made(piece->conv);
	piece->slices = made.slices;
	piece->bytes = cpu_pages(made.weights);
	o->weights += piece->bytes * (size_t)p->k[0];
	if (made.scratch > o->scratch)
		o->scratch = made.scratch;
	return 0;
}

/*
 * Set the phases: packing of the weights, and the pass with its own
 * preparation and sums.
 */
static void
conv_library_set_phases(struct cpu_conv_pass *p, const struct library *o)
{
	const struct conv_phase fill = { library_fill,
	    div_up(o->out, LIBRARY_ROWS) };
	const struct conv_phase add = { library_add,
		div_up((int)(o->weights / sizeof(float)), LIBRARY_GRAIN) };
	struct conv_phase order = { library_order, 0 };
	struct conv_phase *run = p->run;
	int timed = conv_pass_timed(p), jobs = o->parts * o->pieces;

	for (int i = 0; i < o->pieces; i++)
		order.n += o->piece[i].slices;
	if (p->kind == CONV_WEIGHTS) {
		*run++ = timed ? (struct conv_phase){ library_part_tap,
			o->parts * p->k[0] } :
		    (struct conv_phase){ library_part, o->parts };
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
	if (p->kind == CONV_FORWARD && p->t->op->conv.bias &&
	    o->out != p->out.c)
		*run++ = (struct conv_phase){ library_bias, 1 };
	*run = (struct conv_phase){ !timed ? library_images :
	    p->kind == CONV_DATA ? library_frame_data : library_frame_forward,
	    jobs };
}

static int
conv_library_make(struct cpu_conv_pass *p)
{
	struct library *o = p->state = xcalloc(1, sizeof(*o));

	conv_library_widen(p, o);
	conv_library_split(p, o);
	o->tap = xcalloc((size_t)p->k[0], sizeof(*o->tap));
	o->piece = xcalloc((size_t)o->pieces, sizeof(*o->piece));
	for (int i = 0; i < o->pieces; i++)
		if (conv_library_make_piece(p, o, i) != 0)
			return -1;
	o->scratch = cpu_pages(o->scratch);
	p->workspace = o->plain;
	p->scratch = o->scratch;
	if (p->kind == CONV_WEIGHTS)
		p->workspace += o->weights * (size_t)o->parts;
	else
		p->packed = o->weights;
	/* The contribution of a tap is computed here before it is added. */
	if (conv_pass_timed(p) && p->kind == CONV_DATA)
		p->scratch += conv_pass_image(p, &p->in) * sizeof(float);
	if (conv_pass_timed(p) && p->kind == CONV_WEIGHTS)
		p->scratch += o->piece->bytes;
	conv_library_set_phases(p, o);
	return 0;
}

static void
conv_library_release(struct cpu_conv_pass *p)
{
	struct library *o = p->state;

	for (int i = 0; i < o->pieces && o->piece != NULL; i++)
		dnnl_conv_free(o->piece[i].conv);
	free(o->piece);
	free(o->part);
	free(o->tap);
	free(o);
}

static const char *
conv_library_describe(const struct cpu_conv_pass *p)
{
	const struct library *o = p->state;

	return dnnl_conv_made(o->piece->conv).name;
}

static int
conv_library_shares(const struct cpu_conv_pass *forward,
    const struct cpu_conv_pass *data)
{
	const struct library *a = forward->state, *b = data->state;

	return a->pieces == 1 && b->pieces == 1 &&
	    dnnl_conv_same_order(a->piece->conv, b->piece->conv);
}

const struct conv_algorithm conv_by_library = {
	.name = "oneDNN", .runs = conv_library_can, .make = conv_library_make,
	.release = conv_library_release, .describe = conv_library_describe,
	.shares = conv_library_shares,
};
