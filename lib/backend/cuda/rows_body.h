/*
 * Reductions over rows of channels (struct rows), broadcasts to them,
 * concatenation and bias.  All are bound by memory bandwidth: adjacent threads
 * load adjacent vectors, and each thread has four loads in flight.
 */

/* to[at] = or += sum share */
INLINE void
OF(sum_leave)(void *to, size_t at, double sum, double share, int accumulate,
    int floats)
{
	float v = (float)(sum * share);
	S *one = (S *)to + at;

	if (floats)
		((float *)to)[at] = v;
	else
		*one = OF(narrow)(accumulate ? OF(widen)(*one) + v : v);
}

/*
 * part[group][part][column], or to[group][channel], = sum over the rows m of
 * the block of x, or of x y.
 */
INLINE void
OF(sums_of)(const struct sums *a, struct block b, double *sum,
    const int width)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, width);
		double s[LANES];

		UNROLL
		for (int e = 0; e < width; e++)
			s[e] = 0;
		for (unsigned m = w.first; m < w.last;
		    m += ROWS * w.lanes) {
			struct words x[ROWS], y[ROWS];
			float four[LANES];

			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = walk_row(r, w.group, row) + w.col,
				    n = row < w.last ? r->n : 0;

				x[k] = OF(fetch)(a->x, at, n, width);
				y[k] = OF(fetch)(a->y != NULL ? a->y : a->x, at,
				    a->y != NULL ? n : 0, width);
			}
			UNROLL
			for (int e = 0; e < width; e++)
				four[e] = 0;
			UNROLL
			for (int k = 0; k < ROWS; k++) {
				float f[LANES], g[LANES];

				OF(unpack)(x[k], f);
				OF(unpack)(y[k], g);
				UNROLL
				for (int e = 0; e < width; e++)
					four[e] += a->y != NULL ? f[e] * g[e] :
					    f[e];
			}
			UNROLL
			for (int e = 0; e < width; e++)
				s[e] += four[e];
		}
		UNROLL
		for (int e = 0; e < width; e++)
			sum[e * b.threads + i] = s[e];
	}
	walk_fold(sum, r, b, width);
	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, width);

		for (int e = 0; e < width && i < r->across && w.there; e++) {
			double s = sum[e * b.threads + i];

			if (a->part != NULL)
				a->part[((size_t)w.group * r->parts + w.part) *
				    r->c + w.col + (size_t)e] = s;
			else
				OF(sum_leave)(a->to, (size_t)w.group * r->c +
				    w.col + (size_t)e, s, a->share,
				    a->accumulate, a->floats);
		}
	}
}

/*
 * sum over m of x[g][m][c], or of x y.  Four rows are added in float, their
 * sums in double.
 */
BODY
OF(sums)(const struct sums *a, struct block b)
{
	SHARED(double, sum, LANES * THREADS);

	if (a->rows.single)
		OF(sums_of)(a, b, sum, 1);
	else
		OF(sums_of)(a, b, sum, LANES);
}

/*
 * to[g][c] = or += share times the sum over k of part[g][k][c].  A block has 8
 * channels, and 32 threads add the entries of each.
 */
BODY
OF(total)(const struct total *a, struct block b)
{
	SHARED(double, sum, THREADS);
	size_t group = b.x / a->tiles;
	unsigned first = b.x % a->tiles * 8;

	EACH_THREAD(i) {
		unsigned c = first + (unsigned)i % 8;
		double s = 0;

		for (unsigned k = (unsigned)i / 8; k < a->entries &&
		    c < a->period; k += 32)
			s += a->part[(group * a->entries + k) * a->period + c];
		sum[i] = s;
	}
	for (int half = 128; half >= 8; half /= 2)
		EACH_THREAD(i) {
			if (i < half)
				sum[i] += sum[i + half];
		}
	EACH_THREAD(i) {
		if (i < 8 && first + (unsigned)i < a->period)
			OF(sum_leave)(a->to, group * a->period + first +
			    (unsigned)i, sum[i], a->share, a->accumulate,
			    a->floats);
	}
}

/* to[g][m][c] = or += share from[g][m][c] by[g][c]; from NULL: 1 */
INLINE void
OF(broadcast_of)(const struct broadcast *a, struct block b, const int width)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, width);
		float by[LANES];
		unsigned c = w.channel;

		UNROLL
		for (int e = 0; e < width; e++) {
			by[e] = w.there ? a->share * OF(widen)(((const S *)
			    a->by)[(size_t)w.group * r->period + c]) : 0;
			c = walk_next(r, c);
		}
		for (unsigned m = w.first; m < w.last;
		    m += ROWS * w.lanes) {
			struct words x[ROWS];

			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;

				x[k] = OF(fetch)(a->from != NULL ? a->from :
				    a->to, walk_row(r, w.group, row) + w.col,
				    a->from != NULL && row < w.last ? r->n : 0,
				    width);
			}
			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;
				float f[LANES];

				OF(unpack)(x[k], f);
				UNROLL
				for (int e = 0; e < width; e++)
					f[e] = a->from != NULL ? f[e] * by[e] :
					    by[e];
				OF(give)(a->to, walk_row(r, w.group, row) +
				    w.col, row < w.last ? r->n : 0, f,
				    a->accumulate, width);
			}
		}
	}
}

BODY
OF(broadcast)(const struct broadcast *a, struct block b)
{
	if (a->rows.single)
		OF(broadcast_of)(a, b, 1);
	else
		OF(broadcast_of)(a, b, LANES);
}

/* whole[m][first[j] + c] = part[j][m][c]; ${back}: the other way, = or += */
INLINE void
OF(concat_of)(const struct concat *a, struct block b, const int width)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, width);
		int j = 0;
		size_t few;
		S *part;

		while (j + 1 < a->count && w.col >= a->first[j + 1])
			j++;
		few = a->first[j + 1] - a->first[j];
		part = (S *)a->part[j];
		for (unsigned m = w.first; m < w.last && part != NULL;
		    m += ROWS * w.lanes) {
			struct words x[ROWS];

			UNROLL
			for (int k = 0; k < ROWS; k++) {
				size_t row = m + (unsigned)k * w.lanes;

				x[k] = OF(fetch)(a->back ? (S *)a->whole : part,
				    a->back ? row * r->c + w.col : row * few +
				    w.col - a->first[j], row < w.last ?
				    SIZE_MAX : 0, width);
			}
			UNROLL
			for (int k = 0; k < ROWS; k++) {
				size_t row = m + (unsigned)k * w.lanes;
				float f[LANES];

				OF(unpack)(x[k], f);
				OF(give)(a->back ? part : (S *)a->whole,
				    a->back ? row * few + w.col - a->first[j] :
				    row * r->c + w.col, row < w.last ?
				    SIZE_MAX : 0, f, a->back &&
				    a->accumulate[j], width);
			}
		}
	}
}

BODY
OF(concat)(const struct concat *a, struct block b)
{
	if (a->rows.single)
		OF(concat_of)(a, b, 1);
	else
		OF(concat_of)(a, b, LANES);
}

/* to[m][c] = from[m][c] + bias[c] */
BODY
OF(bias)(const struct bias *a, struct block b)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, LANES);
		float by[LANES];
		unsigned c = w.channel;

		UNROLL
		for (int e = 0; e < LANES; e++) {
			by[e] = w.there ? a->bias[c] : 0;
			c = walk_next(r, c);
		}
		for (unsigned m = w.first; m < w.last;
		    m += ROWS * w.lanes) {
			struct words x[ROWS];

			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;

				x[k] = OF(fetch)(a->from, walk_row(r, 0, row) +
				    w.col, row < w.last ? r->n : 0, LANES);
			}
			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;
				float f[LANES];

				OF(unpack)(x[k], f);
				UNROLL
				for (int e = 0; e < LANES; e++)
					f[e] += by[e];
				OF(set)(a->to, walk_row(r, 0, row) + w.col,
				    row < w.last ? r->n : 0, f, LANES);
			}
		}
	}
}
