/* The operators of a classifier. */
#include "backend/ref/ref.h"
#include "base/rng.h"

/*
 * ---- dropout: y = x / (1 - rate), or 0 with probability rate; a hash of seed,
 * clip, operator and position decides ----
 */

static double
ref_dropout_factor(const struct task *k, size_t i)
{
	size_t per = dims_count(&k->out) / k->out.n, place = i % per;
	uint64_t clip = k->feed->clip[i / per];
	struct rng_block b = rng_dropout(k->feed->seed, clip,
	    (uint32_t)k->index, place);

	return rng_unit(b.w[place % 4]) < k->op->dropout.rate ? 0 :
	    1 / (1 - k->op->dropout.rate);
}

static void
ref_dropout_forward(struct task *k)
{
	const REAL *x = k->x[0];
	REAL *y = k->y;

	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		y[i] = (REAL)(k->training ? x[i] * ref_dropout_factor(k, i) :
		    x[i]);
}

static void
ref_dropout_backward(struct task *k)
{
	const REAL *dy = k->dy;
	REAL *dx = ref_gradient(k, 0);

	if (dx == NULL)
		return;
	for (size_t i = 0, n = dims_count(&k->out); i < n; i++)
		dx[i] += (REAL)(dy[i] * ref_dropout_factor(k, i));
}

REF_OP(dropout);

/* ---- linear: y[o] = sum over i of w[o][i] x[i] + b[o], for each row ---- */

static void
ref_linear_forward(struct task *k)
{
	int I = k->in[0].c, O = k->out.c;
	const REAL *x = k->x[0], *w = k->w[0], *b = k->w[1];
	REAL *y = k->y;

	for (size_t r = 0, n = ref_rows(&k->out); r < n; r++)
		for (int o = 0; o < O; o++) {
			double s = b[o];

			for (int i = 0; i < I; i++)
				s +=
				    (double)w[(size_t)o * I + i] * x[r * I + i];
			y[r * O + o] = (REAL)s;
		}
}

/*
 * db[o] = sum over rows of dy[o]
 * dw[o][i] = sum over rows of dy[o] x[i]
 * dx[i] += sum over o of w[o][i] dy[o]
 */
static void
ref_linear_backward(struct task *k)
{
	int I = k->in[0].c, O = k->out.c;
	size_t n = ref_rows(&k->out);
	const REAL *x = k->x[0], *w = k->w[0], *dy = k->dy;
	REAL *dw = k->dw[0], *db = k->dw[1], *dx = ref_gradient(k, 0);

	for (int o = 0; o < O && k->needs_weight_grad; o++) {
		double s = 0;

		for (size_t r = 0; r < n; r++)
			s += dy[r * O + o];
		db[o] = (REAL)s;
		for (int i = 0; i < I; i++) {
			s = 0;
			for (size_t r = 0; r < n; r++)
				s += (double)dy[r * O + o] * x[r * I + i];
			dw[(size_t)o * I + i] = (REAL)s;
		}
	}
	for (size_t r = 0; r < n && dx != NULL; r++)
		for (int i = 0; i < I; i++) {
			double s = 0;

			for (int o = 0; o < O; o++)
				s +=
				    (double)w[(size_t)o * I + i] *
				    dy[r * O + o];
			dx[r * I + i] += (REAL)s;
		}
}

REF_OP(linear, .reads = READS_X_DW);
