/* Counter-based random numbers: Philox4x32-10 and the draws made from it. */
#include <math.h>

#include "base/rng.h"

struct rng_block
rng_philox(uint64_t seed, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
	struct rng_block c = { { c0, c1, c2, c3 } };

	/* Multipliers and key increments are those of the paper (Random123). */
	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)0xD2511F53 * c.w[0];
		uint64_t p1 = (uint64_t)0xCD9E8D57 * c.w[2];

		c = (struct rng_block){ {
			(uint32_t)(p1 >> 32) ^ c.w[1] ^ k0, (uint32_t)p1,
			(uint32_t)(p0 >> 32) ^ c.w[3] ^ k1, (uint32_t)p0 } };
		k0 += 0x9E3779B9;
		k1 += 0xBB67AE85;
	}
	return c;
}

struct rng_block
rng_dropout(uint64_t seed, uint64_t clip, uint32_t op, uint64_t place)
{
	uint64_t block = place / 4;

	return rng_philox(seed, (uint32_t)clip, (uint32_t)(clip >> 32),
	    op << 20 | (uint32_t)(block & 0xfffff), RNG_DROPOUT |
	    (uint32_t)(block >> 20) << 8 | op >> 12 << 26);
}

struct rng
rng_clip(uint64_t seed, uint64_t g)
{
	return (struct rng){ .seed = seed, .id = g, .purpose = RNG_CLIP };
}

/* The other three words of the block are unused: a draw costs one counter. */
static uint32_t
rng_draw(struct rng *r)
{
	return rng_philox(r->seed, (uint32_t)r->id, (uint32_t)(r->id >> 32),
	    r->draw++, r->purpose).w[0];
}

double
rng_uniform(struct rng *r)
{
	return rng_unit(rng_draw(r));
}

/*
 * Map ${w} to [0, n) by multiplication, and reject the few low words that would
 * make some results more probable (Lemire 2019).  Return 1 and set ${*to}, or
 * return 0: draw again.
 */
static int
rng_bounded(uint32_t w, uint32_t n, uint32_t *to)
{
	uint64_t m = (uint64_t)w * n;

	*to = (uint32_t)(m >> 32);
	return (uint32_t)m >= -n % n;
}

uint32_t
rng_below(struct rng *r, uint32_t n)
{
	uint32_t v;

	while (!rng_bounded(rng_draw(r), n, &v))
		;
	return v;
}

static void
rng_shuffle_from(uint64_t seed, enum rng_purpose purpose, uint32_t epoch,
    uint32_t first, uint32_t n, uint32_t *order)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	/* The counter of a draw holds the position and the attempt, so a
	 * rejection does not shift the draws of other positions. */
	for (uint32_t i = n; i-- > 1;) {
		uint32_t attempt = 0, j, t;

		while (!rng_bounded(rng_philox(seed, first + i, attempt, epoch,
		    purpose).w[0], i + 1, &j))
			attempt++;
		t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
}

void
rng_shuffle(uint64_t seed, uint32_t epoch, uint32_t n, uint32_t *order)
{
	rng_shuffle_from(seed, RNG_SHUFFLE, epoch, 0, n, order);
}

void
rng_shuffle_class(uint64_t seed, uint32_t pass, uint32_t first, uint32_t n,
    uint32_t *order)
{
	rng_shuffle_from(seed, RNG_CLASS, pass, first, n, order);
}

/*
 * ln(x) = 2 atanh(s) + e ln(2), where x = m 2^e, s = (m - 1) / (m + 1).
 * m is in [sqrt(1/2), sqrt(2)), so |s| < 0.172, and twelve terms of the series
 * leave a relative error of 1e-19.  It uses only +, -, *, / and frexp, which
 * are exact or correctly rounded on every machine.
 */
static double
rng_fixed_log(double x)
{
	int e;
	double m = frexp(x, &e), s, s2, sum = 0;

	if (m < 0x1.6a09e667f3bcdp-1) {
		m *= 2;
		e--;
	}
	s = (m - 1) / (m + 1);
	s2 = s * s;
	for (int k = 23; k > 0; k -= 2)
		sum = sum * s2 + 1.0 / k;
	return 2 * s * sum + e * 0x1.62e42fefa39efp-1;
}

/* The ratio of the polynomials a(r) and b(r) of degree 7, by Horner's rule. */
static double
rng_ratio(const double a[8], const double b[8], double r)
{
	double p = a[7], q = b[7];

	for (int i = 6; i >= 0; i--) {
		p = p * r + a[i];
		q = q * r + b[i];
	}
	return p / q;
}

/* The normal deviate with lower tail area p, 0 < p < 1: AS 241, routine
 * PPND16. */
static double
rng_inverse_normal(double p)
{
	static const double a[8] = {
		3.3871328727963666080e0, 1.3314166789178437745e2,
		1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4,
		3.3430575583588128105e4, 2.5090809287301226727e3 };
	static const double b[8] = { 1.0,
		4.2313330701600911252e1, 6.8718700749205790830e2,
		5.3941960214247511077e3, 2.1213794301586595867e4,
		3.9307895800092710610e4, 2.8729085735721942674e4,
		5.2264952788528545610e3 };
	static const double c[8] = {
		1.42343711074968357734e0, 4.63033784615654529590e0,
		5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1,
		2.27238449892691845833e-2, 7.74545014278341407640e-4 };
	static const double d[8] = { 1.0,
		2.05319162663775882187e0, 1.67638483018380384940e0,
		6.89767334985100004550e-1, 1.48103976427480074590e-1,
		1.51986665636164571966e-2, 5.47593808499534494600e-4,
		1.05075007164441684324e-9 };
	static const double e[8] = {
		6.65790464350110377720e0, 5.46378491116411436990e0,
		1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3,
		2.71155556874348757815e-5, 2.01033439929228813265e-7 };
	static const double f[8] = { 1.0,
		5.99832206555887937690e-1, 1.36929880922735805310e-1,
		1.48753612908506148525e-2, 7.86869131145613259100e-4,
		1.84631831751005468180e-5, 1.42151175831644588870e-7,
		2.04426310338993978564e-15 };
	double q = p - 0.5, r, x;

	if (fabs(q) <= 0.425)
		return q * rng_ratio(a, b, 0.180625 - q * q);
	r = sqrt(-rng_fixed_log(q < 0 ? p : 1 - p));
	x = r <= 5 ? rng_ratio(c, d, r - 1.6) : rng_ratio(e, f, r - 5);
	return q < 0 ? -x : x;
}

double
rng_normal(uint64_t seed, uint32_t tensor, uint32_t i)
{
	struct rng_block b = rng_philox(seed, i, 0, tensor, RNG_WEIGHTS);
	uint64_t bits = (uint64_t)b.w[0] << 20 ^ b.w[1] >> 12;

	/* 52 bits plus one half, times 2^-52: exact, and never 0 or 1. */
	return rng_inverse_normal(((double)bits + 0.5) * 0x1p-52);
}
