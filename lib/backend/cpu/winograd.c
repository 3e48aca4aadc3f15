/*
 * Winograd's algorithm for forward passes and data gradients (winograd.h): the
 * size of calls, the transform of weights, and the steps of a call.
 */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/direct_kernels.h"
#include "backend/cpu/winograd.h"
#include "backend/cpu/winograd_kernels.h"
#include "backend/cpu/winograd_tiles.h"
#include "base/number.h"

int
winograd_tiles(const struct winograd *g)
{
	return g->images * winograd_tiles_of(g->out_h, g->out_w);
}

/*
 * Choose the tiles of a call.  With more tiles, the weights pass through the
 * cache less often; with fewer, the input of the tiles stays in it.  Effective
 * GF/s of one thread:
 *
 *	tiles				24	48	96
 *	64 channels, 56 x 56		323	308	233
 *	256 channels, 14 x 14		199	263	256
 *	512 channels, 7 x 7		140	166	208
 */
int
winograd_call_tiles(const struct winograd *g, int threads)
{
	int tiles = winograd_tiles(g), largest = g->in > 128 ? 96 : 48;
	int calls = div_up(tiles, threads * largest) * threads,
	    each = div_up(tiles, calls);

	assert(each > 0);
	/* If some tiles lack elements, each element fills up its own rows. */
	if (g->out_h % 4 != 0 || g->out_w % 4 != 0)
		return each;
	return div_up(each, WINOGRAD_ROWS) * WINOGRAD_ROWS;
}

int
winograd_slices(const struct winograd *g)
{
	return div_up(g->out, 2 * cpu_lanes());
}

static size_t
winograd_slice_floats(const struct winograd *g)
{
	return (size_t)WINOGRAD_ELEMENTS * cpu_padded(g->in) * 2 * cpu_lanes();
}

size_t
winograd_weights(const struct winograd *g)
{
	return winograd_slice_floats(g) * (size_t)winograd_slices(g) *
	    sizeof(float);
}

static size_t
winograd_rows_of(int tiles)
{
	return (size_t)div_up(tiles, WINOGRAD_ROWS) * WINOGRAD_ROWS;
}

/*
 * Floats from one element to the next, a cache line more than needed.  With
 * powers of two, all 36 elements would compete for a few sets of the cache.
 */
static size_t
winograd_v_step(const struct winograd *g, size_t rows)
{
	return rows * (size_t)cpu_padded(g->in) + (size_t)cpu_lanes();
}

static size_t
winograd_m_step(size_t rows)
{
	return rows * 2 * (size_t)cpu_lanes() + (size_t)cpu_lanes();
}

size_t
winograd_scratch(const struct winograd *g)
{
	size_t rows = winograd_rows_of(g->tiles);

	return WINOGRAD_ELEMENTS *
	    (winograd_v_step(g, rows) + winograd_m_step(rows)) * sizeof(float);
}

/*
 * Copy the taps of input channel ${c} to a block of output channels at
 * ${first}: w[9][L], zeros for channels that do not exist.
 */
static void
winograd_gather(const struct winograd *g, float *w, const float *outer, int c,
    int first)
{
	int lanes = cpu_lanes();

	memset(w, 0, 9 * (size_t)lanes * sizeof(float));
	for (int o = 0; o < lanes && first + o < g->out && c < g->in; o++) {
		const float *from = outer + (size_t)c * g->in_step +
		    (size_t)(first + o) * g->out_step;

		for (int i = 0; i < 9; i++)
			w[(g->rotated ? 8 - i : i) * lanes + o] = from[i];
	}
}

/*
 * Copy the taps of a block of input channels at ${c}: w[L][9][L].
 *
 * Whole blocks are transposed as L x L squares.  Forward, the 9 L taps from the
 * block to one output channel are contiguous and give nine squares.  For a data
 * gradient, each input channel gives one square whose first nine rows are the
 * taps.  With 16 lanes, the other rows are weights behind them; the last
 * channels have none behind them and go tap by tap.  With 8 lanes, the ninth
 * tap is copied separately.
 */
static void
winograd_gather_block(const struct winograd *g, float *w, const float *outer,
    int c, int first)
{
	const struct direct_kernels *k = direct_kernels_pick();
	float square[LANES_MAX * LANES_MAX] __attribute__((aligned(64)));
	size_t lanes = (size_t)cpu_lanes();
	const float *from = outer + (size_t)c * g->in_step +
	    (size_t)first * g->out_step;
	int n = (int)lanes, whole = c + n <= g->in && first + n <= g->out;

	if (whole && !g->rotated && g->in_step == 9) {
		for (size_t i = 0; i < 9; i++)
			k->transpose(w + i * lanes * lanes, lanes,
			    from + i * lanes, (size_t)g->out_step);
		return;
	}
	whole = whole && g->rotated && g->out_step == 9;
	for (int i = 0; i < n; i++, from += g->in_step, w += 9 * lanes) {
		if (!whole || (c + i + 1 == g->in && first + n == g->out)) {
			winograd_gather(g, w, outer, c + i, first);
			continue;
		}
		k->transpose(square, lanes, from, 9);
		for (size_t t = 0; t < 9 && t < lanes; t++)
			memcpy(w + (8 - t) * lanes, square + t * lanes,
			    lanes * sizeof(float));
		for (size_t o = 0; o < lanes && lanes < 9; o++)
			w[o] = from[o * 9 + 8];
	}
}

void
winograd_pack(const void *state, int slice, const struct conv_buffers *o)
{
	enum { SOME = 4 };		/* channels to transform before copying
					 * them to 36 distant addresses */
	const struct winograd *g = state;
	const struct winograd_kernels *k = winograd_kernels_pick();
	float part[WINOGRAD_ELEMENTS * SOME * 2 * LANES_MAX]
	    __attribute__((aligned(64)));
	float w[2][9 * LANES_MAX * LANES_MAX] __attribute__((aligned(64)));
	int lanes = cpu_lanes(), in = cpu_padded(g->in);
	float *u = (float *)o->w + winograd_slice_floats(g) * (size_t)slice;
	size_t step = (size_t)in * 2 * (size_t)lanes;
	size_t run = SOME * 2 * (size_t)lanes;

	for (int c = 0; c < in; c += SOME, u += run) {
		for (int j = 0; j < 2 && c % lanes == 0; j++)
			winograd_gather_block(g, w[j], o->weights, c,
			    (slice * 2 + j) * lanes);
		for (int i = 0; i < 2 * SOME; i++)
			k->weights(part + i * lanes, run, w[i % 2] +
			    (c % lanes + i / 2) * 9 * lanes);
		for (int e = 0; e < WINOGRAD_ELEMENTS; e++)
			memcpy(u + step * (size_t)e, part + run * (size_t)e,
			    run * sizeof(float));
	}
}

/*
 * Transform block by block and, within a block, tile by tile, the order of fp32
 * input in memory.  Prefetch a few tiles ahead.  With input in L3, a tile of 16
 * lanes takes 115 ns, of which 50 are arithmetic.  In the order of tiles, then
 * blocks, it took 255 ns.
 */
void
winograd_transform(const struct winograd *g, const struct winograd_tiles *t,
    const struct winograd_input *x, float *v)
{
	const struct winograd_kernels *k = winograd_kernels_pick();
	int lanes = cpu_lanes(), n = x->blocks * t->n;
	int c = x->is_dy ? g->out : g->in;
	int h = x->is_dy ? g->out_h : g->in_h, w = x->is_dy ? g->out_w :
	    g->in_w;

	for (int i = 0; i < n; i++) {
		const struct winograd_tile *a = &t->tile[i % t->n];
		int at[2] = { a->at[0] - g->p[0], a->at[1] - g->p[1] };
		int b = i / t->n, j = i + WINOGRAD_AHEAD;
		float *to = v + (x->rows * b + (size_t)(i % t->n)) * lanes;
		struct winograd_plane in = winograd_plane(x->x, g->bf16, c, h,
		    w, a->image, x->block + b);

		if (j < n) {
			const struct winograd_tile *next = &t->tile[j % t->n];
			struct winograd_plane far = winograd_plane(x->x,
			    g->bf16, c, h, w, next->image, x->block + j / t->n);

			winograd_prefetch(&far, next->at, !x->is_dy);
		}
		if (x->is_dy)
			k->gradient_in(to, x->step, &in, a->at, a->n);
		else
			k->input(to, x->step, &in, at, a->n);
	}
}

/*
 * Return 1 if results are stored past the caches.  Including the sums of a
 * normalization, which reads them next, ms of one thread for 16 images, cached
 * and streamed:
 *
 *	64 channels, 56 x 56		13.9	13.0
 *	128 channels, 28 x 28		11.9	11.0
 *	256 channels, 14 x 14		13.5	12.8
 *	512 channels, 7 x 7, 1.6 MB	15.3	14.4
 */
static int
winograd_is_large(const struct winograd *g)
{
	return (size_t)g->images * g->out_h * g->out_w * cpu_padded(g->out) *
	    sizeof(float) >= (size_t)1 << 20;
}

/*
 * Multiply one element of the tiles that have it, and of some more tiles to
 * fill up WINOGRAD_ROWS.
 */
static void
winograd_multiply(const struct winograd *g, const struct winograd_tiles *t,
    int e, float *m, const float *v, const float *u)
{
	const struct winograd_kernels *k = winograd_kernels_pick();
	int lanes = cpu_lanes(), from;
	size_t rows = winograd_rows_of(t->n);
	size_t n = winograd_rows_of(winograd_range(t, e, &from));
	size_t r = (size_t)from;

	r = r + n > rows ? rows - n : r;
	m += winograd_m_step(rows) * e;
	v += winograd_v_step(g, rows) * e;
	for (n += r; r < n; r += WINOGRAD_ROWS)
		k->product(m + r * 2 * lanes, v + r * lanes, rows * lanes, u,
		    cpu_blocks(g->in));
}

void
winograd_run(const void *state, int job, const struct conv_buffers *o)
{
	const struct winograd *g = state;
	const struct winograd_kernels *k = winograd_kernels_pick();
	int lanes = cpu_lanes(), in = cpu_blocks(g->in);
	int out = cpu_blocks(g->out), wide = 2 * lanes;
	int from = job * g->tiles, all = winograd_tiles(g);
	int to = from + g->tiles < all ? from + g->tiles : all;
	size_t rows = winograd_rows_of(to - from),
	    next_m = winograd_m_step(rows);
	float *v = o->scratch, *m = v + winograd_v_step(g, rows) *
	    WINOGRAD_ELEMENTS;
	const float *u = o->w;
	int how = o->more ? WINOGRAD_MORE :
	    !g->bf16 && winograd_is_large(g) ? WINOGRAD_STREAM : 0;
	struct winograd_tiles t;

	winograd_sort(&t, g->out_h, g->out_w, from, to);
	winograd_transform(g, &t, &(struct winograd_input){ o->in, 0, 0, in,
	    rows, winograd_v_step(g, rows) }, v);
	for (int first = 0; first < out; first += 2) {
		for (int e = 0; e < WINOGRAD_ELEMENTS; e++) {
			winograd_multiply(g, &t, e, m, v, u);
			u += (size_t)in * lanes * wide;
		}
		for (int i = 0; i < t.n; i++) {
			const struct winograd_tile *a = &t.tile[i];

			for (int b = first; b < out && b < first + 2; b++) {
				__attribute__((aligned(64)))
				float plus[LANES_MAX] = { 0 };
				struct winograd_plane to =
				    winograd_plane(o->out, g->bf16, g->out,
				    g->out_h, g->out_w, a->image, b);

				for (int c = 0; o->bias != NULL && c < lanes &&
				    b * lanes + c < g->out; c++)
					plus[c] = o->bias[b * lanes + c];
				k->output(&to, a->at, a->n, m + (size_t)i *
				    wide + (b - first) * lanes, next_m,
				    o->bias != NULL ? plus : NULL, how);
			}
		}
	}
	if (how == WINOGRAD_STREAM)
		k->streamed();
}
