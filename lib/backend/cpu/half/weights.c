/*
 * Gradients of weights in bf16: the cut into jobs, and the products.
 *
 * The gradient of a tap is one product over the grid of places (places.h) of A,
 * dy with places as columns, which begins at any number, and B, pairs of places
 * of x.  Both are made from the activations for a run of places at a time, which
 * stays in the cache while all products over it are added up.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/half/weights.h"
#include "base/mem.h"
#include "base/number.h"

enum { BLOCK = 32, SUMS = BLOCK * BLOCK, WIDEST = PLACES_WIDEST };

struct weights {
	struct places g;
	int parts, run;			/* places of a run at most */
	int rows_cut, columns_cut;	/* jobs of a part: groups of blocks */
	int single;			/* one part, and of that one run */
	int *at;			/* [columns] in a gradient's row */
};

static int
half_weights_blocks(int n)
{
	return div_up(n, BLOCK);
}

/* ---- the cut ---- */

/* Numbers of A from row to row: not of a power of two, which would have all
 * rows meet in a few sets of the cache. */
static size_t
half_weights_a_row(const struct weights *w, int run)
{
	return round_up((uint64_t)(w->g.before + run + w->g.after), 64) +
	    AMX_TERMS;
}

static int
half_weights_widest(int n, int cut)
{
	return div_up(half_weights_blocks(n), cut) * BLOCK;
}

static size_t
half_weights_operands(const struct weights *w, int run)
{
	size_t a = half_weights_a_row(w, run) *
	    (size_t)half_weights_widest(w->g.s.out_row, w->rows_cut);
	size_t b = (size_t)w->g.phases * (size_t)run *
	    (size_t)half_weights_widest(w->g.columns, w->columns_cut);

	return (a + b) * sizeof(bf16);
}

/*
 * A part costs a gradient that is written and read once more, as much as 100
 * to 250 places of products.  More blocks, which cost an A or B each, are what
 * else there is to give threads: much of the work of one tap, little of nine.
 * (3x3 of 128 channels at 28x28: 14.4 ms in 8 parts, 13.3 in 2.)
 */
static int
half_weights_parts_of(const struct weights *w)
{
	long parts = w->g.n / (w->g.taps > 1 ? 6400 : 1600);

	return parts < 1 ? 1 : parts > 8 ? 8 : (int)parts;
}

/*
 * As many jobs as that, if there are blocks for them: each makes its own A and
 * B, for which a number takes 0.11 and 0.06 cycles beside 0.002 for each with
 * which it is multiplied.
 */
static void
half_weights_cut_blocks(struct weights *w, int jobs)
{
	int rows = half_weights_blocks(w->g.s.out_row),
	    columns = half_weights_blocks(w->g.columns);
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

/* Where column j of B is in a row of the gradient, [in][kh][kw]. */
static void
half_weights_place_columns(struct weights *w)
{
	int taps = w->g.s.k[0] * w->g.s.k[1], c = w->g.s.in;

	w->at = xcalloc((size_t)half_weights_blocks(w->g.columns) * BLOCK,
	    sizeof(*w->at));
	for (int j = 0; j < w->g.columns; j++)
		w->at[j] = w->g.pixels ? j % c * taps + j / c : j * taps;
}

struct weights *
weights_new(const struct product_shape *s, int threads)
{
	enum { CACHE = 1280 << 10, JOBS_A_THREAD = 2 };
	struct weights *w = xcalloc(1, sizeof(*w));
	long part;

	assert(places_can(s));
	places_init(&w->g, s);
	half_weights_place_columns(w);
	w->parts = half_weights_parts_of(w);
	half_weights_cut_blocks(w, threads * JOBS_A_THREAD);
	part = (w->g.n + w->parts - 1) / w->parts;
	w->run = (int)round_up(part < 1024 ? part : 1024, AMX_TERMS);
	while (w->run > 256 && half_weights_operands(w, w->run) > CACHE)
		w->run -= AMX_TERMS;
	w->single = w->parts == 1 && w->g.n <= w->run;
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
	return half_weights_operands(w, w->run) + (size_t)w->g.taps * SUMS *
	    sizeof(float);
}

/* Blocks of a part: [rows][columns][taps] of SUMS. */
static size_t
half_weights_part_sums(const struct weights *w)
{
	return (size_t)half_weights_blocks(w->g.s.out_row) *
	    (size_t)half_weights_blocks(w->g.columns) * (size_t)w->g.taps *
	    SUMS;
}

size_t
weights_sums(const struct weights *w)
{
	return w->single ? 0 : (size_t)w->parts * half_weights_part_sums(w) *
	    sizeof(float);
}

int
weights_jobs(const struct weights *w)
{
	return w->parts * w->rows_cut * w->columns_cut;
}

int
weights_blocks(const struct weights *w)
{
	return w->parts == 1 ? 0 : half_weights_blocks(w->g.s.out_row) *
	    half_weights_blocks(w->g.columns);
}

/* ---- products ---- */

static struct places_group
half_weights_group(int channels, int cut, int i)
{
	int n = half_weights_blocks(channels), first = n * i / cut,
	    end = n * (i + 1) / cut;

	end = end * BLOCK < channels ? end * BLOCK : channels;
	return (struct places_group){ first * BLOCK, end - first * BLOCK };
}

struct half_weights_job {
	struct places_group rows, columns;
	long from, to;
	float *sums;
};

static struct half_weights_job
half_weights_job_of(const struct weights *w, int i, float *sums)
{
	int cuts = w->rows_cut * w->columns_cut, part = i / cuts;
	long pieces = (w->g.n + AMX_TERMS - 1) / AMX_TERMS;

	return (struct half_weights_job){
		half_weights_group(w->g.s.out_row, w->rows_cut,
		i % cuts / w->columns_cut), half_weights_group(w->g.columns,
		w->columns_cut, i % w->columns_cut),
		pieces * part / w->parts * AMX_TERMS,
		pieces * (part + 1) / w->parts * AMX_TERMS,
		sums + (size_t)part * half_weights_part_sums(w) };
}

/* The sums of one block, all its taps, from ${sums} into the gradient. */
static void
half_weights_put(const struct weights *w, int o, int c, float *dw,
    const float *sums, int parts)
{
	size_t out_step = (size_t)(w->g.s.in * w->g.s.k[0] * w->g.s.k[1]);
	int rows = w->g.s.out - o, columns = w->g.columns - c;

	if (!w->g.pixels && columns > w->g.s.in - c)
		columns = w->g.s.in - c;
	w->g.k->put(&(struct amx_put){ .to = dw + (size_t)o * out_step,
		.to_row = out_step, .at = w->at + c, .tap_step = w->g.pixels ?
		w->g.s.k[1] : 1, .from = sums,
		    .part_step = half_weights_part_sums(w),
		.parts = parts, .taps = w->g.taps, .rows = rows < BLOCK ? rows :
		BLOCK, .columns = columns < BLOCK ? columns : BLOCK });
}

static int
half_weights_filled(int n)
{
	return n > BLOCK / 2 ? BLOCK : BLOCK / 2;
}

/* All products of a run: A and B are there. */
static void
half_weights_multiply(const struct weights *w, const struct half_weights_job *b,
    const bf16 *a, size_t row, const bf16 *pairs, size_t step, int n, int more,
    float *local, float *dw)
{
	int last = w->parts == 1 && !more && w->single;
	struct amx_product p = { .c_row = BLOCK, .more = more, .a_row = row,
		.a_piece = AMX_TERMS, .b_row = 2 * BLOCK,
		.b_piece = AMX_TERMS * BLOCK, .runs = 1,
		.depth = n / AMX_TERMS };

	for (int o = 0; o < b->rows.n; o += BLOCK)
		for (int c = 0; c < b->columns.n; c += BLOCK) {
			size_t block = (size_t)((b->rows.first + o) / BLOCK *
			    half_weights_blocks(w->g.columns) +
			    (b->columns.first + c) / BLOCK);
			float *sums = last ? local : b->sums + block *
			    (size_t)w->g.taps * SUMS;

			p.rows = half_weights_filled(b->rows.n - o);
			p.columns = half_weights_filled(b->columns.n - c);
			for (int t = 0; t < w->g.taps; t++) {
				const bf16 *at = a + (size_t)o * row +
				    w->g.before - w->g.tap[t].shift;

				p.a = &at;
				p.b = pairs + ((size_t)(w->g.tap[t].phase *
				    half_weights_blocks(b->columns.n)) +
				    (size_t)(c / BLOCK)) * step;
				p.c = sums + (size_t)t * SUMS;
				w->g.k->multiply(&p);
			}
			if (last)
				half_weights_put(w, b->rows.first + o,
				    b->columns.first + c, dw, sums, 1);
		}
}

void
weights_run(const struct weights *w, int job, const bf16 *x, const bf16 *dy,
    float *dw, float *sums, void *scratch)
{
	struct half_weights_job b = half_weights_job_of(w, job, sums);
	int runs = (int)((b.to - b.from + w->run - 1) / w->run);
	size_t row = half_weights_a_row(w, w->run),
	    step = (size_t)w->run * BLOCK;
	bf16 *a = (bf16 *)((char *)scratch + (size_t)w->g.taps * SUMS *
	    sizeof(float));
	bf16 *pairs = a + row * round_up((uint64_t)b.rows.n, BLOCK);

	w->g.k->open(AMX_ROWS);
	for (int r = 0; r < runs; r++) {
		long all = (b.to - b.from) / AMX_TERMS;
		long from = b.from + all * r / runs * AMX_TERMS;
		int n = (int)(b.from + all * (r + 1) / runs * AMX_TERMS - from);

		places_turn(&w->g, b.rows, a, row, dy, from - w->g.before,
		    w->g.before + n + w->g.after);
		for (int f = 0; f < w->g.phases; f++)
			places_pair(&w->g, b.columns, f, pairs + step *
			    (size_t)(f * half_weights_blocks(b.columns.n)),
			    step, x, from, n);
		half_weights_multiply(w, &b, a, row, pairs, step, n, r > 0,
		    scratch, dw);
	}
	w->g.k->close();
	if (w->parts > 1 || w->single)
		return;
	for (int o = 0; o < b.rows.n; o += BLOCK)
		for (int c = 0; c < b.columns.n; c += BLOCK) {
			int block = (b.rows.first + o) / BLOCK *
			    half_weights_blocks(w->g.columns) +
			    (b.columns.first + c) / BLOCK;

			half_weights_put(w, b.rows.first + o,
			    b.columns.first + c, dw,
			    sums + (size_t)block * (size_t)w->g.taps * SUMS, 1);
		}
}

void
weights_add(const struct weights *w, int block, float *dw, const float *sums)
{
	int columns = half_weights_blocks(w->g.columns);

	half_weights_put(w, block / columns * BLOCK, block % columns * BLOCK,
	    dw, sums + (size_t)block * (size_t)w->g.taps * SUMS, w->parts);
}
