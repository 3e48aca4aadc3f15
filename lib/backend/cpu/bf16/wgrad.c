/*
 * Weight gradients in bf16 (weights.h): how the work is split, and the GEMMs.
 *
 * The gradient of a tap is one GEMM over the grid of positions (conv_grid.h).
 * A is dy with positions as columns, and a tap selects where it begins.  B is
 * pairs of positions of x.  Both are made from the activations for a run of
 * positions at a time, which stays in the cache while all its GEMMs are
 * computed.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/bf16/wgrad.h"
#include "base/mem.h"
#include "base/number.h"

enum { BLOCK = 32, SUMS = BLOCK * BLOCK, WIDEST = PLACES_WIDEST };

struct wgrad {
	struct conv_grid g;
	int parts, run;			/* positions of a run, at most */
	int rows_cut, columns_cut;	/* jobs of a part: groups of blocks */
	int single;			/* there is one part with one run */
	int *at;			/* [columns]: offset in a row of dw */
};

static int
bf16_wgrad_blocks(int n)
{
	return div_up(n, BLOCK);
}

/* ---- splitting ---- */

/*
 * Numbers of A from row to row.  A power of two would put all rows into a few
 * sets of the cache.
 */
static size_t
bf16_wgrad_a_row(const struct wgrad *w, int run)
{
	return round_up((uint64_t)(w->g.before + run + w->g.after), 64) +
	    AMX_TERMS;
}

static int
bf16_wgrad_widest(int n, int cut)
{
	return div_up(bf16_wgrad_blocks(n), cut) * BLOCK;
}

static size_t
bf16_wgrad_operands(const struct wgrad *w, int run)
{
	size_t a = bf16_wgrad_a_row(w, run) *
	    (size_t)bf16_wgrad_widest(w->g.s.out_row, w->rows_cut);
	size_t b = (size_t)w->g.phases * (size_t)run *
	    (size_t)bf16_wgrad_widest(w->g.columns, w->columns_cut);

	return (a + b) * sizeof(bf16);
}

/*
 * Return the parts.  Each part writes and reads a gradient, which costs as much
 * as the GEMMs of 100 to 250 positions.  The alternative is more blocks, each
 * of which needs an A or B of its own: much of the work of one tap, little of
 * that of nine. 3x3 of 128 channels at 28 x 28 takes 14.4 ms in 8 parts, and
 * 13.3 in 2.
 */
static int
bf16_wgrad_parts_of(const struct wgrad *w)
{
	long parts = w->g.n / (w->g.taps > 1 ? 6400 : 1600);

	return parts < 1 ? 1 : parts > 8 ? 8 : (int)parts;
}

/*
 * Split the blocks into at least ${jobs} jobs if there are enough.  Each job
 * makes its own A and B.  A number of them takes 0.11 and 0.06 cycles, where
 * multiplying it by another takes 0.002.
 */
static void
bf16_wgrad_cut_blocks(struct wgrad *w, int jobs)
{
	int rows = bf16_wgrad_blocks(w->g.s.out_row),
	    columns = bf16_wgrad_blocks(w->g.columns);
	double least = 0;

	w->rows_cut = rows;
	w->columns_cut = columns;
	for (int r = (rows * BLOCK + WIDEST - 1) / WIDEST; r <= rows; r++)
		for (int c = (columns * BLOCK + WIDEST - 1) / WIDEST;
		    c <= columns; c++) {
			double cost = 2.0 * c * rows +
			    1.0 * w->g.phases * r * columns;

			if (r * c * w->parts < jobs || (least > 0 &&
			    cost >= least))
				continue;
			least = cost;
			w->rows_cut = r;
			w->columns_cut = c;
		}
}

/* Set the offset of column j of B in a row of the gradient, [in][kh][kw]. */
static void
bf16_wgrad_place_columns(struct wgrad *w)
{
	int taps = w->g.s.k[0] * w->g.s.k[1], c = w->g.s.in;

	w->at = xcalloc((size_t)bf16_wgrad_blocks(w->g.columns) * BLOCK,
	    sizeof(*w->at));
	for (int j = 0; j < w->g.columns; j++)
		w->at[j] = w->g.pixels ? j % c * taps + j / c : j * taps;
}

struct wgrad *
wgrad_new(const struct gemm_conv *s, int threads)
{
	enum { CACHE = 1280 << 10, JOBS_A_THREAD = 2 };
	struct wgrad *w = xcalloc(1, sizeof(*w));
	long part;

	assert(conv_grid_supports(s));
	conv_grid_init(&w->g, s);
	bf16_wgrad_place_columns(w);
	w->parts = bf16_wgrad_parts_of(w);
	bf16_wgrad_cut_blocks(w, threads * JOBS_A_THREAD);
	part = (w->g.n + w->parts - 1) / w->parts;
	w->run = (int)round_up(part < 1024 ? part : 1024, AMX_TERMS);
	while (w->run > 256 && bf16_wgrad_operands(w, w->run) > CACHE)
		w->run -= AMX_TERMS;
	assert(w->g.n > 0 && w->g.phases > 0 && w->run > 0);
	w->single = w->parts == 1 && w->g.n <= w->run;
	return w;
}

void
wgrad_free(struct wgrad *w)
{
	if (w == NULL)
		return;
	free(w->at);
	free(w);
}

size_t
wgrad_scratch(const struct wgrad *w)
{
	return bf16_wgrad_operands(w, w->run) + (size_t)w->g.taps * SUMS *
	    sizeof(float);
}

/* Numbers of the sums of a part: [rows][columns][taps] blocks of SUMS. */
static size_t
bf16_wgrad_part_sums(const struct wgrad *w)
{
	return (size_t)bf16_wgrad_blocks(w->g.s.out_row) *
	    (size_t)bf16_wgrad_blocks(w->g.columns) * (size_t)w->g.taps *
	    SUMS;
}

size_t
wgrad_sums(const struct wgrad *w)
{
	return w->single ? 0 : (size_t)w->parts * bf16_wgrad_part_sums(w) *
	    sizeof(float);
}

int
wgrad_jobs(const struct wgrad *w)
{
	return w->parts * w->rows_cut * w->columns_cut;
}

int
wgrad_blocks(const struct wgrad *w)
{
	return w->parts == 1 ? 0 : bf16_wgrad_blocks(w->g.s.out_row) *
	    bf16_wgrad_blocks(w->g.columns);
}

/* ---- GEMMs ---- */

static struct conv_grid_range
bf16_wgrad_group(int channels, int cut, int i)
{
	int n = bf16_wgrad_blocks(channels), first = n * i / cut,
	    end = n * (i + 1) / cut;

	end = end * BLOCK < channels ? end * BLOCK : channels;
	return (struct conv_grid_range){ first * BLOCK, end - first * BLOCK };
}

struct bf16_wgrad_job {
	struct conv_grid_range rows, columns;
	long from, to;
	float *sums;
	bf16 *a, *pairs;		/* A and B of a run, in the scratch */
};

static struct bf16_wgrad_job
bf16_wgrad_job_of(const struct wgrad *w, int i, const struct conv_buffers *o)
{
	int cuts = w->rows_cut * w->columns_cut, part = i / cuts;
	long pieces = (w->g.n + AMX_TERMS - 1) / AMX_TERMS;
	struct bf16_wgrad_job j = {
		bf16_wgrad_group(w->g.s.out_row, w->rows_cut,
		i % cuts / w->columns_cut), bf16_wgrad_group(w->g.columns,
		w->columns_cut, i % w->columns_cut),
		pieces * part / w->parts * AMX_TERMS,
		pieces * (part + 1) / w->parts * AMX_TERMS,
		o->parts + (size_t)part * bf16_wgrad_part_sums(w),
		.a = (bf16 *)((char *)o->scratch + (size_t)w->g.taps * SUMS *
		    sizeof(float)) };

	j.pairs = j.a + bf16_wgrad_a_row(w, w->run) *
	    round_up((uint64_t)j.rows.n, BLOCK);
	return j;
}

/* Write the sums of one block, for all its taps, to the gradient. */
static void
bf16_wgrad_put(const struct wgrad *w, int o, int c, float *dw,
    const float *sums, int parts)
{
	size_t out_step = (size_t)(w->g.s.in * w->g.s.k[0] * w->g.s.k[1]);
	int rows = w->g.s.out - o, columns = w->g.columns - c;

	if (!w->g.pixels && columns > w->g.s.in - c)
		columns = w->g.s.in - c;
	w->g.k->put(&(struct amx_put){ .to = dw + (size_t)o * out_step,
		.to_row = out_step, .at = w->at + c, .tap_step = w->g.pixels ?
		w->g.s.k[1] : 1, .from = sums,
		    .part_step = bf16_wgrad_part_sums(w),
		.parts = parts, .taps = w->g.taps, .rows = rows < BLOCK ? rows :
		BLOCK, .columns = columns < BLOCK ? columns : BLOCK });
}

static int
bf16_wgrad_filled(int n)
{
	return n > BLOCK / 2 ? BLOCK : BLOCK / 2;
}

/* Add all GEMMs of a run of ${n} terms to the sums, from A and B. */
static void
bf16_wgrad_multiply(const struct wgrad *w, const struct bf16_wgrad_job *b,
    const struct conv_buffers *to, int n, int more)
{
	size_t row = bf16_wgrad_a_row(w, w->run),
	    step = (size_t)w->run * BLOCK;
	int last = w->parts == 1 && !more && w->single;
	struct amx_product p = { .c_row = BLOCK, .more = more, .a_row = row,
		.a_piece = AMX_TERMS, .b_row = 2 * BLOCK,
		.b_piece = AMX_TERMS * BLOCK, .runs = 1,
		.depth = n / AMX_TERMS };

	for (int o = 0; o < b->rows.n; o += BLOCK)
		for (int c = 0; c < b->columns.n; c += BLOCK) {
			size_t block = (size_t)((b->rows.first + o) / BLOCK *
			    bf16_wgrad_blocks(w->g.columns) +
			    (b->columns.first + c) / BLOCK);
			float *sums = last ? to->scratch : b->sums + block *
			    (size_t)w->g.taps * SUMS;

			p.rows = bf16_wgrad_filled(b->rows.n - o);
			p.columns = bf16_wgrad_filled(b->columns.n - c);
			for (int t = 0; t < w->g.taps; t++) {
				const bf16 *at = b->a + (size_t)o * row +
				    w->g.before - w->g.tap[t].shift;

				p.a = &at;
				p.b = b->pairs + ((size_t)(w->g.tap[t].phase *
				    bf16_wgrad_blocks(b->columns.n)) +
				    (size_t)(c / BLOCK)) * step;
				p.c = sums + (size_t)t * SUMS;
				w->g.k->multiply(&p);
			}
			if (last)
				bf16_wgrad_put(w, b->rows.first + o,
				    b->columns.first + c, to->out, sums, 1);
		}
}

void
wgrad_run(const void *state, int job, const struct conv_buffers *o)
{
	const struct wgrad *w = state;
	struct bf16_wgrad_job b = bf16_wgrad_job_of(w, job, o);
	int runs = (int)((b.to - b.from + w->run - 1) / w->run);
	size_t row = bf16_wgrad_a_row(w, w->run),
	    step = (size_t)w->run * BLOCK;

	w->g.k->open(AMX_ROWS);
	for (int r = 0; r < runs; r++) {
		long all = (b.to - b.from) / AMX_TERMS;
		long from = b.from + all * r / runs * AMX_TERMS;
		int n = (int)(b.from + all * (r + 1) / runs * AMX_TERMS - from);

		conv_grid_pack_a(&w->g, b.rows, b.a, row, o->dy,
		    from - w->g.before, w->g.before + n + w->g.after);
		for (int f = 0; f < w->g.phases; f++)
			conv_grid_pack_b(&w->g, b.columns, f, b.pairs + step *
			    (size_t)(f * bf16_wgrad_blocks(b.columns.n)),
			    step, o->in, from, n);
		bf16_wgrad_multiply(w, &b, o, n, r > 0);
	}
	w->g.k->close();
	if (w->parts > 1 || w->single)
		return;
	for (int i = 0; i < b.rows.n; i += BLOCK)
		for (int c = 0; c < b.columns.n; c += BLOCK) {
			int block = (b.rows.first + i) / BLOCK *
			    bf16_wgrad_blocks(w->g.columns) +
			    (b.columns.first + c) / BLOCK;

			bf16_wgrad_put(w, b.rows.first + i,
			    b.columns.first + c, o->out, o->parts +
			    (size_t)block * (size_t)w->g.taps * SUMS, 1);
		}
}

void
wgrad_add(const void *state, int block, const struct conv_buffers *o)
{
	const struct wgrad *w = state;
	int columns = bf16_wgrad_blocks(w->g.columns);

	bf16_wgrad_put(w, block / columns * BLOCK, block % columns * BLOCK,
	    o->out, o->parts + (size_t)block * (size_t)w->g.taps * SUMS,
	    w->parts);
}
