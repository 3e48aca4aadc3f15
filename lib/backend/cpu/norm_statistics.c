/*
 * Combine the planes of a normalization per channel: the statistics of a
 * microbatch, and the sums and factors of its backward pass.  Each plane gives
 * a mean and a sum of squared deviations.  They are combined in double, image
 * by image (Chan et al. 1979).
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/norm_pass.h"
#include "backend/peers.h"

int
norm_measures(const struct task *bn)
{
	return bn->needs_weight_grad && !bn->op->bn.fixed;
}

int
norm_is_synced(const struct task *bn)
{
	return norm_measures(bn) && bn->peers != NULL;
}

/*
 * Store the statistics of channel ${c} over ${count} values: for this pass, and
 * as the gradients of the parameters PARAM_MEAN, PARAM_VAR and PARAM_BETWEEN.
 */
static void
norm_statistics_set_statistics(const struct norm_pass *s, int c, double count,
    double mean, double m2)
{
	s->mean[c] = (float)mean;
	s->rstd[c] = (float)(1 / sqrt(m2 / count + s->bn->op->bn.eps));
	((float *)s->bn->dw[2])[c] = (float)mean;
	((float *)s->bn->dw[3])[c] =
	    (float)(m2 / (count > 1 ? count - 1 : 1));
	if (s->bn->op->nparam > 4)
		norm_between(s->bn, c, mean);
}

/* mean = sum of mean_i / images, m2 = sum of (m2_i + hw (mean_i - mean)^2) */
void
norm_combine_part(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	double hw = (double)s->hw, count = hw * s->images;

	(void)thread;
	for (int c = b * cpu_lanes(); c < norm_channels_to(s, b); c++) {
		double mean = 0, m2 = 0;

		for (int i = 0; i < s->images; i++)
			mean += s->p[(size_t)i * s->row + c];
		mean /= s->images;
		for (int i = 0; i < s->images; i++) {
			double d = s->p[(size_t)i * s->row + c] - mean;

			m2 += s->q[(size_t)i * s->row + c] + hw * d * d;
		}
		if (s->bn->peers != NULL)
			peers_pack(s->sync, (size_t)s->d->c, (size_t)c, count,
			    mean, m2);
		else
			norm_statistics_set_statistics(s, c, count, mean, m2);
	}
}

void
norm_unpack_part(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	double count = peers_count(s->bn, (double)s->hw * s->images);

	(void)thread;
	for (int c = b * cpu_lanes(); c < norm_channels_to(s, b); c++) {
		double mean, m2;

		peers_unpack(s->sync, (size_t)s->d->c, (size_t)c, count, &mean,
		    &m2);
		norm_statistics_set_statistics(s, c, count, mean, m2);
	}
}

void
norm_running_part(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	const float *mean = s->bn->w[2], *var = s->bn->w[3];

	(void)thread;
	for (int c = b * cpu_lanes(); c < norm_channels_to(s, b); c++) {
		s->mean[c] = ((float *)s->bn->dw[2])[c] = mean[c];
		s->rstd[c] = (float)(1 / sqrt(var[c] + s->bn->op->bn.eps));
		((float *)s->bn->dw[3])[c] = var[c];
	}
}

/* y = gamma (x - mean) rstd + beta = x scale + offset */
void
norm_set_scale(const struct norm_pass *s, int b)
{
	struct task *bn = s->bn;
	const float *gamma = bn->w[0], *beta = bn->w[1];
	int first = b * cpu_lanes();

	memset(s->scale + first, 0, (size_t)cpu_lanes() * sizeof(float));
	memset(s->offset + first, 0, (size_t)cpu_lanes() * sizeof(float));
	for (int c = first; c < norm_channels_to(s, b); c++) {
		float mean = bn->needs_weight_grad ? s->mean[c] :
		    ((const float *)bn->w[2])[c];
		float rstd = bn->needs_weight_grad ? s->rstd[c] : (float)
		    (1 / sqrt(((const float *)bn->w[3])[c] + bn->op->bn.eps));

		s->scale[c] = gamma[c] * rstd;
		s->offset[c] = beta[c] - mean * s->scale[c];
	}
}

/*
 * With xh = (x - mean) rstd and n values:
 *
 *	dx = gamma rstd (v - db / n - xh ds / n) = a v + b x + c
 *	ds = rstd sum of v (x - mean), db = sum of v
 *
 * Fixed statistics do not depend on x: dx = gamma rstd v, the limit for
 * infinite n.  If no parameter is trained either, no sums are needed.
 */
static void
norm_statistics_set_factors(const struct norm_pass *s, int c, double count,
    double db, double ds)
{
	double a = ((const float *)s->bn->w[0])[c] * (double)s->rstd[c];

	s->a[c] = (float)a;
	s->b[c] = (float)(-a * s->rstd[c] * ds / count);
	s->c[c] = (float)(a * (s->mean[c] * s->rstd[c] * ds - db) / count);
}

static void
norm_statistics_sums_part(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	struct task *bn = s->bn;
	double count = bn->op->bn.fixed ? INFINITY : (double)s->hw * s->images;

	(void)thread;
	for (int c = b * cpu_lanes(); c < norm_channels_to(s, b); c++) {
		double db = 0, ds = 0;

		for (int i = 0; i < s->images; i++) {
			db += s->p[(size_t)i * s->row + c];
			ds += s->q[(size_t)i * s->row + c];
		}
		ds *= s->rstd[c];
		((float *)bn->dw[0])[c] = (float)ds;
		((float *)bn->dw[1])[c] = (float)db;
		if (norm_is_synced(bn)) {
			s->sync[c] = db;
			s->sync[s->d->c + c] = ds;
		} else {
			norm_statistics_set_factors(s, c, count, db, ds);
		}
	}
}

void
norm_unpack_factors_part(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	double count = peers_count(s->bn, (double)s->hw * s->images);

	(void)thread;
	for (int c = b * cpu_lanes(); c < norm_channels_to(s, b); c++)
		norm_statistics_set_factors(s, c, count, s->sync[c],
		    s->sync[s->d->c + c]);
}

/* A frozen norm: dx = scale v, and b and c are 0 already. */
static void
norm_statistics_frozen_part(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;
	size_t c = (size_t)b * (size_t)cpu_lanes();

	(void)thread;
	memcpy(s->a + c, s->scale + c, (size_t)cpu_lanes() * sizeof(float));
}

void
norm_factors_part(int b, int thread, void *arg)
{
	const struct norm_pass *s = arg;

	if (s->bn->needs_weight_grad)
		norm_statistics_sums_part(b, thread, arg);
	else
		norm_statistics_frozen_part(b, thread, arg);
}
