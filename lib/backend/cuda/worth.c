/* The cost model of fused patterns (worth.h). */
#include "backend/cuda/cuda.h"
#include "backend/cuda/worth.h"

size_t
conv_bytes(const struct conv_shape *s, int which)
{
	const int *extent[] = { s->from, s->kernel, s->to };
	size_t n = cuda_size(s->type);

	if (which == 1)
		n *= (size_t)s->out * (size_t)(s->in / s->groups);
	else
		n *= (size_t)s->n * (size_t)(which == 0 ? s->in : s->out);
	for (int i = 0; i < s->dims; i++)
		n *= (size_t)extent[which][i];
	return n;
}

/*
 * Return the seconds of another pass or pattern of the same shape, or 0 if
 * there is no algorithm.
 */
static double
worth_time_of(const struct conv_shape *s, const struct stopwatch *w,
    enum conv_pass pass, enum conv_pattern pattern)
{
	struct conv_shape as = *s;

	as.pass = pass;
	as.pattern = pattern;
	return w->conv(w->at, &as);
}

/*
 * Return the seconds of a plain convolution and then the sums, or 0 if unknown.
 */
static double
worth_unfused_sums(const struct conv_shape *s, const struct stopwatch *w)
{
	double conv = worth_time_of(s, w, CONV_FORWARD, CONV_PLAIN);
	double sums = conv > 0 ? w->norm(w->at, s, PART_SUMS) : 0;

	return sums > 0 ? conv + sums : 0;
}

/* Return 1 unless the unfused operations are known to be faster. */
static int
worth_fusing(double fused, double plain)
{
	return plain <= 0 || fused <= plain;
}

static int
worth_norms(const struct conv_shape *s, const struct stopwatch *w,
    double *plain)
{
	double forward = worth_time_of(s, w, CONV_FORWARD, CONV_NORMED_SUMS);
	double data = worth_time_of(s, w, CONV_DATA, CONV_NORM_BACK);
	double weights = worth_time_of(s, w, CONV_WEIGHTS, CONV_NORMED);
	double sums, apart, plain_data, plain_weights, apply, sums_back;

	if (forward <= 0 || data <= 0 || weights <= 0)
		return 1;		/* without one of the three patterns,
					 * the caller uses none */
	sums = worth_time_of(s, w, CONV_FORWARD, CONV_SUMS);
	apart = worth_unfused_sums(s, w);
	plain_data = worth_time_of(s, w, CONV_DATA, CONV_PLAIN);
	plain_weights = worth_time_of(s, w, CONV_WEIGHTS, CONV_PLAIN);
	apply = w->norm(w->at, s, PART_APPLY);
	sums_back = w->norm(w->at, s, PART_SUMS_BACK);
	if (apart <= 0 || plain_data <= 0 || plain_weights <= 0 || apply <= 0 ||
	    sums_back <= 0)
		return 1;
	*plain = (sums > 0 && sums < apart ? sums : apart) + plain_data +
	    plain_weights + apply + sums_back;
	return worth_fusing(forward + data + weights, *plain);
}

int
worth_it(const struct conv_shape *s, const struct stopwatch *w, double *plain)
{
	if (s->pattern == CONV_NORMED_SUMS)
		return worth_norms(s, w, plain);
	if (s->pattern != CONV_SUMS)
		return 1;
	*plain = worth_unfused_sums(s, w);
	return worth_fusing(worth_time_of(s, w, CONV_FORWARD, CONV_SUMS),
	    *plain);
}
