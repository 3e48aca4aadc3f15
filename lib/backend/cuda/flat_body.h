/*
 * Loads and stores of storage types, one vector of 16 bytes or one element at a
 * time.  The partial vector at the end of an array is assembled by shifts,
 * which keeps the code for this rare case small.
 */

/*
 * Read ${width} stored values, LANES, 2 or 1, beginning with value ${at}, a
 * multiple of ${width}.  Values from number ${n} are 0.  If ${width} is WHOLE,
 * read LANES values without a bounds check, or zeros if ${n} is 0.
 */
INLINE struct words
OF(fetch)(const void *from, size_t at, size_t n, const int width)
{
	const S *x = (const S *)from + at;
	uint64_t low = 0, high = 0;
	struct words v;

	if (width == WHOLE ? n > 0 : width == LANES && at + LANES <= n)
		return words_load(x);
	if (width == WHOLE || at >= n) {	/* absent operand */
		v.w[0] = v.w[1] = v.w[2] = v.w[3] = 0;
		return v;
	}
	if (width == 2 && STORED_BITS == 16 && at + 2 <= n) {
		v.w[0] = *(const uint32_t *)(const void *)x;
		v.w[1] = v.w[2] = v.w[3] = 0;
		return v;
	}
	ROLL
	for (int e = width - 1; e >= 0; e--) {
		high = high << STORED_BITS | low >> (64 - STORED_BITS);
		low = low << STORED_BITS;
		if (at + (size_t)e < n)
			low |= OF(bits)(x[e]);
	}
	v.w[0] = (uint32_t)low;
	v.w[1] = (uint32_t)(low >> 32);
	v.w[2] = (uint32_t)high;
	v.w[3] = (uint32_t)(high >> 32);
	return v;
}

/*
 * Store ${width} floats at element ${at}, rounded to the storage type.
 * Elements from number ${n} are not stored.  ${width} is as in fetch, except
 * that WHOLE with ${n} 0 stores nothing.
 */
INLINE void
OF(set)(void *to, size_t at, size_t n, const float *f, const int width)
{
	S *y = (S *)to + at;
	uint64_t low, high;
	struct words v;

	if (width == 1) {
		if (at < n)
			y[0] = OF(narrow)(f[0]);
		return;
	}
	if (width == 2) {
		for (int e = 0; e < 2 && at + (size_t)e < n; e++)
			y[e] = OF(narrow)(f[e]);
		return;
	}
	v = OF(pack)(f);
	if (width == WHOLE ? n > 0 : at + LANES <= n) {
		words_store(y, v);
		return;
	}
	if (width == WHOLE)
		return;
	low = (uint64_t)v.w[1] << 32 | v.w[0];
	high = (uint64_t)v.w[3] << 32 | v.w[2];
	ROLL
	for (int e = 0; e < LANES && at + (size_t)e < n; e++) {
		y[e] = OF(from_bits)(low);
		low = low >> STORED_BITS | high << (64 - STORED_BITS);
		high >>= STORED_BITS;
	}
}

/* Store ${f} like set, or add it to the stored elements if ${accumulate}. */
INLINE void
OF(give)(void *to, size_t at, size_t n, const float *f, int accumulate,
    const int width)
{
	float sum[LANES];

	if (!accumulate) {
		OF(set)(to, at, n, f, width);
		return;
	}
	OF(unpack)(OF(fetch)(to, at, n, width), sum);
	UNROLL
	for (int e = 0; e < (width == WHOLE ? LANES : width); e++)
		sum[e] += f[e];
	OF(set)(to, at, n, sum, width);
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
