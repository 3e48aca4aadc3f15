/*
 * Numbers taken each for itself, as they lie: what they are stands in
 * ref/pointwise.real.c.  Bound by the bandwidth of memory.
 */

INLINE float
OF(sigmoid_of)(float x)
{
	return 1 / (1 + expf(-x));
}

INLINE float
OF(curve_of)(float x, float factor, const int what)
{
	switch (what) {
	case CURVE_RELU: return x > 0 ? x : 0;
	case CURVE_RELU6: return x > 6 ? 6 : x > 0 ? x : 0;
	case CURVE_SIGMOID: return OF(sigmoid_of)(x);
	case CURVE_SWISH: return x * OF(sigmoid_of)(x);
	case CURVE_SCALE: return factor * x;
	default: return x;
	}
}

/* ${v}: the output, but of swish the input. */
INLINE float
OF(curve_back)(float v, float dy, const int what)
{
	float s;

	switch (what) {
	case CURVE_RELU: return v > 0 ? dy : 0;
	case CURVE_RELU6: return v > 0 && v < 6 ? dy : 0;
	case CURVE_SIGMOID: return dy * v * (1 - v);
	default:
		s = OF(sigmoid_of)(v);
		return dy * s * (1 + v * (1 - s));
	}
}

INLINE void
OF(curve)(const struct curve *a, struct block b, const int what)
{
	EACH_THREAD(i) {
		struct words x[FLAT];
		float factor = a->by != NULL ? *a->by : a->factor;

		UNROLL
		for (int k = 0; k < FLAT; k++)
			x[k] = OF(fetch)(a->from, OF(flat_at)(b, i, k), a->n,
			    LANES);
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			float f[LANES];

			OF(unpack)(x[k], f);
			UNROLL
			for (int e = 0; e < LANES; e++)
				f[e] = OF(curve_of)(f[e], factor, what);
			OF(give)(a->to, OF(flat_at)(b, i, k), a->n, f,
			    a->accumulate, LANES);
		}
	}
}

INLINE void
OF(slope)(const struct curve *a, struct block b, const int what)
{
	EACH_THREAD(i) {
		struct words x[FLAT], dy[FLAT];

		UNROLL
		for (int k = 0; k < FLAT; k++) {
			x[k] = OF(fetch)(a->from, OF(flat_at)(b, i, k), a->n,
			    LANES);
			dy[k] = OF(fetch)(a->dy, OF(flat_at)(b, i, k), a->n,
			    LANES);
		}
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			float f[LANES], g[LANES];

			OF(unpack)(x[k], f);
			OF(unpack)(dy[k], g);
			UNROLL
			for (int e = 0; e < LANES; e++)
				f[e] = OF(curve_back)(f[e], g[e], what);
			OF(give)(a->to, OF(flat_at)(b, i, k), a->n, f,
			    a->accumulate, LANES);
		}
	}
}

BODY OF(pass)(const struct curve *a, struct block b)
{
	OF(curve)(a, b, CURVE_PASS);
}

BODY OF(relu)(const struct curve *a, struct block b)
{
	OF(curve)(a, b, CURVE_RELU);
}

BODY OF(relu6)(const struct curve *a, struct block b)
{
	OF(curve)(a, b, CURVE_RELU6);
}

BODY OF(sigmoid)(const struct curve *a, struct block b)
{
	OF(curve)(a, b, CURVE_SIGMOID);
}

BODY OF(swish)(const struct curve *a, struct block b)
{
	OF(curve)(a, b, CURVE_SWISH);
}

BODY OF(scale)(const struct curve *a, struct block b)
{
	OF(curve)(a, b, CURVE_SCALE);
}

BODY OF(relu_back)(const struct curve *a, struct block b)
{
	OF(slope)(a, b, CURVE_RELU);
}

BODY OF(relu6_back)(const struct curve *a, struct block b)
{
	OF(slope)(a, b, CURVE_RELU6);
}

BODY OF(sigmoid_back)(const struct curve *a, struct block b)
{
	OF(slope)(a, b, CURVE_SIGMOID);
}

BODY OF(swish_back)(const struct curve *a, struct block b)
{
	OF(slope)(a, b, CURVE_SWISH);
}

BODY
OF(add)(const struct add *a, struct block b)
{
	EACH_THREAD(i) {
		float sum[FLAT][LANES];

		UNROLL
		for (int k = 0; k < FLAT; k++)
			OF(unpack)(OF(fetch)(a->from[0], OF(flat_at)(b, i, k),
			    a->n, LANES), sum[k]);
		for (int j = 1; j < a->count; j++) {
			struct words x[FLAT];

			UNROLL
			for (int k = 0; k < FLAT; k++)
				x[k] = OF(fetch)(a->from[j], OF(flat_at)(b, i,
				    k), a->n, LANES);
			UNROLL
			for (int k = 0; k < FLAT; k++) {
				float f[LANES];

				OF(unpack)(x[k], f);
				UNROLL
				for (int e = 0; e < LANES; e++)
					sum[k][e] += f[e];
			}
		}
		UNROLL
		for (int k = 0; k < FLAT; k++)
			OF(set)(a->to, OF(flat_at)(b, i, k), a->n, sum[k],
			    LANES);
	}
}

/* Bytes are one half or one quarter of what is written. */
BODY
OF(input)(const struct input *a, struct block b)
{
	SHARED(float, slope, OP_STREAM);
	SHARED(float, offset, OP_STREAM);
	size_t first = (size_t)b.x * (size_t)(FLAT * b.threads) * LANES;
	unsigned c0 = (unsigned)(first % (unsigned)a->channels);

	EACH_THREAD(i) {
		if (i < a->channels) {
			slope[i] = a->slope[i];
			offset[i] = a->offset[i];
		}
	}
	EACH_THREAD(i) {
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			unsigned at = (unsigned)(k * b.threads + i) * LANES;
			unsigned c = (c0 + at) % (unsigned)a->channels;
			const uint8_t *x = a->from + first + at;
			float y[LANES];

			if (first + at >= a->n)
				break;
			UNROLL
			for (int e = 0; e < LANES; e++) {
				unsigned byte = first + at + (unsigned)e < a->n ?
				    x[e] : 0;

				y[e] = fmaf((float)byte, slope[c], offset[c]);
				c = c + 1 == (unsigned)a->channels ? 0 : c + 1;
			}
			OF(set)(a->to, first + at, a->n, y, LANES);
		}
	}
}

/* Floats to what is stored, and back. */
BODY
OF(narrow_all)(const struct cast *a, struct block b)
{
	EACH_THREAD(i) {
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			size_t j = ((size_t)b.x * FLAT + (size_t)k) *
			    (size_t)b.threads + (size_t)i;

			if (j < a->n)
				((S *)a->to)[j] = OF(narrow)(((const float *)
				    a->from)[j]);
		}
	}
}

BODY
OF(widen_all)(const struct cast *a, struct block b)
{
	EACH_THREAD(i) {
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			size_t j = ((size_t)b.x * FLAT + (size_t)k) *
			    (size_t)b.threads + (size_t)i;

			if (j < a->n)
				((float *)a->to)[j] = OF(widen)(((const S *)
				    a->from)[j]);
		}
	}
}
