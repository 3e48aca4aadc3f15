/* The operator dropout. */
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
