/* The cost model of fused patterns (fusion_cost.h). */
#include "backend/cuda/cuda.h"
#include "backend/cuda/fusion_cost.h"

size_t
fusion_conv_bytes(const struct conv_shape *s, int which)
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
fusion_cost_time_of(const struct conv_shape *s, const struct fusion_times *w,
    enum conv_pass pass, enum conv_fusion pattern)
{
	struct conv_shape as = *s;

	as.pass = pass;
	as.fusion = pattern;
	return w->conv(w->at, &as);
}

/*
 * Return the seconds of a plain convolution and then the sums, or 0 if unknown.
 */
static double
fusion_cost_unfused_sums(const struct conv_shape *s,
    const struct fusion_times *w)
{
	double conv = fusion_cost_time_of(s, w, CONV_FORWARD, CONV_UNFUSED);
	double sums = conv > 0 ? w->norm(w->at, s, PART_SUMS) : 0;

	return sums > 0 ? conv + sums : 0;
}

/* Return 1 unless the unfused operations are known to be faster. */
static int
fusion_cost_fusing(double fused, double plain)
{
	return plain <= 0 || fused <= plain;
}

static int
fusion_cost_norms(const struct conv_shape *s, const struct fusion_times *w,
    double *plain)
{
	double forward = fusion_cost_time_of(s, w, CONV_FORWARD,
	    CONV_NORMED_SUMS);
	double data = fusion_cost_time_of(s, w, CONV_DATA, CONV_NORM_BACK);
	double weights = fusion_cost_time_of(s, w, CONV_WEIGHTS, CONV_NORMED);
	double sums, apart, plain_data, plain_weights, apply, sums_back;

	if (forward <= 0 || data <= 0 || weights <= 0)
		return 1;		/* without one of the three patterns,
					 * the caller uses none */
	sums = fusion_cost_time_of(s, w, CONV_FORWARD, CONV_SUMS);
	apart = fusion_cost_unfused_sums(s, w);
	plain_data = fusion_cost_time_of(s, w, CONV_DATA, CONV_UNFUSED);
	plain_weights = fusion_cost_time_of(s, w, CONV_WEIGHTS, CONV_UNFUSED);
	apply = w->norm(w->at, s, PART_APPLY);
	sums_back = w->norm(w->at, s, PART_SUMS_BACK);
	if (apart <= 0 || plain_data <= 0 || plain_weights <= 0 || apply <= 0 ||
	    sums_back <= 0)
		return 1;
	*plain = (sums > 0 && sums < apart ? sums : apart) + plain_data +
	    plain_weights + apply + sums_back;
	return fusion_cost_fusing(forward + data + weights, *plain);
}

int
fusion_pays(const struct conv_shape *s, const struct fusion_times *w,
    double *plain)
{
	if (s->fusion == CONV_NORMED_SUMS)
		return fusion_cost_norms(s, w, plain);
	if (s->fusion != CONV_SUMS)
		return 1;
	*plain = fusion_cost_unfused_sums(s, w);
	return fusion_cost_fusing(fusion_cost_time_of(s, w, CONV_FORWARD,
	    CONV_SUMS),
	    *plain);
}
