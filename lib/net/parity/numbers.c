/* Reads, writes, draws and compares the numbers of a comparison. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "net/parity/job.h"

double *
parity_fetch(const struct parity_side *s, const struct dims *d, const void *at)
{
	double *v = xcalloc(dims_count(d), sizeof(*v));

	device_read(s->plan->device, v, d, at);
	return v;
}

void
parity_put(const struct parity_side *s, const struct dims *d, const void *at,
    const double *v)
{
	device_write(s->plan->device, (void *)at, d, v);
}

void
parity_resolve(const struct parity_side *s, const struct dims *d,
    const void *at, double *v)
{
	parity_put(s, d, at, v);
	device_read(s->plan->device, v, d, at);
}

/* Uniform values in [-1, 1) that a float holds exactly. */
double *
parity_draw(const struct dims *d, int stream)
{
	size_t n = dims_count(d);
	double *v = xcalloc(n, sizeof(*v));
	struct rng_block b = { { 0 } };

	for (size_t i = 0; i < n; i++) {
		if (i % 4 == 0)
			b = rng_philox(7, (uint32_t)(i / 4), 0,
			    (uint32_t)stream, RNG_WEIGHTS);
		v[i] = 2 * rng_unit(b.w[i % 4]) - 1;
	}
	return v;
}

double
parity_largest(const double *v, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fabs(v[i]) > largest ? fabs(v[i]) : largest;
	return largest;
}

void
parity_compare(struct parity_job *j, double *worst, double *got,
    const double *want, size_t n)
{
	double largest = 0, d2 = 0, w2 = 0, scale, off;

	for (size_t i = 0; i < n; i++) {
		double d = fabs(got[i] - want[i]);

		/* A NaN is an infinite difference. */
		largest = d <= largest ? largest : isnan(d) ? INFINITY : d;
		d2 += d * d;
		w2 += want[i] * want[i];
	}
	scale = j->o->by_norm ? sqrt(w2) : parity_largest(want, n);
	off = j->o->by_norm && isfinite(largest) ? sqrt(d2) : largest;
	/* Compare absolutely if the reference is almost 0 everywhere. */
	off /= scale > 1e-6 ? scale : 1;
	*worst = off <= *worst ? *worst : isnan(off) ? INFINITY : off;
}
