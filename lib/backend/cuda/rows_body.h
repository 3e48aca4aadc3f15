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
 * part[group][part][c], or to[group][c], = sum over the rows m of the block of
 * x[g][m][c], or of x y.  Four rows are added in float, their sums in double.
 */
BODY
OF(sums)(const struct row_sums *a, struct block b)
{
	SHARED(double, sum, LANES * THREADS);
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);
		double s[LANES];

		EACH(e, LANES)
			s[e] = 0;
		for (unsigned m = w.first; m < w.last;
		    m += ROWS * w.lanes) {
			struct vector16 x[ROWS], y[ROWS];
			float four[LANES];

			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = walk_row(r, w.group, row) + w.col;

				x[k] = OF(fetch)(a->x, at, row < w.last);
				y[k] = OF(fetch)(a->y, at, a->y != NULL &&
				    row < w.last);
			}
			EACH(e, LANES)
				four[e] = 0;
			EACH(k, ROWS) {
				float f[LANES], g[LANES];

				OF(unpack)(x[k], f);
				OF(unpack)(y[k], g);
				EACH(e, LANES)
					four[e] += a->y != NULL ? f[e] * g[e] :
					    f[e];
			}
			EACH(e, LANES)
				s[e] += four[e];
		}
		EACH(e, LANES)
			sum[e * b.threads + i] = s[e];
	}
	walk_fold(sum, r, b, LANES);
	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);

		for (int e = 0; e < LANES && i < r->across && w.there; e++) {
			double s = sum[e * b.threads + i];

			if (a->part != NULL)
				a->part[((size_t)w.group * r->parts + w.part) *
				    r->c + w.col + (unsigned)e] = s;
			else
				OF(sum_leave)(a->to, (size_t)w.group * r->c +
				    w.col + (unsigned)e, s, a->share,
				    a->accumulate, a->floats);
		}
	}
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
BODY
OF(broadcast)(const struct broadcast *a, struct block b)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);
		float by[LANES];

		OF(unpack)(OF(fetch)(a->by, (size_t)w.group * r->c + w.col,
		    w.there), by);
		EACH(e, LANES)
			by[e] *= a->share;
		for (unsigned m = w.first; m < w.last;
		    m += ROWS * w.lanes) {
			struct vector16 x[ROWS];

			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;

				x[k] = OF(fetch)(a->from, walk_row(r, w.group,
				    row) + w.col, a->from != NULL &&
				    row < w.last);
			}
			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;
				float f[LANES];

				OF(unpack)(x[k], f);
				EACH(e, LANES)
					f[e] = a->from != NULL ? f[e] * by[e] :
					    by[e];
				OF(give)(a->to, walk_row(r, w.group, row) +
				    w.col, row < w.last, f, a->accumulate);
			}
		}
	}
}

/*
 * Load channels ${c} to ${c} + LANES - 1 of row ${row}, one by one, because
 * they are of several inputs or do not begin at a vector.
 */
INLINE void
OF(concat_gather)(const struct concat *a, size_t row, unsigned c, float *f)
{
	int j = 0;

	ROLL
	for (int e = 0; e < LANES; e++) {
		unsigned at = c + (unsigned)e;

		while (j < a->count && at >= a->first[j + 1])
			j++;
		f[e] = j == a->count ? 0 : OF(widen)(((const S *)a->from[j])[
		    row * a->pitch[j] + at - a->first[j] + a->skip]);
	}
}

/* to[m][c] = or += from[j][m][c - first[j] + skip]; 0 behind the last input */
BODY
OF(concat)(const struct concat *a, struct block b)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);
		unsigned at;
		int j = 0, whole;

		while (j + 1 < a->count && w.col >= a->first[j + 1])
			j++;
		at = w.col - a->first[j] + a->skip;
		whole = at % LANES == 0 && w.col + LANES <= a->first[j + 1];
		for (unsigned m = w.first; m < w.last;
		    m += ROWS * w.lanes) {
			struct vector16 x[ROWS];

			EACH(k, ROWS) {
				size_t row = m + (unsigned)k * w.lanes;

				x[k] = OF(fetch)(a->from[j], row * a->pitch[j] +
				    at, whole && row < w.last);
			}
			EACH(k, ROWS) {
				size_t row = m + (unsigned)k * w.lanes;
				float f[LANES];

				OF(unpack)(x[k], f);
				if (!whole && row < w.last)
					OF(concat_gather)(a, row, w.col, f);
				OF(give)(a->to, row * r->c + w.col,
				    row < w.last, f, a->accumulate);
			}
		}
	}
}

/* x[m][c] += bias[c] */
BODY
OF(bias)(const struct bias *a, struct block b)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);
		float by[LANES];

		EACH(e, LANES)
			by[e] = w.there ? a->bias[w.col + (unsigned)e] : 0;
		for (unsigned m = w.first; m < w.last;
		    m += ROWS * w.lanes) {
			struct vector16 x[ROWS];

			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;

				x[k] = OF(fetch)(a->x, walk_row(r, 0, row) +
				    w.col, row < w.last);
			}
			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;
				float f[LANES];

				OF(unpack)(x[k], f);
				EACH(e, LANES)
					f[e] += by[e];
				OF(set)(a->x, walk_row(r, 0, row) + w.col,
				    row < w.last, f);
			}
		}
	}
}
