/*
 * TV-L1 optical flow finds known motions of a synthetic texture: translations,
 * a zoom and none, at odd and tiny sizes; a solver keeps no state.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "media/tvl1.h"
#include "tap.h"

/* A smooth texture, 0 to 255, with waves of 8 to 60 pixels in all directions. */
static double
texture(double x, double y)
{
	static const double wave[][3] = { { 0.11, 0.05, 0 }, { -0.06, 0.13, 1 },
		{ 0.31, 0.22, 2 }, { 0.27, -0.35, 3 }, { -0.5, 0.41, 4 },
		{ 0.62, 0.12, 5 } };
	double sum = 0;

	for (size_t k = 0; k < sizeof(wave) / sizeof(*wave); k++)
		sum += sin(wave[k][0] * x + wave[k][1] * y + wave[k][2]);
	return 127.5 + 21 * sum;
}

/* A motion: about the center, x' = zoom x + (dx, dy). */
struct motion { double dx, dy, zoom; };

/* Draw the texture after motion ${m}. */
static void
draw(uint8_t *to, int w, int h, struct motion m)
{
	for (int j = 0; j < h; j++)
		for (int i = 0; i < w; i++)
			to[j * w + i] = (uint8_t)lrint(texture(
			    w / 2 + (i - w / 2 - m.dx) / m.zoom,
			    h / 2 + (j - h / 2 - m.dy) / m.zoom));
}

/* Return the mean end-point error, without pixels that move out of sight. */
static double
error_of(const float *x, const float *y, int w, int h, struct motion m)
{
	double sum = 0;
	int n = 0;

	for (int j = 0; j < h; j++)
		for (int i = 0; i < w; i++) {
			double dx = (m.zoom - 1) * (i - w / 2) + m.dx;
			double dy = (m.zoom - 1) * (j - h / 2) + m.dy;

			if (i + dx < 0 || i + dx > w - 1 || j + dy < 0 ||
			    j + dy > h - 1)
				continue;
			sum += hypot(x[j * w + i] - dx, y[j * w + i] - dy);
			n++;
		}
	return sum / n;
}

static void
test_motion(struct tvl1 *t, int w, int h, struct motion m, double limit)
{
	size_t n = (size_t)w * (size_t)h;
	uint8_t *a = xmalloc(n), *b = xmalloc(n);
	float *x = xcalloc(n, sizeof(*x)), *y = xcalloc(n, sizeof(*y));
	double error;

	draw(a, w, h, (struct motion){ 0, 0, 1 });
	draw(b, w, h, m);
	tvl1_flow(t, a, b, w, h, x, y);
	error = error_of(x, y, w, h, m);
	ok(error <= limit, "%dx%d, motion %g,%g, zoom %g: mean end-point error "
	    "%.4f (wanted at most %g)", w, h, m.dx, m.dy, m.zoom, error, limit);
	free(a);
	free(b);
	free(x);
	free(y);
}

/* Frames that are equal have no motion: exactly 0. */
static void
test_still(struct tvl1 *t, int w, int h)
{
	size_t n = (size_t)w * (size_t)h;
	uint8_t *a = xmalloc(n);
	float *x = xmalloc(n * sizeof(*x)), *y = xmalloc(n * sizeof(*y));
	int wrong = 0;

	draw(a, w, h, (struct motion){ 0, 0, 1 });
	tvl1_flow(t, a, a, w, h, x, y);
	for (size_t i = 0; i < n; i++)
		wrong += x[i] != 0 || y[i] != 0;
	ok(wrong == 0, "%dx%d: equal frames have no motion", w, h);
	free(a);
	free(x);
	free(y);
}

/* A result depends on its two frames, not on what the solver did before. */
static void
test_state(void)
{
	enum { W = 90, H = 70, N = W * H };
	static uint8_t a[N], b[N];
	static float x[2][N], y[2][N];
	struct tvl1 *used = tvl1_new(), *fresh = tvl1_new();

	draw(a, W, H, (struct motion){ 5, 1, 1 });
	draw(b, W, H, (struct motion){ 0, 4, 1.1 });
	tvl1_flow(used, b, a, W, H, x[0], y[0]);
	tvl1_flow(used, a, b, 50, 40, x[0], y[0]);
	tvl1_flow(used, a, b, W, H, x[0], y[0]);
	tvl1_flow(fresh, a, b, W, H, x[1], y[1]);
	ok(memcmp(x[0], x[1], sizeof(*x)) == 0 &&
	    memcmp(y[0], y[1], sizeof(*y)) == 0,
	    "a solver that was used gives the bits of a new one");
	tvl1_free(used);
	tvl1_free(fresh);
}

int
main(void)
{
	struct tvl1 *t = tvl1_new();

	test_motion(t, 160, 120, (struct motion){ 1, 0, 1 }, 0.1);
	test_motion(t, 160, 120, (struct motion){ 0, -1, 1 }, 0.1);
	test_motion(t, 161, 119, (struct motion){ 3.5, -2.25, 1 }, 0.15);
	test_motion(t, 160, 120, (struct motion){ -4, 3, 1 }, 0.15);
	test_motion(t, 160, 120, (struct motion){ 0, 0, 1.04 }, 0.1);
	test_motion(t, 120, 160, (struct motion){ 1, 1, 0.96 }, 0.1);
	test_still(t, 97, 61);
	test_still(t, 17, 300);
	test_still(t, 5, 3);
	test_still(t, 1, 1);
	test_state();
	tvl1_free(t);
	return done();
}
