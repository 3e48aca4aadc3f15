/* Parse frame rates, find the rate of a video, and resample to another rate. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "media/fps.h"

#define FASTEST 1000		/* maximum rate, in frames per second */
#define SLACK 0.001		/* tolerance of a frame's time, in seconds */
#define MAKE_UP 15		/* maximum frames until a wrong time stamp is
				 * compensated */

/* Wide enough for the product of a time, two rates and a tick. */
typedef __int128 wide;

static int
fps_is_sound(struct fraction f)
{
	return f.num > 0 && f.den > 0 && f.num <= (int64_t)FASTEST * f.den;
}

int
fps_parse(const char *text, struct fraction *f)
{
	const char *slash = strchr(text, '/'), *point = strchr(text, '.');
	char digits[16];
	int64_t num, den = 1, g;
	size_t n = strlen(text);

	if (n >= sizeof(digits))
		return -1;
	memcpy(digits, text, n + 1);
	if (slash != NULL) {
		digits[slash - text] = '\0';
		if (text_int(slash + 1, 1, INT_MAX, &den) != 0)
			return -1;
	} else if (point != NULL) {
		/* 29.97 is 2997/100: move the digits over the point. */
		size_t after = n - (size_t)(point - text) - 1;

		if (point == text || after == 0 || after > 6)
			return -1;
		memmove(digits + (point - text), point + 1, after + 1);
		while (after-- > 0)
			den *= 10;
	}
	if (text_int(digits, 1, INT_MAX, &num) != 0)
		return -1;
	g = common_divisor(num, den);
	*f = (struct fraction){ (int)(num / g), (int)(den / g) };
	return fps_is_sound(*f) ? 0 : -1;
}

/* Return 1 if every frame is within SLACK of its time at ${rate}. */
static int
fps_fits(const int64_t *time, size_t n, struct fraction tick,
    struct fraction rate)
{
	double second = (double)tick.num / tick.den;
	double frame = (double)rate.den / rate.num;

	for (size_t i = 0; i < n; i++) {
		double off = (double)time[i] * second - (double)i * frame;

		if (off > SLACK || off < -SLACK)
			return 0;
	}
	return 1;
}

/*
 * Return the rate of ${frames} frames in ${span} ticks, or 0/0 if it does not
 * fit ints.
 */
static struct fraction
fps_mean_rate(int64_t frames, int64_t span, struct fraction tick)
{
	wide num = (wide)frames * tick.den, den = (wide)span * tick.num;
	int64_t g;

	/* The values are large here, so halving both changes the quotient
	 * little. */
	while (num > INT64_MAX || den > INT64_MAX) {
		num /= 2;
		den /= 2;
	}
	g = common_divisor((int64_t)num, (int64_t)den);
	num /= g;
	den /= g;
	while (num > INT_MAX || den > INT_MAX) {
		num /= 2;
		den /= 2;
	}
	if (num == 0 || den == 0)
		return (struct fraction){ 0, 0 };
	return (struct fraction){ (int)num, (int)den };
}

int
fps_find(const int64_t *time, size_t n, struct fraction tick,
    const struct fraction *hint, int hints, struct fraction *found)
{
	struct fraction mean;
	double rate;
	int whole;

	for (int i = 0; i < hints; i++)
		if (fps_is_sound(hint[i]) && fps_fits(time, n, tick, hint[i])) {
			*found = hint[i];
			return 1;
		}
	*found = (struct fraction){ 0, 0 };
	if (n < 2 || time[n - 1] <= 0)
		return 1;
	mean = fps_mean_rate((int64_t)n - 1, time[n - 1], tick);
	if (!fps_is_sound(mean))
		return 0;
	rate = (double)mean.num / mean.den;
	whole = (int)(rate + 0.5);
	if (whole > 0) {
		struct fraction plain = { whole, 1 };
		struct fraction ntsc = { whole * 1000, 1001 };

		if (fps_fits(time, n, tick, plain)) {
			*found = plain;
			return 1;
		}
		if (fps_fits(time, n, tick, ntsc)) {
			*found = ntsc;
			return 1;
		}
	}
	*found = mean;
	return fps_fits(time, n, tick, mean);
}

static int
fps_by_time(const void *a, const void *b)
{
	const struct video_frame *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static int
fps_by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Return 1 if a time stamp is wrong and no frame is missing.  Then frame ${i}
 * of ${n} comes late, compared with the interval ${usual}, and the next frames
 * come early by the same time, to within ${near}.
 */
static int
fps_made_up(const struct video_frame *frame, size_t n, size_t i, int64_t usual,
    int64_t near)
{
	int64_t late = frame[i].time - frame[i - 1].time - usual;

	for (size_t k = i + 1; k < n && k <= i + MAKE_UP && late > near; k++) {
		int64_t d = frame[k].time - frame[k - 1].time;

		late -= d < usual - near ? usual - d : 0;
	}
	return late <= near;
}

size_t
fps_gaps(struct video_frame *frame, size_t n, struct fraction tick,
    size_t *first)
{
	int64_t *step, usual, slack, near, allowed;
	size_t gaps = 0, even = 0;

	if (n < 5 || tick.num <= 0 || tick.den <= 0)
		return 0;
	qsort(frame, n, sizeof(*frame), fps_by_time);
	step = xcalloc(n - 1, sizeof(*step));
	for (size_t i = 1; i < n; i++)
		step[i - 1] = frame[i].time - frame[i - 1].time;
	qsort(step, n - 1, sizeof(*step), fps_by_size);
	usual = step[(n - 1) / 2];
	free(step);
	if (usual <= 0)
		return 0;
	slack = (int64_t)(SLACK * tick.den / tick.num);
	near = usual / 4 + slack;
	allowed = usual + usual / 2 + slack;
	for (size_t i = n - 1; i > 0; i--) {
		int64_t d = frame[i].time - frame[i - 1].time;
		int64_t dark = frame[i].time - frame[i - 1].until;

		even += d >= usual - near && d <= usual + near;
		if (d > allowed && dark > allowed - usual &&
		    !fps_made_up(frame, n, i, usual, near)) {
			gaps++;
			*first = i - 1;
		}
	}
	n--;
	return n - even <= (n > 10 ? n / 10 : 1) ? gaps : 0;
}

/* k / rate <= (time + until) / 2 * tick, in integers: no rounding. */
int
fps_shows(int64_t k, struct fraction rate, int64_t time, int64_t until,
    struct fraction tick)
{
	wide left = (wide)2 * k * rate.den * tick.den;
	wide right = ((wide)time + until) * tick.num * rate.num;

	return left <= right;
}

int64_t
fps_100us(int64_t time, struct fraction tick)
{
	wide t = ((wide)time * tick.num * 10000 * 2 + tick.den) /
	    ((wide)tick.den * 2);

	return t < INT64_MAX ? (int64_t)t : INT64_MAX;
}
