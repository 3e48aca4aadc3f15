/*
 * Gradients of weights in bf16: which places meet, and the cut into jobs.
 *
 * Places of dy and of x lie in one grid, image after image, row after row, with
 * so much room behind each row and image that a tap is a distance: place q of x
 * meets place q - shift of dy.  With strides, places of x are in one grid for
 * each phase, and a tap reads one of them.  What is not there is 0.  Then the
 * gradient of a tap is one product over the grid of A, dy with places as
 * columns, which begins at any number, and B, pairs of places of x.
 *
 * Both are made from the activations for a run of places at a time, which stays
 * in the cache while all products over it are added up.
 *
 * Of pixels, whose channels are few, the taps of a row are columns together:
 * they are what lies side by side in memory.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/half/weights.h"
#include "base/mem.h"

enum { BLOCK = 32, SUMS = BLOCK * BLOCK, PHASES = 4, TAPS = 64, WIDEST = 512 };

/* Of two sides of the grid one. */
struct side {
	int in, out, k, s, p;
	int cells;			/* of a phase, that a tap reads */
	int pitch;			/* of the grid */
	int phases, phase[2];		/* the first of the input's places */
};

struct tap { int phase; long shift; };

struct weights {
	struct product_shape s;
	const struct amx_kernels *k;
	int pixels;			/* taps of a row are columns */
	struct side h, w;
	int phases, taps;
	struct tap tap[TAPS];
	int columns;			/* of B: channels of the input, or more */
	int before, after;		/* places of A beside a run */
	long places;			/* of the grid */
	int parts, run;			/* places of a run at most */
	int rows_cut, columns_cut;	/* jobs of a part: groups of blocks */
	int single;			/* one part, and of that one run */
	int *at;			/* [columns] in a gradient's row */
};

static int
up(int n, int to)
{
	return (n + to - 1) / to * to;
}

static int
floor_div(int a, int b)
{
	return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static int
blocks(int n)
{
	return (n + BLOCK - 1) / BLOCK;
}

/* ---- the grid ---- */

/* Tap ${k}: from a place of dy to the one of x in the grid of its phase. */
static int
shift_of(const struct side *a, int k, int *phase)
{
	int shift = floor_div(k - a->p, a->s), from = k - a->p - shift * a->s;

	for (*phase = 0; *phase < a->phases && a->phase[*phase] != from;)
		++*phase;
	return shift;
}

/*
 * The distance from row to row keeps apart, for all taps, what x's places
 * meet in dy's rows: from 0 down by the furthest tap to the left, up by the one
 * to the right.
 */
static void
lay_out(struct side *a)
{
	int low = 0, high = 0;

	for (int k = 0; k < a->k; k++) {
		int phase, shift = shift_of(a, k, &phase);

		low = shift < low ? shift : low;
		high = shift > high ? shift : high;
		if (phase == a->phases && a->phases < PHASES / 2)
			a->phase[a->phases++] = k - a->p - shift * a->s;
	}
	a->cells = (a->in + a->s - 1) / a->s;
	if (a->cells > a->out + high)
		a->cells = a->out + high;
	a->pitch = a->out + high > a->cells - low ? a->out + high :
	    a->cells - low;
}

static struct side
side(const struct product_shape *s, int d)
{
	return (struct side){ .in = d ? s->in_w : s->in_h,
		.out = d ? s->out_w : s->out_h, .k = s->k[d], .s = s->s[d],
		.p = s->p[d] };
}

static int
is_pixels(const struct product_shape *s)
{
	return s->in_row % 16 != 0;
}

int
weights_can(const struct product_shape *s)
{
	if (is_pixels(s))
		return s->s[0] <= 2 && s->k[1] * s->in <= BLOCK &&
		    s->k[0] <= TAPS;
	return s->s[0] <= 2 && s->s[1] <= 2 && s->k[0] * s->k[1] <= TAPS;
}

static void
make_grid(struct weights *w)
{
	const struct product_shape *s = &w->s;
	long low = 0, high = 0;

	w->h = side(s, 0);
	w->w = side(s, 1);
	if (w->pixels) {
		/* One tap reads them all, from the outputs' own grid. */
		w->w.in = w->w.out;
		w->w.k = w->w.s = 1;
		w->w.p = 0;
	}
	lay_out(&w->h);
	lay_out(&w->w);
	w->places = (long)s->images * w->h.pitch * w->w.pitch;
	w->phases = w->h.phases * w->w.phases;
	for (int y = 0; y < w->h.k; y++)
		for (int x = 0; x < w->w.k; x++) {
			struct tap *t = &w->tap[w->taps++];
			int py, px;

			t->shift = (long)shift_of(&w->h, y, &py) * w->w.pitch;
			t->shift += shift_of(&w->w, x, &px);
			t->phase = py * w->w.phases + px;
			low = t->shift < low ? t->shift : low;
			high = t->shift > high ? t->shift : high;
		}
	w->before = up((int)high, AMX_TERMS);
	w->after = up((int)-low, AMX_TERMS);
}

/* ---- the cut ---- */

/* Numbers of A from row to row: not of a power of two, which would have all
 * rows meet in a few sets of the cache. */
static size_t
a_row(const struct weights *w, int run)
{
	return (size_t)up(w->before + run + w->after, 64) + AMX_TERMS;
}

static int
widest(int n, int cut)
{
	return up((blocks(n) + cut - 1) / cut, 1) * BLOCK;
}

static size_t
operands(const struct weights *w, int run)
{
	size_t a = a_row(w, run) * (size_t)widest(w->s.out_row, w->rows_cut);
	size_t b = (size_t)w->phases * (size_t)run *
	    (size_t)widest(w->columns, w->columns_cut);

	return (a + b) * sizeof(bf16);
}

/*
 * A part costs a gradient that is written and read once more, as much as 100
 * to 250 places of products.  More blocks, which cost an A or B each, are what
 * else there is to give threads: much of the work of one tap, little of nine.
 * (3x3 of 128 channels at 28x28: 14.4 ms in 8 parts, 13.3 in 2.)
 */
static int
parts_of(const struct weights *w)
{
	long parts = w->places / (w->taps > 1 ? 6400 : 1600);

	return parts < 1 ? 1 : parts > 8 ? 8 : (int)parts;
}

/*
 * As many jobs as that, if there are blocks for them: each makes its own A and
 * B, for which a number takes 0.11 and 0.06 cycles beside 0.002 for each with
 * which it is multiplied.
 */
static void
cut_blocks(struct weights *w, int jobs)
{
	int rows = blocks(w->s.out_row), columns = blocks(w->columns);
	double least = 0;

	w->rows_cut = rows;
	w->columns_cut = columns;
	for (int r = (rows * BLOCK + WIDEST - 1) / WIDEST; r <= rows; r++)
		for (int c = (columns * BLOCK + WIDEST - 1) / WIDEST;
		    c <= columns; c++) {
			double cost = 2.0 * c * rows +
			    1.0 * w->phases * r * columns;

			if (r * c * w->parts < jobs || (least > 0 &&
			    cost >= least))
				continue;
			least = cost;
			w->rows_cut = r;
			w->columns_cut = c;
		}
}

/* Where column j of B is in a row of the gradient, [in][kh][kw]. */
static void
place_columns(struct weights *w)
{
	int taps = w->s.k[0] * w->s.k[1], c = w->s.in;

	w->at = xcalloc((size_t)blocks(w->columns) * BLOCK, sizeof(*w->at));
	for (int j = 0; j < w->columns; j++)
		w->at[j] = w->pixels ? j % c * taps + j / c : j * taps;
}

struct weights *
weights_new(const struct product_shape *s, int threads)
{
	enum { CACHE = 1280 << 10, JOBS_A_THREAD = 2 };
	struct weights *w = xcalloc(1, sizeof(*w));
	long part;

	assert(weights_can(s));
	w->s = *s;
	if (s->k[0] * s->k[1] * s->s[0] * s->s[1] == 1 && s->p[0] + s->p[1] == 0) {
		/* Places are alike: all in one row. */
		w->s.in_w = w->s.out_w = s->images * s->in_h * s->in_w;
		w->s.in_h = w->s.out_h = w->s.images = 1;
	}
	w->k = amx_kernels_pick();
	w->pixels = is_pixels(s);
	w->columns = w->pixels ? s->k[1] * s->in : s->in_row;
	make_grid(w);
	place_columns(w);
	w->parts = parts_of(w);
	cut_blocks(w, threads * JOBS_A_THREAD);
	part = (w->places + w->parts - 1) / w->parts;
	w->run = up((int)(part < 1024 ? part : 1024), AMX_TERMS);
	while (w->run > 256 && operands(w, w->run) > CACHE)
		w->run -= AMX_TERMS;
	w->single = w->parts == 1 && w->places <= w->run;
	return w;
}

void
weights_free(struct weights *w)
{
	if (w == NULL)
		return;
	free(w->at);
	free(w);
}

size_t
weights_scratch(const struct weights *w)
{
	return operands(w, w->run) + (size_t)w->taps * SUMS * sizeof(float);
}

/* Blocks of a part: [rows][columns][taps] of SUMS. */
static size_t
part_sums(const struct weights *w)
{
	return (size_t)blocks(w->s.out_row) * (size_t)blocks(w->columns) *
	    (size_t)w->taps * SUMS;
}

size_t
weights_sums(const struct weights *w)
{
	return w->single ? 0 : (size_t)w->parts * part_sums(w) * sizeof(float);
}

int
weights_jobs(const struct weights *w)
{
	return w->parts * w->rows_cut * w->columns_cut;
}

int
weights_blocks(const struct weights *w)
{
	return w->parts == 1 ? 0 : blocks(w->s.out_row) * blocks(w->columns);
}

/* ---- making A and B ---- */

/* A walk over the grid, by what is left of a row or of AMX_TERMS places. */
struct walk { int image, h, w; };

static struct walk
walk_to(const struct weights *g, long q)
{
	long row = q / g->w.pitch;

	return (struct walk){ (int)(row / g->h.pitch), (int)(row % g->h.pitch),
		(int)(q % g->w.pitch) };
}

/* The places from here on in this row, ${most} at most; go on behind them. */
static int
walk_on(const struct weights *g, struct walk *at, int most)
{
	int n = g->w.pitch - at->w < most ? g->w.pitch - at->w : most;

	at->w += n;
	if (at->w < g->w.pitch)
		return n;
	at->w = 0;
	if (++at->h < g->h.pitch)
		return n;
	at->h = 0;
	at->image++;
	return n;
}

/* A group of blocks: of A's rows, of B's columns; channels of it. */
struct group { int first, n; };

static struct group
group(int channels, int cut, int i)
{
	int n = blocks(channels), first = n * i / cut, end = n * (i + 1) / cut;

	end = end * BLOCK < channels ? end * BLOCK : channels;
	return (struct group){ first * BLOCK, end - first * BLOCK };
}

static void
make_a(const struct weights *g, struct group o, bf16 *to, size_t row,
    const bf16 *dy, long from, int n)
{
	static const bf16 nothing[WIDEST];
	const struct product_shape *s = &g->s;
	const size_t step = (size_t)s->out_row;
	const bf16 *place[AMX_TERMS];
	struct walk at = walk_to(g, from < 0 ? 0 : from);

	for (int j = 0; j < n; j += AMX_TERMS) {
		int i = 0;

		/* What is before the first place is whole pieces. */
		for (; from + j < 0 && i < AMX_TERMS; i++)
			place[i] = nothing;
		while (i < AMX_TERMS) {
			struct walk is = at;
			int end = i + walk_on(g, &at, AMX_TERMS - i), there = 0;
			const bf16 *p = dy + (((size_t)is.image *
			    (size_t)s->out_h + (size_t)is.h) *
			    (size_t)s->out_w + (size_t)is.w) * step +
			    (size_t)o.first;

			if (is.image < s->images && is.h < s->out_h)
				there = s->out_w - is.w;
			for (; i < end && there > 0; i++, there--, p += step)
				place[i] = p;
			for (; i < end; i++)
				place[i] = nothing;
		}
		g->k->turn(to + j, row, place, o.n, AMX_TERMS * step);
	}
}

/* Of the pixels that one output's taps of a row read, those in the image. */
static uint32_t
inside(const struct product_shape *s, int first)
{
	int from = first < 0 ? -first : 0, to = s->in_w - first;
	uint64_t bits;

	to = to < s->k[1] ? to : s->k[1];
	if (from >= to)
		return 0;
	bits = ((uint64_t)1 << to * s->in) - ((uint64_t)1 << from * s->in);
	return (uint32_t)bits;
}

static void
make_b(const struct weights *g, struct group c, int phase, bf16 *to,
    size_t run, const bf16 *x, long from, int n)
{
	const struct product_shape *s = &g->s;
	const size_t step = (size_t)(s->s[1] * s->in_row);
	int y0 = g->h.phase[phase / g->w.phases];
	int x0 = g->pixels ? -s->p[1] : g->w.phase[phase % g->w.phases];
	const bf16 *place[AMX_TERMS];
	uint32_t mask[AMX_TERMS];
	struct walk at = walk_to(g, from);

	for (int j = 0; j < n; j += AMX_TERMS) {
		for (int i = 0; i < AMX_TERMS;) {
			struct walk is = at;
			int end = i + walk_on(g, &at, AMX_TERMS - i), there = 0;
			int h = is.h * s->s[0] + y0, w = is.w * s->s[1] + x0;
			const bf16 *p = x + (((long)is.image * s->in_h + h) *
			    s->in_w + w) * s->in_row + c.first;

			if (is.image < s->images && is.h < g->h.cells &&
			    h < s->in_h)
				there = g->w.cells - is.w;
			for (; i < end && there > 0 && w < s->in_w; i++,
			    there--, w += s->s[1], p += step) {
				place[i] = p;
				mask[i] = g->pixels ? inside(s, w) : ~0u;
			}
			for (; i < end; i++) {
				place[i] = x;
				mask[i] = 0;
			}
		}
		g->k->pair(to + (size_t)j * BLOCK, run, place, mask, c.n,
		    AMX_TERMS * step);
	}
}

/* ---- products ---- */

struct job { struct group rows, columns; long from, to; float *sums; };

static struct job
job_of(const struct weights *w, int i, float *sums)
{
	int cuts = w->rows_cut * w->columns_cut, part = i / cuts;
	long pieces = (w->places + AMX_TERMS - 1) / AMX_TERMS;

	return (struct job){
		group(w->s.out_row, w->rows_cut, i % cuts / w->columns_cut),
		group(w->columns, w->columns_cut, i % w->columns_cut),
		pieces * part / w->parts * AMX_TERMS,
		pieces * (part + 1) / w->parts * AMX_TERMS,
		sums + (size_t)part * part_sums(w) };
}

/* The sums of one block, all its taps, from ${sums} into the gradient. */
static void
put(const struct weights *w, int o, int c, float *dw, const float *sums,
    int parts)
{
	size_t out_step = (size_t)(w->s.in * w->s.k[0] * w->s.k[1]);
	int rows = w->s.out - o, columns = w->columns - c;

	if (!w->pixels && columns > w->s.in - c)
		columns = w->s.in - c;
	w->k->put(&(struct amx_put){ .to = dw + (size_t)o * out_step,
		.to_row = out_step, .at = w->at + c, .tap_step = w->pixels ?
		w->s.k[1] : 1, .from = sums, .part_step = part_sums(w),
		.parts = parts, .taps = w->taps, .rows = rows < BLOCK ? rows :
		BLOCK, .columns = columns < BLOCK ? columns : BLOCK });
}

static int
filled(int n)
{
	return n > BLOCK / 2 ? BLOCK : BLOCK / 2;
}

/* All products of a run: A and B are there. */
static void
multiply(const struct weights *w, const struct job *b, const bf16 *a,
    size_t row, const bf16 *pairs, size_t step, int n, int more, float *local,
    float *dw)
{
	int last = w->parts == 1 && !more && w->single;
	struct amx_product p = { .c_row = BLOCK, .more = more, .a_row = row,
		.a_piece = AMX_TERMS, .b_row = 2 * BLOCK,
		.b_piece = AMX_TERMS * BLOCK, .runs = 1,
		.depth = n / AMX_TERMS };

	for (int o = 0; o < b->rows.n; o += BLOCK)
		for (int c = 0; c < b->columns.n; c += BLOCK) {
			size_t block = (size_t)((b->rows.first + o) / BLOCK *
			    blocks(w->columns) + (b->columns.first + c) / BLOCK);
			float *sums = last ? local : b->sums + block *
			    (size_t)w->taps * SUMS;

			p.rows = filled(b->rows.n - o);
			p.columns = filled(b->columns.n - c);
			for (int t = 0; t < w->taps; t++) {
				const bf16 *at = a + (size_t)o * row +
				    w->before - w->tap[t].shift;

				p.a = &at;
				p.b = pairs + ((size_t)(w->tap[t].phase *
				    blocks(b->columns.n)) + (size_t)(c /
				    BLOCK)) * step;
				p.c = sums + (size_t)t * SUMS;
				w->k->multiply(&p);
			}
			if (last)
				put(w, b->rows.first + o, b->columns.first + c,
				    dw, sums, 1);
		}
}

void
weights_run(const struct weights *w, int job, const bf16 *x, const bf16 *dy,
    float *dw, float *sums, void *scratch)
{
	struct job b = job_of(w, job, sums);
	int runs = (int)((b.to - b.from + w->run - 1) / w->run);
	size_t row = a_row(w, w->run), step = (size_t)w->run * BLOCK;
	bf16 *a = (bf16 *)((char *)scratch + (size_t)w->taps * SUMS *
	    sizeof(float));
	bf16 *pairs = a + row * (size_t)up(b.rows.n, BLOCK);

	w->k->open(AMX_ROWS);
	for (int r = 0; r < runs; r++) {
		long all = (b.to - b.from) / AMX_TERMS;
		long from = b.from + all * r / runs * AMX_TERMS;
		int n = (int)(b.from + all * (r + 1) / runs * AMX_TERMS - from);

		make_a(w, b.rows, a, row, dy, from - w->before,
		    w->before + n + w->after);
		for (int f = 0; f < w->phases; f++)
			make_b(w, b.columns, f, pairs + step *
			    (size_t)(f * blocks(b.columns.n)), step, x, from,
			    n);
		multiply(w, &b, a, row, pairs, step, n, r > 0, scratch, dw);
	}
	w->k->close();
	if (w->parts > 1 || w->single)
		return;
	for (int o = 0; o < b.rows.n; o += BLOCK)
		for (int c = 0; c < b.columns.n; c += BLOCK) {
			int block = (b.rows.first + o) / BLOCK *
			    blocks(w->columns) + (b.columns.first + c) / BLOCK;

			put(w, b.rows.first + o, b.columns.first + c, dw,
			    sums + (size_t)block * (size_t)w->taps * SUMS, 1);
		}
}

void
weights_add(const struct weights *w, int block, float *dw, const float *sums)
{
	int columns = blocks(w->columns);

	put(w, block / columns * BLOCK, block % columns * BLOCK, dw, sums +
	    (size_t)block * (size_t)w->taps * SUMS, w->parts);
}
