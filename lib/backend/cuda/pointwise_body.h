/*
 * Elementwise operators on flat arrays.  ref/pointwise.real.c defines them.
 * They are bound by memory bandwidth.
 */

/* sigmoid(x) = 1 / (1 + exp(-x)) */
INLINE float
OF(sigmoid_of)(float x)
{
	return 1 / (1 + expf(-x));
}

/* y = f(x): relu, relu6, sigmoid, swish = x sigmoid(x), or factor x */
INLINE float
OF(curve_of)(float x, float factor, const int what)
{
	switch (what) {
	case CURVE_RELU: return x <= 0 ? 0 : x;
	case CURVE_RELU6: return x > 6 ? 6 : x <= 0 ? 0 : x;
	case CURVE_SIGMOID: return OF(sigmoid_of)(x);
	case CURVE_SWISH: return x * OF(sigmoid_of)(x);
	case CURVE_SCALE: return factor * x;
	default: return x;
	}
}

/*
 * dx = f'(x) dy.  ${v} is the output y, except for swish the input x:
 *
 *	relu		dy if y > 0, else 0; NaN passes dy
 *	relu6		dy if 0 < y < 6, else 0
 *	sigmoid		dy y (1 - y)
 *	swish		dy s (1 + x (1 - s)), s = sigmoid(x)
 */
INLINE float
OF(curve_back)(float v, float dy, const int what)
{
	float s;

	switch (what) {
	case CURVE_RELU: return v <= 0 ? 0 : dy;
	case CURVE_RELU6: return v <= 0 || v >= 6 ? 0 : dy;
	case CURVE_SIGMOID: return dy * v * (1 - v);
	default:
		s = OF(sigmoid_of)(v);
		return dy * s * (1 + v * (1 - s));
	}
}

/* to[j] = or += f(from[j]) */
INLINE void
OF(curve)(const struct pointwise *a, struct block b, const int what)
{
	EACH_THREAD(i) {
		struct vector16 x[FLAT];
		float factor = a->by != NULL ? *a->by : a->factor;

		EACH(k, FLAT)
			x[k] = OF(fetch)(a->from, OF(flat_at)(b, i, k),
			    OF(flat_at)(b, i, k) < a->n);
		EACH(k, FLAT) {
			unsigned c = what == CURVE_SIGMOID ? (unsigned)(
			    OF(flat_at)(b, i, k) % a->pitch) : 0;
			float f[LANES];

			OF(unpack)(x[k], f);
			EACH(e, LANES)
				f[e] = what == CURVE_SIGMOID &&
				    c + (unsigned)e >= a->c ? 0 :
				    OF(curve_of)(f[e], factor, what);
			OF(give)(a->to, OF(flat_at)(b, i, k),
			    OF(flat_at)(b, i, k) < a->n, f, a->accumulate);
		}
	}
}

/* to[j] = or += f'(from[j]) dy[j] */
INLINE void
OF(slope)(const struct pointwise *a, struct block b, const int what)
{
	EACH_THREAD(i) {
		struct vector16 x[FLAT], dy[FLAT];

		EACH(k, FLAT) {
			x[k] = OF(fetch)(a->from, OF(flat_at)(b, i, k),
			    OF(flat_at)(b, i, k) < a->n);
			dy[k] = OF(fetch)(a->dy, OF(flat_at)(b, i, k),
			    OF(flat_at)(b, i, k) < a->n);
		}
		EACH(k, FLAT) {
			float f[LANES], g[LANES];

			OF(unpack)(x[k], f);
			OF(unpack)(dy[k], g);
			EACH(e, LANES)
				f[e] = OF(curve_back)(f[e], g[e], what);
			OF(give)(a->to, OF(flat_at)(b, i, k),
			    OF(flat_at)(b, i, k) < a->n, f, a->accumulate);
		}
	}
}

/* A kernel: its name, its loop, and its function; a row ends with ";". */
#define POINTWISE(name, loop, what) \
	BODY OF(name)(const struct pointwise *a, struct block b) \
	{ \
		OF(loop)(a, b, what); \
	} \
	struct pointwise

POINTWISE(pass, curve, CURVE_PASS);
POINTWISE(relu, curve, CURVE_RELU);
POINTWISE(relu6, curve, CURVE_RELU6);
POINTWISE(sigmoid, curve, CURVE_SIGMOID);
POINTWISE(swish, curve, CURVE_SWISH);
POINTWISE(scale, curve, CURVE_SCALE);
POINTWISE(relu_back, slope, CURVE_RELU);
POINTWISE(relu6_back, slope, CURVE_RELU6);
POINTWISE(sigmoid_back, slope, CURVE_SIGMOID);
POINTWISE(swish_back, slope, CURVE_SWISH);

/* to[j] = sum over i < count of from[i][j], in this order, in float */
BODY
OF(add)(const struct add *a, struct block b)
{
	EACH_THREAD(i) {
		float sum[FLAT][LANES];

		EACH(k, FLAT)
			OF(unpack)(OF(fetch)(a->from[0], OF(flat_at)(b, i, k),
			    OF(flat_at)(b, i, k) < a->n), sum[k]);
		for (int j = 1; j < a->count; j++) {
			struct vector16 x[FLAT];

			EACH(k, FLAT)
				x[k] = OF(fetch)(a->from[j], OF(flat_at)(b, i,
				    k), OF(flat_at)(b, i, k) < a->n);
			EACH(k, FLAT) {
				float f[LANES];

				OF(unpack)(x[k], f);
				EACH(e, LANES)
					sum[k][e] += f[e];
			}
		}
		EACH(k, FLAT)
			OF(set)(a->to, OF(flat_at)(b, i, k),
			    OF(flat_at)(b, i, k) < a->n, sum[k]);
	}
}

/* y = (byte / 255 - mean) / sd */
INLINE float
OF(input_of)(const struct input *a, unsigned byte, unsigned c)
{
	return (float)((byte / 255.0 - a->mean[c]) / a->sd[c]);
}

/*
 * to[pixel][c] = (from[pixel][c] / 255 - mean[c]) / sd[c].  A table of all 256
 * bytes per channel saves the division in double.
 */
BODY
OF(input)(const struct input *a, struct block b)
{
	SHARED(float, table, 256 * INPUT_TABLE);
	unsigned channels = a->channels;

	EACH_THREAD(i) {
		for (unsigned c = 0; c < channels && channels <= INPUT_TABLE;
		    c++)
			table[c * 256 + (unsigned)i] = OF(input_of)(a,
			    (unsigned)i, c);
	}
	EACH_THREAD(i) {
		for (int k = 0; k < FLAT; k++) {
			size_t at = OF(flat_at)(b, i, k);
			size_t pixel = at / LANES / a->vectors;
			unsigned c0 = (unsigned)(at / LANES % a->vectors) *
			    LANES;
			float y[LANES];

			EACH(e, LANES) {
				unsigned c = c0 + (unsigned)e, byte;

				y[e] = 0;
				if (c >= channels || pixel >= a->pixels)
					continue;
				byte = a->from[pixel * channels + c];
				y[e] = channels <= INPUT_TABLE ?
				    table[c * 256 + byte] :
				    OF(input_of)(a, byte, c);
			}
			OF(set)(a->to, at, pixel < a->pixels, y);
		}
	}
}

/* to[j] = from[j] scale, from float to the storage type or back. */
BODY
OF(narrow_all)(const struct cast *a, struct block b)
{
	EACH_THREAD(i) {
		EACH(k, FLAT) {
			size_t j = ((size_t)b.x * FLAT + (size_t)k) *
			    (size_t)b.threads + (size_t)i;

			if (j < a->n)
				((S *)a->to)[j] = OF(narrow)(((const float *)
				    a->from)[j] * a->scale);
		}
	}
}

BODY
OF(widen_all)(const struct cast *a, struct block b)
{
	EACH_THREAD(i) {
		EACH(k, FLAT) {
			size_t j = ((size_t)b.x * FLAT + (size_t)k) *
			    (size_t)b.threads + (size_t)i;

			if (j < a->n)
				((float *)a->to)[j] = OF(widen)(((const S *)
				    a->from)[j]) * a->scale;
		}
	}
}
