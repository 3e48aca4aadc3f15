/*
 * What kernels do that take numbers as they lie, whatever their shape: a block
 * takes a piece of them, FLAT vectors for each thread, so that that many loads
 * are on their way at once.  Bound by the bandwidth of memory.
 */

/* Vector ${v} of ${n} numbers; what lies beyond them is 0. */
INLINE void
OF(get)(const void *from, size_t v, size_t n, float *f)
{
	const S *x = (const S *)from + v * LANES;

	if ((v + 1) * LANES <= n) {
		OF(load)(x, f);
		return;
	}
	UNROLL
	for (int e = 0; e < LANES; e++)
		f[e] = v * LANES + (size_t)e < n ? OF(widen)(x[e]) : 0;
}

INLINE void
OF(set)(void *to, size_t v, size_t n, const float *f)
{
	S *y = (S *)to + v * LANES;

	if ((v + 1) * LANES <= n) {
		OF(store)(y, f);
		return;
	}
	UNROLL
	for (int e = 0; e < LANES; e++)
		if (v * LANES + (size_t)e < n)
			y[e] = OF(narrow)(f[e]);
}

/* Vector ${v} of the numbers at ${to} becomes ${f}, or that is added to it. */
INLINE void
OF(give)(void *to, size_t v, size_t n, const float *f, int accumulate)
{
	float sum[LANES];

	if (!accumulate) {
		OF(set)(to, v, n, f);
		return;
	}
	OF(get)(to, v, n, sum);
	UNROLL
	for (int e = 0; e < LANES; e++)
		sum[e] += f[e];
	OF(set)(to, v, n, sum);
}
