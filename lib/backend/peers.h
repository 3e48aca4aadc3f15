#ifndef BACKEND_PEERS_H
#define BACKEND_PEERS_H

/*
 * What a bn tells its peers (backend.h), for back ends that compute it on the
 * host: two numbers of each of ${n} channels, in ${x}[2 n], which are to be
 * summed.  Doubles, in which a variance is the difference of two such sums to
 * full precision: activations are floats, and less exact.
 */

#include "backend/backend.h"

/*
 * peers_tell(x, n, c, count, mean, m2): the mean of the ${count} values of
 * channel ${c} here, and the sum of their squared deviations from it.
 * peers_hear(x, n, c, count, mean, m2): the same, once summed, of the ${count}
 * values of all peers.
 */
static inline void
peers_tell(double *x, size_t n, size_t c, double count, double mean, double m2)
{
	x[c] = count * mean;
	x[n + c] = m2 + count * mean * mean;
}

static inline void
peers_hear(const double *x, size_t n, size_t c, double count, double *mean,
    double *m2)
{
	*mean = x[c] / count;
	*m2 = x[n + c] - count * *mean * *mean;
	*m2 = *m2 < 0 ? 0 : *m2;	/* by a rounding; NaN stays */
}

/* peers_count(t, count): the values of all, of ${count} here. */
static inline double
peers_count(const struct task *t, double count)
{
	return t->peers != NULL ? t->peers->n * count : count;
}

/* peers_bytes(t): of the numbers that a bn exchanges at a time; 0: none. */
static inline size_t
peers_bytes(const struct task *t)
{
	return t->peers != NULL ? 2 * (size_t)t->out.c * sizeof(double) : 0;
}

/* peers_sum(t, x): over all peers, of every channel. */
static inline void
peers_sum(const struct task *t, double *x)
{
	t->peers->sum(t->peers, t->device, x, 2 * (size_t)t->out.c);
}

#endif
