/*
 * TV-L1 optical flow (tvl1.h): a pyramid of both frames, and at each of its
 * levels, from coarse to fine, iterations around warps of the second frame.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "media/tvl1.h"

#define LEVELS 5		/* of the pyramid, at most */
#define SCALE 0.8		/* of a level to the one below it */
#define SIDE_MIN 16		/* pixels; no level but the first is smaller */
#define WARPS 5			/* per level */
#define OUTER 10		/* rounds per warp, each after a median */
#define INNER 30		/* iterations per round */
#define EPSILON 0.01		/* pixels: a smaller root mean square change of
				 * u ends a warp */
#define MARGIN 16		/* elements before each row: of a whole vector,
				 * so that rows begin aligned */

/* Planes of floats, all of one size, with a row above and MARGIN before. */
enum {
	FROM,					/* LEVELS of the first frame */
	TO = FROM + LEVELS,			/* and of the second */
	FLOW_X = TO + LEVELS, FLOW_Y,		/* u */
	NEXT_X, NEXT_Y,				/* u of the next level, or its
						 * median */
	DUAL,					/* p: xx, xy, yx, yy */
	GRAD_X = DUAL + 4, GRAD_Y, RHO, INVERSE,	/* see struct
							 * tvl1_rows */
	PLANES
};

struct tvl1 {
	int w, h;			/* capacity, in pixels */
	int stride;			/* of the planes, in floats */
	float *memory;
	float *plane[PLANES];		/* element (0, 0) of each */
	tvl1_pixel *image;		/* the second frame and its gradient,
					 * with the margin of tvl1_warp */
	tvl1_pixel *warped;		/* [w] */
	float *change;			/* [w] */
};

struct tvl1 *
tvl1_new(void)
{
	return xcalloc(1, sizeof(struct tvl1));
}

void
tvl1_free(struct tvl1 *t)
{
	if (t == NULL)
		return;
	free(t->memory);
	free(t->image);
	free(t->warped);
	free(t->change);
	free(t);
}

/* Ensure buffers for frames of ${w} by ${h} pixels. */
static void
tvl1_reserve(struct tvl1 *t, int w, int h)
{
	size_t rows = (size_t)h + 1, plane;
	float *start;

	if (t->w == w && t->h == h)
		return;
	t->w = w;
	t->h = h;
	/* The median reads two elements beyond a row. */
	t->stride = MARGIN + (int)round_up((uint64_t)w + 2, MARGIN);
	plane = rows * (size_t)t->stride;
	free(t->memory);
	t->memory = xcalloc(PLANES * plane + 2 * MARGIN, sizeof(float));
	start = t->memory + (MARGIN - (uintptr_t)t->memory / sizeof(float) %
	    MARGIN);
	for (int i = 0; i < PLANES; i++)
		t->plane[i] = start + (size_t)i * plane + t->stride + MARGIN;
	t->image = xrealloc(t->image, ((size_t)w + 3) * ((size_t)h + 3),
	    sizeof(*t->image));
	t->warped = xrealloc(t->warped, (size_t)w, sizeof(*t->warped));
	t->change = xrealloc(t->change, (size_t)w, sizeof(*t->change));
}

/* Return row ${y} of a plane. */
static float *
tvl1_row(const struct tvl1 *t, int plane, int y)
{
	return t->plane[plane] + (ptrdiff_t)y * t->stride;
}

/*
 * Resize a plane by bilinear interpolation, with centers at half integers and
 * without a low-pass filter, and multiply it by ${factor}.  ${step_x} and
 * ${step_y} are the distances of adjacent results in the source.
 */
static void
tvl1_resize(const struct tvl1 *t, int to, int w, int h, int from, int from_w,
    int from_h, double step_x, double step_y, float factor)
{
	for (int j = 0; j < h; j++) {
		double y = fmin(fmax((j + 0.5) * step_y - 0.5, 0), from_h - 1);
		int top = (int)y, next = top + 1 < from_h ? top + 1 : top;
		const float *a = tvl1_row(t, from, top);
		const float *b = tvl1_row(t, from, next);
		float *out = tvl1_row(t, to, j), v = (float)(y - top);

		for (int i = 0; i < w; i++) {
			double x = fmin(fmax((i + 0.5) * step_x - 0.5, 0),
			    from_w - 1);
			int left = (int)x;
			int right = left + 1 < from_w ? left + 1 : left;
			float u = (float)(x - left);
			float c = a[left] + u * (a[right] - a[left]);
			float d = b[left] + u * (b[right] - b[left]);

			out[i] = factor * (c + v * (d - c));
		}
	}
}

/* ---- one warp ---- */

/* Return ${v}, or the nearest of 0 to ${n} - 1. */
static int
tvl1_within(int v, int n)
{
	return v < 0 ? 0 : v >= n ? n - 1 : v;
}

/*
 * Interleave plane ${from} with its gradient, by central differences, and
 * repeat the pixels at the edges in the margin.
 */
static void
tvl1_make_image(struct tvl1 *t, int from, int w, int h)
{
	tvl1_pixel *to = t->image;

	for (int j = -1; j < h + 2; j++) {
		int y = tvl1_within(j, h);
		const float *row = tvl1_row(t, from, y);
		const float *above = tvl1_row(t, from, tvl1_within(y - 1, h));
		const float *below = tvl1_row(t, from, tvl1_within(y + 1, h));

		for (int i = -1; i < w + 2; i++) {
			int x = tvl1_within(i, w);
			int left = tvl1_within(x - 1, w);
			int right = tvl1_within(x + 1, w);

			*to++ = (tvl1_pixel){ row[x],
			    0.5f * (row[right] - row[left]),
			    0.5f * (below[x] - above[x]), 0 };
		}
	}
}

/* Linearize the data term at the present flow. */
static void
tvl1_linearize(struct tvl1 *t, int from, int w, int h)
{
	for (int j = 0; j < h; j++) {
		const float *u = tvl1_row(t, FLOW_X, j);
		const float *v = tvl1_row(t, FLOW_Y, j);
		const float *row = tvl1_row(t, from, j);
		float *gx = tvl1_row(t, GRAD_X, j);
		float *gy = tvl1_row(t, GRAD_Y, j);
		float *rho = tvl1_row(t, RHO, j);
		float *inverse = tvl1_row(t, INVERSE, j);

		ISA_PICK(tvl1_warp)(t->warped, t->image + w + 4, w + 3, u, v, w,
		    h, j);
		for (int i = 0; i < w; i++) {
			tvl1_pixel p = t->warped[i];
			float square = p[1] * p[1] + p[2] * p[2];

			gx[i] = p[1];
			gy[i] = p[2];
			rho[i] = p[0] - p[1] * u[i] - p[2] * v[i] - row[i];
			inverse[i] = square > FLT_EPSILON ? -1 / square : 0;
		}
	}
}

/* Filter one component of the flow by the median of 5 by 5 pixels. */
static void
tvl1_filter(struct tvl1 *t, int c, int w, int h)
{
	float *plane = t->plane[NEXT_X + c];

	for (int j = 0; j < h; j++) {
		float *row = tvl1_row(t, FLOW_X + c, j);

		row[-2] = row[-1] = row[0];
		row[w] = row[w + 1] = row[w - 1];
	}
	for (int j = 0; j < h; j++) {
		const float *from[5];

		for (int k = 0; k < 5; k++)
			from[k] = tvl1_row(t, FLOW_X + c,
			    tvl1_within(j + k - 2, h));
		ISA_PICK(tvl1_median)(tvl1_row(t, NEXT_X + c, j), from, w);
	}
	t->plane[NEXT_X + c] = t->plane[FLOW_X + c];
	t->plane[FLOW_X + c] = plane;
}

static struct tvl1_rows
tvl1_rows_at(const struct tvl1 *t, int j, int h)
{
	struct tvl1_rows r = {
		.grad = { tvl1_row(t, GRAD_X, j), tvl1_row(t, GRAD_Y, j) },
		.rho = tvl1_row(t, RHO, j),
		.inverse = tvl1_row(t, INVERSE, j), .change = t->change,
	};

	for (int c = 0; c < 2; c++) {
		r.u[c] = tvl1_row(t, FLOW_X + c, j);
		r.u_below[c] = tvl1_row(t, FLOW_X + c, j + 1 < h ? j + 1 : j);
		r.p[c][0] = tvl1_row(t, DUAL + 2 * c, j);
		r.p[c][1] = tvl1_row(t, DUAL + 2 * c + 1, j);
		r.p_above[c] = tvl1_row(t, DUAL + 2 * c + 1, j - 1);
	}
	return r;
}

/*
 * Do one iteration, and return the sum of the squared changes.  One sweep does
 * both steps: the dual step of a row needs u of the next row, and the primal
 * step of that row needs p of this row before its dual step.
 */
static double
tvl1_iterate(struct tvl1 *t, int w, int h)
{
	struct tvl1_rows above, r;
	double sum = 0;

	memset(t->change, 0, (size_t)w * sizeof(*t->change));
	for (int j = 0; j < h; j++) {
		r = tvl1_rows_at(t, j, h);
		ISA_PICK(tvl1_primal)(&r, w);
		for (int c = 0; c < 2; c++)
			r.u[c][w] = r.u[c][w - 1];
		if (j > 0)
			ISA_PICK(tvl1_dual)(&above, w);
		above = r;
	}
	ISA_PICK(tvl1_dual)(&above, w);
	for (int i = 0; i < w; i++)
		sum += t->change[i];
	return sum;
}

/* ---- the pyramid ---- */

/* Compute the flow of one level, from that which the level above gave. */
static void
tvl1_level(struct tvl1 *t, int level, int w, int h)
{
	const double limit = EPSILON * EPSILON * w * h;

	tvl1_make_image(t, TO + level, w, h);
	for (int c = 0; c < 4; c++)
		for (int j = 0; j < h; j++)
			memset(tvl1_row(t, DUAL + c, j), 0, (size_t)w *
			    sizeof(float));
	for (int k = 0; k < WARPS; k++) {
		double change = INFINITY;

		tvl1_linearize(t, FROM + level, w, h);
		for (int o = 0; o < OUTER && change > limit; o++) {
			tvl1_filter(t, 0, w, h);
			tvl1_filter(t, 1, w, h);
			for (int i = 0; i < INNER && change > limit; i++)
				change = tvl1_iterate(t, w, h);
		}
	}
}

/* Give the flow of a level to the one below, of ${w} by ${h} pixels. */
static void
tvl1_enlarge(struct tvl1 *t, int w, int h, int from_w, int from_h)
{
	for (int c = 0; c < 2; c++) {
		float *plane = t->plane[FLOW_X + c];

		tvl1_resize(t, NEXT_X + c, w, h, FLOW_X + c, from_w, from_h,
		    (double)from_w / w, (double)from_h / h,
		    (float)(1 / SCALE));
		t->plane[FLOW_X + c] = t->plane[NEXT_X + c];
		t->plane[NEXT_X + c] = plane;
	}
}

/* Fill the planes of all levels, and return their number. */
static int
tvl1_build_pyramid(struct tvl1 *t, const uint8_t *from, const uint8_t *to,
    int w[LEVELS], int h[LEVELS])
{
	int n = 1;

	for (int j = 0; j < h[0]; j++)
		for (int i = 0; i < w[0]; i++) {
			tvl1_row(t, FROM, j)[i] = from[(size_t)j * w[0] + i];
			tvl1_row(t, TO, j)[i] = to[(size_t)j * w[0] + i];
		}
	for (; n < LEVELS; n++) {
		w[n] = (int)lrint(w[n - 1] * SCALE);
		h[n] = (int)lrint(h[n - 1] * SCALE);
		if (w[n] < SIDE_MIN || h[n] < SIDE_MIN)
			break;
		tvl1_resize(t, FROM + n, w[n], h[n], FROM + n - 1, w[n - 1],
		    h[n - 1], 1 / SCALE, 1 / SCALE, 1);
		tvl1_resize(t, TO + n, w[n], h[n], TO + n - 1, w[n - 1],
		    h[n - 1], 1 / SCALE, 1 / SCALE, 1);
	}
	return n;
}

void
tvl1_flow(struct tvl1 *t, const uint8_t *from, const uint8_t *to, int w, int h,
    float *x, float *y)
{
	int ws[LEVELS] = { w }, hs[LEVELS] = { h }, n;

	tvl1_reserve(t, w, h);
	n = tvl1_build_pyramid(t, from, to, ws, hs);
	for (int j = 0; j < hs[n - 1]; j++)
		for (int c = 0; c < 2; c++)
			memset(tvl1_row(t, FLOW_X + c, j), 0,
			    (size_t)ws[n - 1] * sizeof(float));
	for (int i = n - 1; i >= 0; i--) {
		tvl1_level(t, i, ws[i], hs[i]);
		if (i > 0)
			tvl1_enlarge(t, ws[i - 1], hs[i - 1], ws[i], hs[i]);
	}
	for (int j = 0; j < h; j++) {
		memcpy(x + (size_t)j * w, tvl1_row(t, FLOW_X, j),
		    (size_t)w * sizeof(float));
		memcpy(y + (size_t)j * w, tvl1_row(t, FLOW_Y, j),
		    (size_t)w * sizeof(float));
	}
}
