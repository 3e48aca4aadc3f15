/* Which frames of a video make a clip. */
#include <assert.h>
#include <limits.h>

#include "data/clip.h"
#include "data/draw.h"

#define DENSE_WINDOW 64

/*
 * Frame floor(i n/T + shift n/T) for each segment i.  In doubles and in this
 * order, because the published program does so and its rounding shows: where
 * n/T is inexact, a frame that should be k can come out as k - 1.
 */
static void
segments(int total, int t, int centre, int *frame)
{
	double tick = (double)total / t;
	double shift = centre ? tick / 2 : 0;

	for (int i = 0; i < t; i++)
		frame[i] = (int)(shift + tick * i);
}

static void
same_frame(int t, int which, int *frame)
{
	for (int i = 0; i < t; i++)
		frame[i] = which;
}

/* How many places a window of ${window} frames has; 1 if it does not fit. */
static int
places(int total, int window)
{
	return total > window ? total - window + 1 : 1;
}

/* Place ${view} of ${views} spread over 0 to ${last}; one alone is 0. */
static int
spread(int last, int view, int views)
{
	if (view == 0)
		return 0;
	if (view == views - 1)
		return last;
	return (int)(view * ((double)last / (views - 1)));
}

static void
dense(int total, int t, int start, int *frame)
{
	/* Beyond 64 frames the published stride is 0: one frame t times. */
	int stride = t > DENSE_WINDOW ? 1 : DENSE_WINDOW / t;

	for (int i = 0; i < t; i++)
		frame[i] = (int)((start + (long long)i * stride) % total);
}

static void
strided(int total, int t, int stride, int start, int *frame)
{
	for (int i = 0; i < t; i++) {
		long long f = start + (long long)i * stride;

		frame[i] = f < total ? (int)f : total - 1;
	}
}

void
clip_train(enum sampler s, int total, int t, struct rng clip, int *frame)
{
	struct rng r = clip_draw(clip, DRAW_FRAMES);
	int each = total / t;

	if (s == SAMPLER_DENSE) {
		int n = places(total, DENSE_WINDOW);

		dense(total, t, n == 1 ? 0 :
		    (int)rng_below(&r, (uint32_t)n - 1), frame);
	} else if (each > 0) {
		for (int i = 0; i < t; i++)
			frame[i] = i * each +
			    (int)rng_below(&r, (uint32_t)each);
	} else if (s == SAMPLER_TSM_UPSTREAM) {
		same_frame(t, 0, frame);
	} else {
		for (int i = 0; i < t; i++)
			frame[i] = (int)((i + rng_uniform(&r)) * total / t);
	}
}

void
clip_validate(enum sampler s, int total, int t, int *frame)
{
	if (s == SAMPLER_DENSE)
		dense(total, t, (places(total, DENSE_WINDOW) - 1) / 2, frame);
	else if (s == SAMPLER_TSM_UPSTREAM && total <= t)
		same_frame(t, 0, frame);
	else
		segments(total, t, 1, frame);
}

void
clip_test(enum sampler s, int total, int t, int view, int views, int *frame)
{
	assert(view >= 0 && view < views && views <= clip_test_most(s));
	if (s == SAMPLER_DENSE)
		dense(total, t, spread(places(total, DENSE_WINDOW) - 1, view,
		    views), frame);
	else
		segments(total, t, view == 0, frame);
}

int
clip_test_most(enum sampler s)
{
	return s == SAMPLER_DENSE ? INT_MAX : 2;
}

/* The places of a window of t frames, ${stride} apart, in the video. */
static int
strided_places(int total, int t, int stride)
{
	long long window = (long long)(t - 1) * stride + 1;

	return window < total ? places(total, (int)window) : 1;
}

void
clip_strided(int total, int t, int stride, struct rng clip, int *frame)
{
	struct rng r = clip_draw(clip, DRAW_FRAMES);
	int n = strided_places(total, t, stride);

	strided(total, t, stride, (int)rng_below(&r, (uint32_t)n), frame);
}

void
clip_strided_test(int total, int t, int stride, int view, int views,
    int *frame)
{
	int last = strided_places(total, t, stride) - 1;

	strided(total, t, stride, views == 1 ? last / 2 :
	    spread(last, view, views), frame);
}
