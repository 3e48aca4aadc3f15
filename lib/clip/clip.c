/*
 * Choose the frames of clips, with the arithmetic and the rounding of the
 * published programs.
 */
#include <assert.h>
#include <limits.h>
#include <math.h>

#include "clip/clip.h"
#include "clip/draw.h"

#define DENSE_WINDOW 64

/*
 * Set frame i to floor(i n/T + shift n/T) for each segment i, shift 1/2 for the
 * center.  The published program computes in doubles in this order, and its
 * rounding shows: where n/T is inexact, a frame can be k - 1 instead of k.
 */
static void
clip_segments(int total, int t, int center, int *frame)
{
	double tick = (double)total / t;
	double shift = center ? tick / 2 : 0;

	for (int i = 0; i < t; i++)
		frame[i] = (int)(shift + tick * i);
}

static void
clip_same_frame(int t, int which, int *frame)
{
	for (int i = 0; i < t; i++)
		frame[i] = which;
}

/*
 * Return the number of starts of a window of ${window} frames; 1 if it does not
 * fit.
 */
static int
clip_starts(int total, int window)
{
	return total > window ? total - window + 1 : 1;
}

/*
 * Return number ${view} of ${views} starts spread evenly over 0 to ${last}.  A
 * single start is 0.
 */
static int
clip_spread(int last, int view, int views)
{
	if (view == 0)
		return 0;
	if (view == views - 1)
		return last;
	return (int)(view * ((double)last / (views - 1)));
}

static void
clip_dense(int total, int t, int start, int *frame)
{
	/*
	 * For more than 64 frames the published stride is 0: one frame t times.
	 */
	int stride = t > DENSE_WINDOW ? 1 : DENSE_WINDOW / t;

	for (int i = 0; i < t; i++)
		frame[i] = (int)((start + (long long)i * stride) % total);
}

static void
clip_strided(int total, int t, int stride, int start, int *frame)
{
	for (int i = 0; i < t; i++) {
		long long f = start + (long long)i * stride;

		frame[i] = f < total ? (int)f : total - 1;
	}
}

/* Return the number of starts of a window of t frames, ${stride} apart. */
static int
clip_strided_starts(int total, int t, int stride)
{
	long long window = (long long)(t - 1) * stride + 1;

	return window < total ? clip_starts(total, (int)window) : 1;
}

/*
 * Set the boundaries of segment ${i}, as get_seq_frames in PySlowFast's
 * datasets/ssv2.py.  numpy rounds halves to even, and so does rint.
 */
static void
clip_borders(const struct clip_input *v, int i, int *first, int *last)
{
	double size = (double)(v->total - 1) / v->t;

	*first = (int)rint(size * i);
	*last = (int)rint(size * (i + 1));
}

/* ---- PySlowFast's window, which need not begin with a frame ---- */

/* Return the length of the window in frames of the video. */
static double
clip_window_size(const struct clip_input *v)
{
	double fps = v->fps > 0 ? v->fps : 30;

	return (double)((long long)v->stride * v->t) / 30 * fps;
}

/* Return the frames by which the window can be moved. */
static double
clip_window_slack(const struct clip_input *v)
{
	double capacity = v->total - clip_window_size(v);

	return capacity > 0 ? capacity : 0;
}

/*
 * Write T frames spread from ${start} to the end of the window.  torch.linspace
 * computes in floats and from both ends, and its rounding shows.
 */
static void
clip_window(const struct clip_input *v, double start, int *frame)
{
	float from = (float)start, to = (float)(start + clip_window_size(v) -
	    1);
	float step = v->t > 1 ? (to - from) / (float)(v->t - 1) : 0;

	for (int i = 0; i < v->t; i++) {
		float f = i < v->t / 2 || v->t == 1 ? from + step * (float)i :
		    to - step * (float)(v->t - i - 1);

		f = f < 0 ? 0 : f;
		frame[i] = f < (float)(v->total - 1) ? (int)f : v->total - 1;
	}
}

/* ---- Charades' window, which may begin before the video ---- */

/* Repeat the first frame before the video and the last frame after it. */
static void
clip_charades(const struct clip_input *v, long long start, int *frame)
{
	for (int i = 0; i < v->t; i++) {
		long long f = start + (long long)i * v->stride;

		frame[i] = f < 0 ? 0 : f < v->total ? (int)f : v->total - 1;
	}
}

/* ---- MMAction2's window ---- */

static void
clip_looped(const struct clip_input *v, int start, int *frame)
{
	for (int i = 0; i < v->t; i++)
		frame[i] = (int)((start + (long long)i * v->stride) %
		    v->total);
}

/* ---- the choice ---- */

int
clip_needs_stride(enum sampler s)
{
	return s == SAMPLER_PYSLOWFAST || s == SAMPLER_CHARADES ||
	    s == SAMPLER_MMACTION2;
}

/* SSV2's segments ignore a stride. */
static int
clip_is_strided(enum sampler s, int stride)
{
	return stride > 0 && s != SAMPLER_SSV2;
}

static void
clip_train_window(enum sampler s, const struct clip_input *v, struct rng *r,
    int *frame)
{
	int n = clip_strided_starts(v->total, v->t, v->stride);
	long long length = (long long)(v->t - 1) * v->stride + 1;

	if (s == SAMPLER_PYSLOWFAST) {
		clip_window(v, rng_uniform(r) * clip_window_slack(v), frame);
	} else if (s == SAMPLER_CHARADES && length > v->total) {
		clip_charades(v, -(long long)rng_below(r, (uint32_t)(length -
		    v->total) + 1), frame);
	} else if (s == SAMPLER_MMACTION2) {
		long long starts = v->total - (long long)v->t * v->stride + 1;

		clip_looped(v, starts > 1 ? (int)rng_below(r,
		    (uint32_t)starts) : 0, frame);
	} else {
		clip_strided(v->total, v->t, v->stride, (int)rng_below(r,
		    (uint32_t)n), frame);
	}
}

void
clip_train(enum sampler s, const struct clip_input *v, struct rng clip,
    int *frame)
{
	struct rng r = clip_draw(clip, DRAW_FRAMES);
	int each = v->total / v->t, first, last;

	assert(v->stride > 0 || !clip_needs_stride(s));
	if (clip_is_strided(s, v->stride)) {
		clip_train_window(s, v, &r, frame);
	} else if (s == SAMPLER_SSV2) {
		for (int i = 0; i < v->t; i++) {
			clip_borders(v, i, &first, &last);
			frame[i] = first + (int)rng_below(&r,
			    (uint32_t)(last - first) + 1);
		}
	} else if (s == SAMPLER_DENSE) {
		/* The published program's randint excludes the last start. */
		int n = clip_starts(v->total, DENSE_WINDOW);

		clip_dense(v->total, v->t, n == 1 ? 0 :
		    (int)rng_below(&r, (uint32_t)n - 1), frame);
	} else if (each > 0) {
		for (int i = 0; i < v->t; i++)
			frame[i] = i * each +
			    (int)rng_below(&r, (uint32_t)each);
	} else if (s == SAMPLER_TSM_UPSTREAM) {
		clip_same_frame(v->t, 0, frame);
	} else {
		for (int i = 0; i < v->t; i++)
			frame[i] = (int)((i + rng_uniform(&r)) * v->total /
			    v->t);
	}
}

void
clip_validate(enum sampler s, const struct clip_input *v, int *frame)
{
	if (s == SAMPLER_PYSLOWFAST)
		clip_window(v, clip_window_slack(v) / 2, frame);
	else if (s == SAMPLER_DENSE && v->stride == 0)
		clip_dense(v->total, v->t,
		    (clip_starts(v->total, DENSE_WINDOW) - 1) / 2, frame);
	else if (s == SAMPLER_TSM_UPSTREAM && v->stride == 0 &&
	    v->total <= v->t)
		clip_same_frame(v->t, 0, frame);
	else
		clip_test(s, v, 0, 1, frame);
}

static void
clip_test_window(enum sampler s, const struct clip_input *v, int view,
    int views, int *frame)
{
	int last = clip_strided_starts(v->total, v->t, v->stride) - 1;

	if (s == SAMPLER_PYSLOWFAST)
		clip_window(v, clip_window_slack(v) * view / views, frame);
	else if (s == SAMPLER_CHARADES && views > 1)
		clip_charades(v, lrint((double)last / (views - 1) * view),
		    frame);
	else if (s == SAMPLER_MMACTION2)
		clip_looped(v, views == 1 ? last / 2 :
		    (int)lrint((double)last / (views - 1) * view), frame);
	else
		clip_strided(v->total, v->t, v->stride, views == 1 ? last / 2 :
		    clip_spread(last, view, views), frame);
}

void
clip_test(enum sampler s, const struct clip_input *v, int view, int views,
    int *frame)
{
	int first, last;

	assert(view >= 0 && view < views &&
	    views <= clip_test_max(s, v->stride));
	assert(v->stride > 0 || !clip_needs_stride(s));
	if (clip_is_strided(s, v->stride)) {
		clip_test_window(s, v, view, views, frame);
	} else if (s == SAMPLER_SSV2) {
		for (int i = 0; i < v->t; i++) {
			clip_borders(v, i, &first, &last);
			frame[i] = (first + last) / 2;
		}
	} else if (s == SAMPLER_DENSE) {
		clip_dense(v->total, v->t, clip_spread(clip_starts(v->total,
		    DENSE_WINDOW) - 1, view, views), frame);
	} else {
		clip_segments(v->total, v->t, view == 0, frame);
	}
}

int
clip_test_max(enum sampler s, int stride)
{
	return clip_is_strided(s, stride) || s == SAMPLER_DENSE ? INT_MAX :
	    s == SAMPLER_SSV2 ? 1 : 2;
}
