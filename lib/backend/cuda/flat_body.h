/* Loads and stores of activations, a vector of 16 bytes at a time. */

/* Load the vector at element ${at}, or zeros unless ${there}. */
INLINE struct vector16
OF(fetch)(const void *from, size_t at, int there)
{
	struct vector16 zero;

	if (there)
		return vector16_load((const S *)from + at);
	zero.w[0] = zero.w[1] = zero.w[2] = zero.w[3] = 0;
	return zero;
}

/* Store LANES floats at element ${at}, rounded to the storage type.  Do nothing
 * unless ${there}. */
INLINE void
OF(set)(void *to, size_t at, int there, const float *f)
{
	if (there)
		vector16_store((S *)to + at, OF(pack)(f));
}

/* Store ${f} like set, or add it to the stored elements if ${accumulate}. */
INLINE void
OF(give)(void *to, size_t at, int there, const float *f, int accumulate)
{
	float sum[LANES];

	if (!accumulate) {
		OF(set)(to, at, there, f);
		return;
	}
	OF(unpack)(OF(fetch)(to, at, there), sum);
	EACH(e, LANES)
		sum[e] += f[e];
	OF(set)(to, at, there, sum);
}

/*
 * Return the first element of vector ${k} < FLAT of thread ${i} in a flat
 * array.  FLAT vectors per thread keep that many loads in flight.
 */
INLINE size_t
OF(flat_at)(struct block b, int i, int k)
{
	return (((size_t)b.x * FLAT + (size_t)k) * (size_t)b.threads +
	    (size_t)i) * LANES;
}
