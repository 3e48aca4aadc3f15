/* Functions of each number: what they are stands in ref/pointwise.real.c. */

INLINE float
OF(curve_of)(float x, const int what)
{
	(void)what;
	return x > 0 ? x : 0;
}

INLINE void
OF(curve)(const struct curve *a, struct block b, const int what)
{
	size_t first = (size_t)b.x * (size_t)(FLAT * b.threads);

	EACH_THREAD(i) {
		float x[FLAT][LANES];

		UNROLL
		for (int k = 0; k < FLAT; k++)
			OF(get)(a->from, first + (size_t)(k * b.threads + i),
			    a->n, x[k]);
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			UNROLL
			for (int e = 0; e < LANES; e++)
				x[k][e] = OF(curve_of)(x[k][e], what);
			OF(set)(a->to, first + (size_t)(k * b.threads + i),
			    a->n, x[k]);
		}
	}
}

BODY
OF(relu)(const struct curve *a, struct block b)
{
	OF(curve)(a, b, CURVE_RELU);
}
