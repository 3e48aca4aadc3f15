/*
 * Combine the pieces of a normalization per channel: the statistics of a
 * microbatch, and the sums and factors of its backward pass.  Each piece gives
 * a mean and a sum of squared deviations.  They are combined in double, in
 * their order (Chan et al. 1979).
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
 * Return the channel at index ${at} in storage order (norm_kernels.h), or -1
 * for padding.
 */
static int
norm_statistics_channel(const struct norm_pass *s, int at)
{
	int c = s->half && at < s->row / 32 * 32 ? at / 32 * 32 + at % 16 * 2 +
	    at % 32 / 16 : at;

	return c < s->d->c ? c : -1;
}

/* For each index ${at} of vector ${b}, and its channel ${c}. */
#define CHANNELS(s, b, at, c) \
	for (int at = (b) * (s)->lanes, c; at < ((b) + 1) * (s)->lanes; at++) \
		if ((c = norm_statistics_channel(s, at)) >= 0)

/* Describe the sums of all pieces. */
static struct norm_pieces
norm_statistics_pieces(const struct norm_pass *s)
{
	return (struct norm_pieces){ s->p, s->q, (size_t)s->row, s->images,
		s->cuts, s->rows, s->hw - (size_t)(s->cuts - 1) * s->rows };
}

/* Return the values of a channel, on all peers if the norm is synced. */
static double
norm_statistics_count(const struct norm_pass *s)
{
	double count = (double)s->hw * s->images;

	return norm_is_synced(s->bn) ? peers_count(s->bn, count) : count;
}

/*
 * Store the statistics of channel ${c}, at index ${at}: for this pass, and as
 * the gradients of the parameters PARAM_MEAN and PARAM_VAR.  That of
 * PARAM_BETWEEN is the squared difference of the batch mean and the running
 * mean.
 */
static void
norm_statistics_set(const struct norm_pass *s, int c, int at, double mean,
    double m2)
{
	const struct task *bn = s->bn;
	double count = norm_statistics_count(s);
	double between = mean - ((const float *)bn->w[2])[c];

	s->mean[at] = (float)mean;
	s->rstd[at] = (float)(1 / sqrt(m2 / count + bn->op->bn.eps));
	((float *)bn->dw[2])[c] = (float)mean;
	((float *)bn->dw[3])[c] = (float)(m2 / (count > 1 ? count - 1 : 1));
	if (bn->op->nparam > 4)
		((float *)bn->dw[4])[c] = (float)(between * between);
}

void
norm_combine_part(const struct norm_pass *s, int b, int thread)
{
	const struct norm_pieces pieces = norm_statistics_pieces(s);
	double mean[LANES_MAX], m2[LANES_MAX];
	int first = b * s->lanes;

	(void)thread;
	s->k->join(&pieces, first, mean, m2);
	CHANNELS(s, b, at, c) {
		if (norm_is_synced(s->bn))
			peers_pack(s->sync, (size_t)s->d->c, (size_t)c,
			    (double)s->hw * s->images, mean[at - first],
			    m2[at - first]);
		else
			norm_statistics_set(s, c, at, mean[at - first],
			    m2[at - first]);
	}
}

void
norm_unpack_part(const struct norm_pass *s, int b, int thread)
{
	double mean, m2;

	(void)thread;
	CHANNELS(s, b, at, c) {
		peers_unpack(s->sync, (size_t)s->d->c, (size_t)c,
		    norm_statistics_count(s), &mean, &m2);
		norm_statistics_set(s, c, at, mean, m2);
	}
}

void
norm_running_part(const struct norm_pass *s, int b, int thread)
{
	const float *mean = s->bn->w[2], *var = s->bn->w[3];

	(void)thread;
	CHANNELS(s, b, at, c) {
		s->mean[at] = ((float *)s->bn->dw[2])[c] = mean[c];
		s->rstd[at] = (float)(1 / sqrt(var[c] + s->bn->op->bn.eps));
		((float *)s->bn->dw[3])[c] = var[c];
	}
}

/* y = gamma (x - mean) rstd + beta = x scale + offset */
void
norm_scale_part(const struct norm_pass *s, int b, int thread)
{
	struct task *bn = s->bn;
	const float *gamma = bn->w[0], *beta = bn->w[1];

	(void)thread;
	CHANNELS(s, b, at, c) {
		float mean = bn->needs_weight_grad ? s->mean[at] :
		    ((const float *)bn->w[2])[c];
		float rstd = bn->needs_weight_grad ? s->rstd[at] : (float)
		    (1 / sqrt(((const float *)bn->w[3])[c] + bn->op->bn.eps));

		s->scale[at] = gamma[c] * rstd;
		s->offset[at] = beta[c] - mean * s->scale[at];
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
norm_statistics_set_factors(const struct norm_pass *s, int c, int at,
    double db, double ds)
{
	double a = ((const float *)s->bn->w[0])[c] * (double)s->rstd[at];
	double count = s->bn->op->bn.fixed ? INFINITY :
	    norm_statistics_count(s);

	s->a[at] = (float)a;
	s->b[at] = (float)(-a * s->rstd[at] * ds / count);
	s->c[at] = (float)(a * (s->mean[at] * s->rstd[at] * ds - db) / count);
}

/* A frozen norm has dx = scale v; b and c are 0 already. */
void
norm_factors_part(const struct norm_pass *s, int b, int thread)
{
	struct task *bn = s->bn;
	const struct norm_pieces pieces = norm_statistics_pieces(s);
	double db[LANES_MAX], ds[LANES_MAX];
	int first = b * s->lanes;

	(void)thread;
	if (!bn->needs_weight_grad) {
		memcpy(s->a + first, s->scale + first, (size_t)s->lanes *
		    sizeof(float));
		return;
	}
	s->k->add(&pieces, first, db, ds);
	CHANNELS(s, b, at, c) {
		double shift = db[at - first], scale = ds[at - first] *
		    s->rstd[at];

		((float *)bn->dw[0])[c] = (float)scale;
		((float *)bn->dw[1])[c] = (float)shift;
		if (norm_is_synced(bn)) {
			s->sync[c] = shift;
			s->sync[s->d->c + c] = scale;
		} else {
			norm_statistics_set_factors(s, c, at, shift, scale);
		}
	}
}

void
norm_unpack_factors_part(const struct norm_pass *s, int b, int thread)
{

	(void)thread;
	CHANNELS(s, b, at, c)
		norm_statistics_set_factors(s, c, at, s->sync[c],
		    s->sync[s->d->c + c]);
}
