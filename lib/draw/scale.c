/* Scales of axes and their ticks. */
#include <math.h>
#include <stdio.h>

#include "draw/scale.h"

/*
 * Compute log2(x) from basic arithmetic only, so that pixels do not depend on a
 * libm: the exponent, plus the artanh series for the mantissa,
 * ln(m / h) = 2 (t + t^3/3 + t^5/5 + ...), t = (m - h) / (m + h), h =
 * sqrt(1/2).
 */
static double
scale_log_two(double x)
{
	int e;
	double m = frexp(x, &e), half = 0.70710678118654752;
	double t = (m - half) / (m + half), square = t * t, sum = 0;

	for (int k = 17; k > 0; k -= 2)
		sum = sum * square + 1.0 / k;
	return e - 0.5 + 2 * t * sum / 0.69314718055994531;
}

/* Return ${base} to the integer power ${n}. */
static double
scale_power(double base, int n)
{
	double p = 1;

	for (int i = 0; i < (n < 0 ? -n : n); i++)
		p *= base;
	return n < 0 ? 1 / p : p;
}

/* Return the largest n with base^n <= x. */
static int
scale_exponent(double x, double base)
{
	int n = (int)floor(scale_log_two(x) / scale_log_two(base) + 0.5);

	while (scale_power(base, n) > x)
		n--;
	while (scale_power(base, n + 1) <= x)
		n++;
	return n;
}

/*
 * Return the smallest step that is 1, 2 or 5 times a power of ten and divides
 * ${range} into at most ${largest} steps.
 */
static double
scale_nice_step(double range, int largest)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double least = range / largest,
	    unit = scale_power(10, scale_exponent(least, 10));
	int i = 0;

	/* Tolerate a relative rounding error of 1e-7. */
	while (steps[i] * unit < least * 0.9999999 && i < 3)
		i++;
	return steps[i] * unit;
}

struct scale
scale_fit(double min, double max, int log, int margin)
{
	struct scale s = { min, max, log, 0 };

	if (log != 0) {
		if (max < min * 1.0001) {
			/*
			 * Widen an empty range by about one power of the base
			 * on each side.
			 */
			s.min = min / log / 0.75;
			s.max = max * log * 0.75;
			s.only = min;
		} else if (margin) {
			double more = (scale_log_two(max) -
			    scale_log_two(min)) * 0.06;

			/*
			 * a first-order approximation of exp2 is sufficient for
			 * a margin
			 */
			s.min = min / (1 + more);
			s.max = max * (1 + more);
		}
		return s;
	}
	if (max - min <= 1e-12 * fmax(fabs(min), fabs(max))) {
		double some = min != 0 ? fabs(min) * 0.5 : 1;

		s.min = min - some;
		s.max = max + some;
		s.only = min;
	} else if (margin) {
		double step = scale_nice_step(max - min, 6);
		double more = (max - min) * 0.06;

		s.max = max + more;
		/* A range that nearly reaches 0 begins at 0. */
		s.min = min >= 0 && min < 2 * step ? 0 : min - more;
	}
	return s;
}

double
scale_place(const struct scale *s, double v)
{
	if (s->log == 0)
		return (v - s->min) / (s->max - s->min);
	return (scale_log_two(v) - scale_log_two(s->min)) /
	    (scale_log_two(s->max) - scale_log_two(s->min));
}

/*
 * Print ${v} to ${to} with the digits that distinguish numbers ${step} apart.
 */
static void
scale_text(double v, double step, char to[24])
{
	double size = fmax(fabs(v), step);
	int digits = 0;

	if (v == 0) {
		snprintf(to, 24, "0");
	} else if (size >= 1e6 || size < 0.9999e-4) {
		int e = scale_exponent(fabs(v) * 1.0000001, 10);

		snprintf(to, 24, "%.6ge%d", v / scale_power(10, e), e);
	} else {
		for (double d = step; d < 0.9999 && digits < 9; d *= 10)
			digits++;
		snprintf(to, 24, "%.*f", digits, v);
	}
}

static int
scale_add_tick(const struct scale *s, double v, double step, struct tick *tick,
    int n)
{
	double at = scale_place(s, v);

	/* Tolerate rounding errors at the ends. */
	if (n == SCALE_TICKS || at < -1e-9 || at > 1 + 1e-9)
		return n;
	tick[n].value = v;
	scale_text(v, step, tick[n].text);
	return n + 1;
}

/*
 * Put ticks at powers of the base, every nth if there are many.  With few
 * decades, also at 2 and 5 times a power.
 */
static int
scale_log_ticks(const struct scale *s, int largest, struct tick *tick)
{
	static const double parts[] = { 1, 2, 5 };
	int low = scale_exponent(s->min, s->log), high = scale_exponent(s->max,
	    s->log) + 1;
	int every = 1, fine = s->log == 10 && 3 * (high - low) <= largest,
	    n = 0;

	while ((high - low) / every > largest)
		every++;
	for (int e = low; e <= high; e++) {
		double unit = scale_power(s->log, e);

		if (e % every != 0)
			continue;
		for (int i = 0; i < (fine ? 3 : 1); i++)
			n = scale_add_tick(s, parts[i] * unit, parts[i] * unit,
			    tick, n);
	}
	return n;
}

int
scale_ticks(const struct scale *s, int largest, struct tick *tick)
{
	double step, first;
	int n = 0;

	if (largest > SCALE_TICKS)
		largest = SCALE_TICKS;
	if (s->only != 0) {
		tick->value = s->only;
		scale_text(s->only, fabs(s->only), tick->text);
		if (fabs(s->only) < 1e6 && fabs(s->only) >= 1e-4)
			snprintf(tick->text, sizeof(tick->text), "%.6g",
			    s->only);
		return 1;
	}
	if (s->log != 0)
		return scale_log_ticks(s, largest, tick);
	step = scale_nice_step(s->max - s->min, largest > 2 ? largest - 1 : 1);
	first = ceil(s->min / step - 1e-9);
	for (int i = 0; i < SCALE_TICKS; i++)
		n = scale_add_tick(s, (first + i) * step, step, tick, n);
	return n;
}
