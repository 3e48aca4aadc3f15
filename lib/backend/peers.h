#ifndef BACKEND_PEERS_H
#define BACKEND_PEERS_H

/*
 * Statistics that a sync BN exchanges with its peers (struct peers), for back
 * ends that compute them on the host: two sums of each of ${n} channels, in
 * ${x}[2 n].  They are doubles: the variance is a difference of two sums, and
 * floats would lose its digits.
 */

#include "backend/backend.h"

/*
 * peers_pack(x, n, c, count, mean, m2):
 * Pack the statistics of channel ${c}: the mean of ${count} values, and the sum
 * of their squared deviations from it:
 *
 *	x[c] = count mean,  x[n + c] = m2 + count mean^2
 *
 * peers_unpack(x, n, c, count, mean, m2):
 * Unpack the same statistics from ${x} after it was summed over the peers.
 * ${count} is the number of values of all peers together.
 */
static inline void
peers_pack(double *x, size_t n, size_t c, double count, double mean, double m2)
{
	x[c] = count * mean;
	x[n + c] = m2 + count * mean * mean;
}

static inline void
peers_unpack(const double *x, size_t n, size_t c, double count, double *mean,
    double *m2)
{
	*mean = x[c] / count;
	*m2 = x[n + c] - count * *mean * *mean;
	*m2 = *m2 < 0 ? 0 : *m2;	/* by a rounding; NaN stays */
}

/*
 * peers_count(t, count):
 * Return the number of values on all peers, of which ${count} are here.
 */
static inline double
peers_count(const struct task *t, double count)
{
	return t->peers != NULL ? t->peers->n * count : count;
}

/*
 * peers_bytes(t):
 * Return the bytes of ${x} that task ${t} needs; 0 if it has no peers.
 */
static inline size_t
peers_bytes(const struct task *t)
{
	return t->peers != NULL ? 2 * (size_t)t->out.c * sizeof(double) : 0;
}

/*
 * peers_sum(t, x):
 * Sum ${x} over all peers.  All peers call it.
 */
static inline void
peers_sum(const struct task *t, double *x)
{
	t->peers->sum(t->peers, t->device, x, 2 * (size_t)t->out.c);
}

#endif
