/* Batch normalization, by direct loops. */
#include <math.h>

#include "backend/peers.h"
#include "backend/ref/ref.h"

/*
 * ---- bn: y = (x - mean) / sqrt(var + eps) scale + offset ----
 *
 * In training, mean and biased variance are those of this microbatch and its
 * peers.  The running statistics receive the unbiased variance, as in PyTorch.
 */

static size_t
ref_bn_saved(const struct task *k)
{
	return 2 * (size_t)k->out.c * sizeof(double);	/* mean, 1 / std */
}

static size_t
ref_bn_scratch(const struct task *k)
{
	return 2 * (size_t)k->out.c * sizeof(double);	/* two sums */
}

/*
 * mean = sum x / n, m2 = sum (x - mean)^2, for each channel over the ${n} rows
 * of this rank.
 */
static void
ref_bn_moments(struct task *k, size_t n, double *mean, double *m2)
{
	int C = k->out.c;
	const REAL *x = k->x[0];

	for (int c = 0; c < C; c++) {
		double s = 0, v = 0;

		for (size_t r = 0; r < n; r++)
			s += x[r * C + c];
		mean[c] = s / (double)n;
		for (size_t r = 0; r < n; r++)
			v += (x[r * C + c] - mean[c]) * (x[r * C + c] -
			    mean[c]);
		m2[c] = v;
	}
}

/*
 * Compute mean and 1 / sqrt(var + eps) of the microbatch, or of all its parts
 * if there are peers.  Write the statistics that are tracked to dw.
 */
static void
ref_bn_statistics(struct task *k, double *mean, double *rstd)
{
	size_t C = (size_t)k->out.c, n = ref_rows(&k->out);
	double all = peers_count(k, (double)n), *packed = k->scratch;

	ref_bn_moments(k, n, mean, rstd);
	for (size_t c = 0; c < C && k->peers != NULL; c++)
		peers_pack(packed, C, c, (double)n, mean[c], rstd[c]);
	if (k->peers != NULL)
		peers_sum(k, packed);
	for (size_t c = 0; c < C; c++) {
		double v = rstd[c];

		if (k->peers != NULL)
			peers_unpack(packed, C, c, all, &mean[c], &v);
		rstd[c] = 1 / sqrt(v / all + k->op->bn.eps);
		((REAL *)k->dw[2])[c] = (REAL)mean[c];
		((REAL *)k->dw[3])[c] = (REAL)(v / (all > 1 ? all - 1 : 1));
		if (k->op->nparam > 4) {
			double d = mean[c] - ((const REAL *)k->w[2])[c];

			((REAL *)k->dw[4])[c] = (REAL)(d * d);
		}
	}
}

/*
 * Normalize with the running statistics, and report them as this microbatch's,
 * so that tracking does not change them.
 */
static void
ref_bn_running(struct task *k, double *mean, double *rstd)
{
	const REAL *m = k->w[2], *v = k->w[3];

	for (int c = 0; c < k->out.c; c++) {
		mean[c] = m[c];
		rstd[c] = 1 / sqrt(v[c] + k->op->bn.eps);
		if (k->needs_weight_grad) {
			((REAL *)k->dw[2])[c] = m[c];
			((REAL *)k->dw[3])[c] = v[c];
		}
	}
}

static void
ref_bn_forward(struct task *k)
{
	int C = k->out.c;
	size_t n = ref_rows(&k->out);
	double *mean = k->saved, *rstd = mean + C;
	const REAL *x = k->x[0], *scale = k->w[0], *offset = k->w[1];
	REAL *y = k->y;

	if (k->needs_weight_grad && !k->op->bn.fixed)
		ref_bn_statistics(k, mean, rstd);
	else
		ref_bn_running(k, mean, rstd);
	for (size_t r = 0; r < n; r++)
		for (int c = 0; c < C; c++)
			y[r * C + c] =
			    (REAL)((x[r * C + c] - mean[c]) * rstd[c] *
			    scale[c] + offset[c]);
}

/*
 * With xh = (x - mean) rstd over n rows:
 *
 *	doffset = sum dy
 *	dscale = sum dy xh
 *	dx = scale rstd (dy - doffset / n - xh dscale / n)
 *
 * Fixed statistics pass no gradient: dx = scale rstd dy, which does not need x.
 * With peers, n and the sums in dx are those of all peers.  The gradients of
 * parameters stay local: they are all-reduced like any other.
 */
static void
ref_bn_sums(struct task *k, size_t n, double *ds, double *db)
{
	int C = k->out.c;
	const double *mean = k->saved, *rstd = mean + C;
	const REAL *x = k->x[0], *dy = k->dy;

	for (int c = 0; c < C; c++) {
		ds[c] = db[c] = 0;
		for (size_t r = 0; r < n; r++) {
			db[c] += dy[r * C + c];
			ds[c] += dy[r * C + c] * (x[r * C + c] - mean[c]) *
			    rstd[c];
		}
		((REAL *)k->dw[0])[c] = (REAL)ds[c];
		((REAL *)k->dw[1])[c] = (REAL)db[c];
	}
}

static void
ref_bn_backward(struct task *k)
{
	int C = k->out.c;
	size_t n = ref_rows(&k->out);
	const double *mean = k->saved, *rstd = mean + C;
	const REAL *x = k->x[0], *dy = k->dy, *scale = k->w[0];
	REAL *dx = ref_gradient(k, 0);
	double all = k->op->bn.fixed ? INFINITY : peers_count(k, (double)n);
	double *ds = k->scratch, *db = ds + C;

	for (int c = 0; c < C && !k->needs_weight_grad; c++)
		for (size_t r = 0; r < n && dx != NULL; r++)
			dx[r * C + c] += (REAL)(scale[c] * rstd[c] *
			    dy[r * C + c]);
	if (k->needs_weight_grad)
		ref_bn_sums(k, n, ds, db);
	if (k->needs_weight_grad && !k->op->bn.fixed && k->peers != NULL)
		peers_sum(k, ds);
	for (int c = 0; c < C && k->needs_weight_grad; c++)
		for (size_t r = 0; r < n && dx != NULL; r++)
			dx[r * C + c] += (REAL)(scale[c] * rstd[c] *
			    (dy[r * C + c] - db[c] / all -
			    (x[r * C + c] - mean[c]) * rstd[c] * ds[c] / all));
}

REF_OP(bn, .reads = READS_X_DW, .saved = ref_bn_saved,
    .scratch = ref_bn_scratch);
