/*
 * Direct convolutions agree with plain sums in double: taps over all axes,
 * strides, paddings, channels that do not fill a block, overwriting and
 * accumulating.  Memory outside the result is NaN.  The bits do not depend on
 * the number of threads.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/direct.h"
#include "base/mem.h"
#include "base/rng.h"

#include "blocked.h"
#include "tap.h"

struct row {
	const char *what;
	struct dims x;
	int out, k[3], s[3], p[3];
};

static const struct row rows[] = {
	{ "1x1", { 2, 3, 5, 6, 20 }, 48, { 1, 1, 1 }, { 1, 1, 1 }, { 0 } },
	{ "1x1 on one pixel", { 3, 1, 1, 1, 1 }, 1, { 1, 1, 1 }, { 1, 1, 1 },
	    { 0 } },
	{ "1x1 of stride 2", { 2, 2, 9, 8, 40 }, 33, { 1, 1, 1 }, { 1, 2, 2 },
	    { 0 } },
	{ "1x1 from more channels than one block reads", { 1, 1, 5, 7, 530 },
	    520, { 1, 1, 1 }, { 1, 1, 1 }, { 0 } },
	{ "1x1 to more than a cache holds", { 1, 1, 129, 128, 5 }, 64,
	    { 1, 1, 1 }, { 1, 1, 1 }, { 0 } },
	{ "3x3", { 1, 2, 7, 13, 21 }, 37, { 1, 3, 3 }, { 1, 1, 1 },
	    { 0, 1, 1 } },
	{ "3x3 of stride 2", { 2, 1, 7, 13, 70 }, 37, { 1, 3, 3 }, { 1, 2, 2 },
	    { 0, 1, 1 } },
	{ "3x3 with padding of more than its radius", { 1, 3, 4, 4, 16 }, 16,
	    { 1, 3, 3 }, { 1, 1, 1 }, { 0, 3, 3 } },
	{ "2x2 of stride 3, which skips some pixels", { 1, 2, 8, 9, 16 },
	    16, { 1, 2, 2 }, { 1, 3, 3 }, { 0 } },
	{ "5x5 of stride 3 and 2", { 1, 1, 13, 11, 32 }, 64, { 1, 5, 5 },
	    { 1, 3, 2 }, { 0, 2, 2 } },
	{ "3x3x3 of stride 2, 1 and 2", { 1, 4, 5, 7, 9 }, 17, { 3, 3, 3 },
	    { 2, 1, 2 }, { 1, 1, 1 } },
	{ "5x1x1 of stride 3", { 2, 9, 3, 3, 16 }, 16, { 5, 1, 1 },
	    { 3, 1, 1 }, { 0 } },
};

/*
 * Move ${*image} and ${*place} from an output pixel to the input pixel of tap
 * ${t}.  Return 0 if it is in the padding.
 */
static int
meets(const struct row *r, const struct dims *y, int *image, size_t *place,
    int t)
{
	const struct dims *x = &r->x;
	int a = *image % y->t * r->s[0] - r->p[0] + t / r->k[2] / r->k[1];
	int b = (int)*place / y->w * r->s[1] - r->p[1] + t / r->k[2] % r->k[1];
	int c = (int)*place % y->w * r->s[2] - r->p[2] + t % r->k[2];

	*image = *image / y->t * x->t + a;
	*place = (size_t)(b * x->w + c);
	return a >= 0 && a < x->t && b >= 0 && b < x->h && c >= 0 && c < x->w;
}

/*
 * Add the convolution of ${from}, of shape ${in}, to ${to}, of shape ${out}:
 * y[p][o] = sum over taps t and channels c of w[o][c][t] * x[p at t][c];
 * if ${back}, the gradient of x from that of y.
 */
static void
plain(const struct row *r, const struct dims *y, int back, const float *w,
    const struct dims *out, double *to, const struct dims *in, const float *from)
{
	int taps = r->k[0] * r->k[1] * r->k[2];

	for (int i = 0; i < cpu_images(y); i++)
		for (size_t p = 0; p < cpu_positions(y); p++)
			for (int t = 0; t < taps; t++) {
				int image = i, at = back ? i : 0, to_image;
				size_t place = p, to_place, in_place;

				if (!meets(r, y, &image, &place, t))
					continue;
				to_image = back ? image : i;
				to_place = back ? place : p;
				at = back ? i : image;
				in_place = back ? p : place;
				for (int o = 0; o < out->c; o++)
					for (int c = 0; c < in->c; c++) {
						size_t k = back ? (size_t)c * out->c + o :
						    (size_t)o * in->c + c;

						to[blocked_index(out, to_image, to_place, o)] +=
						    (double)w[k * taps + t] *
						    from[blocked_index(in, at, in_place, c)];
					}
			}
}

/* Run all jobs of a division for ${threads} threads, in reverse order. */
static void
direct(struct direct g, int threads, const float *in, const float *w,
    const float *bias, float *out, int more)
{
	struct conv_buffers o = { .in = in, .weights = w, .bias = bias,
	    .out = out, .more = more };

	direct_split(&g, threads);
	o.w = xmalloc(direct_weights(&g));
	memset(o.w, 0xff, direct_weights(&g));
	o.scratch = xmalloc(direct_scratch(&g));
	memset(o.scratch, 0xff, direct_scratch(&g));
	for (int i = 0; i < direct_slices(&g); i++)
		direct_pack(&g, i, &o);
	for (int i = g.jobs - 1; i >= 0; i--)
		direct_run(&g, i, &o);
	free(o.w);
	free(o.scratch);
}

static void
test_pass(const struct row *r, int back, int more)
{
	const int *k = r->k, *s = r->s, *p = r->p;
	struct dims y = { r->x.n, (r->x.t + 2 * p[0] - k[0]) / s[0] + 1,
		(r->x.h + 2 * p[1] - k[1]) / s[1] + 1,
		(r->x.w + 2 * p[2] - k[2]) / s[2] + 1, r->out };
	int taps = k[0] * k[1] * k[2], row = taps * r->x.c, same = 1;
	struct direct g = { .in = back ? y : r->x, .out = back ? r->x : y,
		.back = back, .k = { k[0], k[1], k[2] },
		.s = { s[0], s[1], s[2] }, .p = { p[0], p[1], p[2] },
		.in_step = back ? row : taps, .out_step = back ? taps : row };
	size_t n = cpu_floats(&g.out), bytes = n * sizeof(float);
	float *w = xcalloc((size_t)row * r->out, sizeof(*w));
	float *in = blocked_draw(&g.in, 2), *before = blocked_draw(&g.out, 3);
	float *got = NULL, *first = NULL, bias[1024];
	double *want = xcalloc(n, sizeof(*want)), worst = 0;

	for (int i = 0; i < row * r->out; i++)
		w[i] = (float)rng_normal(7, 1, (uint32_t)i);
	for (int c = 0; c < g.out.c; c++)
		bias[c] = (float)c / (float)g.out.c;
	plain(r, &y, back, w, &g.out, want, &g.in, in);
	for (int threads = 1; threads <= 8; threads *= 2) {
		/* Align as device memory is aligned. */
		void *buffer;

		if (posix_memalign(&buffer, 64, bytes) != 0)
			exit(1);
		got = buffer;
		memset(got, 0xff, bytes);
		if (more)
			memcpy(got, before, bytes);
		direct(g, threads, in, w, back || more ? NULL : bias, got, more);
		if (first == NULL) {
			first = got;
			continue;
		}
		same &= memcmp(first, got, bytes) == 0;
		free(got);
	}
	for (int i = 0; i < cpu_images(&g.out); i++)
		for (size_t q = 0; q < cpu_positions(&g.out); q++)
			for (int c = 0; c < cpu_padded(g.out.c); c++) {
				size_t at = blocked_index(&g.out, i, q, c);
				double e = fabs(first[at] - want[at] - (c >= g.out.c ?
				    0 : more ? before[at] : back ? 0 : bias[c]));

				worst = e <= worst ? worst : isnan(e) ? INFINITY : e;
			}
	if (!ok(worst < 2e-6 * sqrt((double)taps * g.in.c) * 4 && same,
	    "%s %s%s", r->what, back ? "back" : "forward", more ?
	    ", accumulated" : ""))
		diag("worst error %g; cuts agree: %d", worst, same);
	free(w);
	free(in);
	free(before);
	free(first);
	free(want);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int pass = 0; pass < 4; pass++)
			test_pass(&rows[i], pass / 2, pass % 2);
	return done();
}
