/*
 * Matrix products of AMX tiles equal plain sums of small whole numbers, at
 * every edge of a tile.  Gradients of weights made from them agree with plain
 * sums in double, and have the same bits for any number of threads.
 */
#include <stdint.h>

#include "backend/cpu/bf16/wgrad.h"
#include "base/mem.h"
#include "base/rng.h"

#include "tap.h"

enum { MAX = 8 };			/* blocks of the summed dimension */

static bf16
whole(uint32_t i, uint32_t stream)
{
	return bf16_of((float)(int)(4 * rng_normal(1, stream, i)));
}

/*
 * Elements outside the product are NaN in A and B.  C holds known values, so
 * that a write outside shows.
 */
static void
test_product(const struct amx_kernels *k, int rows, int columns, int runs,
    int depth, int more)
{
	static bf16 a[3][33 * (MAX * 32 + 5)], b[3 * MAX * 16 * 96];
	static float c[33 * 40];
	const bf16 *at[3] = { a[0] + 1, a[1], a[2] + 7 };
	int pieces = runs * depth, bad = 0;
	size_t row = (size_t)depth * 32 + 5;
	struct amx_product p = { .c = c, .c_row = 40, .more = more,
		.rows = rows, .columns = columns, .a = at, .a_row = row,
		.a_piece = 32, .b = b, .b_row = 96, .b_piece = 16 * 96,
		.runs = runs, .depth = depth };

	memset(a, 0xff, sizeof(a));
	memset(b, 0xff, sizeof(b));
	for (int r = 0; r < runs; r++)
		for (int m = 0; m < rows; m++)
			for (int t = 0; t < depth * 32; t++)
				((bf16 *)at[r])[(size_t)m * row + (size_t)t] =
				    whole((uint32_t)((r * 33 + m) * 999 + t), 2);
	for (int t = 0; t < pieces * 32; t++)
		for (int n = 0; n < columns; n++)
			b[t / 2 * 96 + 2 * n + t % 2] =
			    whole((uint32_t)(t * 32 + n), 3);
	for (int i = 0; i < 33 * 40; i++)
		c[i] = (float)i;
	k->open(rows);
	k->multiply(&p);
	k->close();
	for (int i = 0; i < 33 * 40; i++) {
		int m = i / 40, n = i % 40;
		float want = (float)i;

		if (m < rows && n < columns) {
			want = more ? want : 0;
			for (int t = 0; t < pieces * 32; t++)
				want += bf16_wide(at[t / 32 / depth][(size_t)m *
				    row + (size_t)(t % (depth * 32))]) *
				    bf16_wide(b[t / 2 * 96 + 2 * n + t % 2]);
		}
		bad += c[i] != want;
	}
	is(bad, 0, "tiles: the product is right and nothing else is written");
}

/* ---- gradients of weights ---- */

enum { BESIDE = 64 };			/* elements around an activation */

/*
 * Return an activation of random numbers.  Everything else is NaN: padding
 * channels and the margins.
 */
static bf16 *
activation(size_t positions, int channels, int row, uint32_t stream)
{
	size_t n = positions * (size_t)row + 2 * BESIDE;
	bf16 *x = xcalloc(n, sizeof(*x));

	memset(x, 0xff, n * sizeof(*x));
	for (size_t i = 0; i < positions * (size_t)channels; i++)
		x[BESIDE + i / (size_t)channels * (size_t)row +
		    i % (size_t)channels] =
		    bf16_of((float)rng_normal(7, stream, (uint32_t)i));
	return x;
}

/*
 * Compute the gradient as ${threads} threads would, with NaN in the scratch
 * memory.  The caller frees it.
 */
static float *
gradient(const struct gemm_conv *s, int threads, const bf16 *x,
    const bf16 *dy, size_t n)
{
	struct wgrad *w = wgrad_new(s, threads);
	float *dw = xcalloc(n, sizeof(*dw)), *sums = NULL;
	void *scratch = NULL;
	struct conv_buffers o = { .in = x, .dy = dy, .out = dw };
	size_t bytes = (wgrad_sums(w) + 64) / 64 * 64;

	if (posix_memalign(&scratch, 64, wgrad_scratch(w)) != 0 ||
	    posix_memalign((void **)&sums, 64, bytes) != 0)
		abort();
	memset(dw, 0xff, n * sizeof(*dw));
	memset(sums, 0xff, bytes);
	o.parts = sums;
	o.scratch = scratch;
	for (int i = 0; i < wgrad_jobs(w); i++) {
		memset(scratch, 0xff, wgrad_scratch(w));
		wgrad_run(w, i, &o);
	}
	for (int i = 0; i < wgrad_blocks(w); i++)
		wgrad_add(w, i, &o);
	free(scratch);
	free(sums);
	wgrad_free(w);
	return dw;
}

/*
 * Return one weight's gradient as a plain sum: dw[o][c][y][z] = sum over pixels
 * of x * dy.
 */
static double
plain(const struct gemm_conv *s, const bf16 *x, const bf16 *dy, int o,
    int c, int y, int z)
{
	double sum = 0;

	for (int i = 0; i < s->images * s->out_h * s->out_w; i++) {
		int h = i / s->out_w % s->out_h * s->s[0] + y - s->p[0];
		int w = i % s->out_w * s->s[1] + z - s->p[1];
		long at = ((long)(i / s->out_w / s->out_h) * s->in_h + h) *
		    s->in_w + w;

		if (h >= 0 && h < s->in_h && w >= 0 && w < s->in_w)
			sum += (double)bf16_wide(x[at * s->in_row + c]) *
			    (double)bf16_wide(dy[(long)i * s->out_row + o]);
	}
	return sum;
}

static void
test_weights(const char *what, struct gemm_conv s)
{
	size_t taps = (size_t)(s.k[0] * s.k[1]);
	size_t n = (size_t)s.in * (size_t)s.out * taps;
	double off = 0, all = 0;
	float *dw, *other;
	bf16 *x, *dy;

	s.in_row = s.in <= 3 ? s.in : (s.in + 15) / 16 * 16;
	s.out_row = (s.out + 15) / 16 * 16;
	s.out_h = (s.in_h + 2 * s.p[0] - s.k[0]) / s.s[0] + 1;
	s.out_w = (s.in_w + 2 * s.p[1] - s.k[1]) / s.s[1] + 1;
	x = activation((size_t)(s.images * s.in_h * s.in_w), s.in, s.in_row, 1);
	dy = activation((size_t)(s.images * s.out_h * s.out_w), s.out,
	    s.out_row, 2);
	dw = gradient(&s, 1, x + BESIDE, dy + BESIDE, n);
	for (size_t i = 0; i < n; i += n / 999 + 1) {
		int tap = (int)(i % taps);
		double want = plain(&s, x + BESIDE, dy + BESIDE,
		    (int)(i / taps) / s.in, (int)(i / taps) % s.in,
		    tap / s.k[1], tap % s.k[1]);

		off += (dw[i] - want) * (dw[i] - want);
		all += want * want;
	}
	near(sqrt(off / all), 0, 1e-6, what);
	other = gradient(&s, 5, x + BESIDE, dy + BESIDE, n);
	ok(memcmp(dw, other, n * sizeof(*dw)) == 0,
	    "%s: five threads give the same bits as one", what);
	free(x);
	free(dy);
	free(dw);
	free(other);
}

static void
test_gradients(void)
{
	static const struct {
		const char *what;
		struct gemm_conv s;
	} list[] = {
#define SHAPE(n, i, h, w, o, ...) { .images = n, .in = i, .in_h = h, .in_w = w, \
	    .out = o, __VA_ARGS__ }
		{ "1x1 in three shards", SHAPE(3, 96, 40, 41, 80, .k = { 1, 1 },
		    .s = { 1, 1 }) },
		{ "1x1 in blocks", SHAPE(2, 128, 21, 33, 160, .k = { 1, 1 },
		    .s = { 1, 1 }) },
		{ "1x1, one output pixel of two", SHAPE(1, 16, 1, 2, 16,
		    .k = { 1, 1 }, .s = { 1, 2 }) },
		{ "1x1 of stride 2, many channels", SHAPE(2, 64, 7, 9, 560,
		    .k = { 1, 1 }, .s = { 2, 2 }) },
		{ "1x1 with padding", SHAPE(2, 16, 3, 5, 32, .k = { 1, 1 },
		    .s = { 1, 1 }, .p = { 1, 1 }) },
		{ "3x3, channels not a multiple of a block",
			SHAPE(2, 20, 13, 7, 36,
		    .k = { 3, 3 }, .s = { 1, 1 }, .p = { 1, 1 }) },
		{ "3x3 in shards and blocks", SHAPE(5, 48, 27, 35, 64,
		    .k = { 3, 3 }, .s = { 1, 1 }, .p = { 1, 1 }) },
		{ "3x3 of stride 2", SHAPE(5, 48, 15, 14, 40, .k = { 3, 3 },
		    .s = { 2, 2 }, .p = { 1, 1 }) },
		{ "3x3 of strides 1 and 2, without padding", SHAPE(3, 12, 9, 14,
		    17, .k = { 3, 3 }, .s = { 1, 2 }) },
		{ "3x3 with padding 2", SHAPE(3, 16, 5, 4, 16, .k = { 3, 3 },
		    .s = { 1, 1 }, .p = { 2, 2 }) },
		{ "2x2 of stride 2", SHAPE(3, 32, 9, 8, 16, .k = { 2, 2 },
		    .s = { 2, 2 }) },
		{ "1x7", SHAPE(3, 32, 9, 11, 16, .k = { 1, 7 },
		    .s = { 1, 1 }, .p = { 0, 3 }) },
		{ "5x5 on 1 channel", SHAPE(4, 1, 16, 19, 24, .k = { 5, 5 },
		    .s = { 1, 1 }, .p = { 2, 2 }) },
		{ "5x5 on 2 channels", SHAPE(3, 2, 17, 12, 16, .k = { 5, 5 },
		    .s = { 2, 2 }, .p = { 2, 2 }) },
		{ "7x7 on pixels", SHAPE(2, 3, 61, 70, 64, .k = { 7, 7 },
		    .s = { 2, 2 }, .p = { 3, 3 }) },
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		test_weights(list[i].what, list[i].s);
}

int
main(void)
{
	static const int rows[] = { 32, 16, 17, 31, 15, 1 };
	const struct amx_kernels *k = amx_kernels_pick();

	if (k == NULL) {
		skip("products of AMX tiles", "no AMX here");
		return done();
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int columns = 16; columns <= 32; columns += 16) {
			test_product(k, rows[i], columns, 1, 1, 0);
			test_product(k, rows[i], columns, 1, 3, 1);
			test_product(k, rows[i], columns, 3, MAX, 1);
		}
	test_gradients();
	return done();
}
