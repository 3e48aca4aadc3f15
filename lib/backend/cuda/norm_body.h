/*
 * Batch normalisation, with what may be fused with it: an addition, a relu.
 * What it is stands in ref/norm.real.c.
 *
 * Bound by the bandwidth of memory: forward x is read twice and y written once,
 * backward dy and x are read twice and dx written once.  The sums are floats over
 * NORM_ROWS rows and doubles from there on: conversions to double are slow, and
 * so there is one for four numbers that are read, or for eight.
 */

/* Where the relu was open, which it is for NaN, dy; elsewhere 0.  ${x}: less the
 * mean. */
INLINE float
OF(norm_open)(float dy, float x, float factor, float offset, unsigned bit,
    int shut)
{
	if (shut == SHUT_X)
		return fmaf(x, factor, offset) <= 0 ? 0 : dy;
	return shut == SHUT_NEVER || bit ? dy : 0;
}

/* What of the gradient of vector (${row}, ${col}) comes through a shift. */
INLINE struct words
OF(norm_moved)(const struct rows *r, const struct moved *s, const void *dy,
    unsigned row, size_t n, size_t col, int by)
{
	int stays = 1;
	unsigned to = n > 0 ? moved_row(s, row, by, &stays) : 0;

	return OF(fetch)(dy, walk_row(r, 0, to) + col, stays ? n : 0, LANES);
}

/* ${moves}: some of dy comes through a shift. */
INLINE void
OF(norm_sums_of)(const struct norm_sums *a, struct block b, double *sum,
    const int back, const int moves)
{
	const struct rows *r = &a->rows;
	const int given = back && (!moves || a->dy != NULL);

	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, LANES);
		double s[LANES], q[LANES];
		float mean[LANES], factor[LANES], offset[LANES];
		unsigned c = w.channel;
		int by = moves ? moved_by(&a->moved, c) : 0;

		UNROLL
		for (int e = 0; e < LANES; e++) {
			s[e] = q[e] = 0;
			mean[e] = back ? a->mean[c] :
			    OF(widen)(((const S *)a->x)[c]);
			factor[e] = offset[e] = 0;
			if (back && a->shut == SHUT_X) {
				factor[e] = a->rstd[c] * a->scale[c];
				offset[e] = a->offset[c];
			}
			c = walk_next(r, c);
		}
		for (unsigned m = w.first; m < w.last; m += NORM_ROWS * w.lanes) {
			float fs[LANES], fq[LANES];

			UNROLL
			for (int e = 0; e < LANES; e++)
				fs[e] = fq[e] = 0;
			for (int k0 = 0; k0 < NORM_ROWS; k0 += ROWS) {
				struct words x[ROWS], dy[ROWS], more[ROWS];
				unsigned bits[ROWS];

				UNROLL
				for (int k = 0; k < ROWS; k++) {
					unsigned row = m + (unsigned)(k0 + k) *
					    w.lanes;
					size_t at = walk_row(r, 0, row) + w.col,
					    n = row < w.last ? r->n : 0;

					x[k] = OF(fetch)(a->x, at, n, LANES);
					dy[k] = OF(fetch)(given ? a->dy : a->x,
					    at, given ? n : 0, LANES);
					if (moves)
						more[k] = OF(norm_moved)(r,
						    &a->moved, a->dy_moved, row,
						    n, w.col, by);
					bits[k] = back && a->shut == SHUT_MASK &&
					    at < n ? a->mask[at / LANES] : 0;
				}
				UNROLL
				for (int k = 0; k < ROWS; k++) {
					unsigned row = m + (unsigned)(k0 + k) *
					    w.lanes;
					size_t at = walk_row(r, 0, row) + w.col,
					    n = row < w.last ? r->n : 0;
					float f[LANES], h[LANES], v[LANES];

					OF(unpack)(x[k], f);
					OF(unpack)(dy[k], h);
					if (moves)
						OF(unpack)(more[k], v);
					UNROLL
					for (int e = 0; e < LANES && moves; e++)
						h[e] += v[e];
					UNROLL
					for (int e = 0; e < LANES; e++) {
						float d = at + (size_t)e < n ?
						    f[e] - mean[e] : 0;
						float g = back ? OF(norm_open)(
						    h[e], d, factor[e],
						    offset[e], bits[k] >> e & 1,
						    a->shut) : d;

						fs[e] += g;
						fq[e] = fmaf(g, d, fq[e]);
					}
				}
			}
			UNROLL
			for (int e = 0; e < LANES; e++) {
				s[e] += fs[e];
				q[e] += fq[e];
			}
		}
		UNROLL
		for (int e = 0; e < LANES; e++) {
			sum[e * b.threads + i] = s[e];
			sum[(LANES + e) * b.threads + i] = q[e];
		}
	}
	walk_fold(sum, r, b, 2 * LANES);
	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, LANES);
		double *to = a->part + (size_t)w.part * 2 * r->c + w.col;

		for (int e = 0; e < LANES && i < r->across && w.there; e++) {
			to[e] = sum[e * b.threads + i];
			to[r->c + (size_t)e] = sum[(LANES + e) * b.threads + i];
		}
	}
}

BODY
OF(norm_sums)(const struct norm_sums *a, struct block b)
{
	SHARED(double, sum, 2 * LANES * THREADS);

	OF(norm_sums_of)(a, b, sum, 0, 0);
}

BODY
OF(norm_sums_back)(const struct norm_sums *a, struct block b)
{
	SHARED(double, sum, 2 * LANES * THREADS);

	if (a->dy_moved != NULL)
		OF(norm_sums_of)(a, b, sum, 1, 1);
	else
		OF(norm_sums_of)(a, b, sum, 1, 0);
}

/*
 * The two sums of 8 channels, [parts][2][folds][period], a block; thread i < 8
 * then has them at sum[i] and sum[THREADS + i].
 */
INLINE void
OF(norm_gather)(const double *part, unsigned parts, unsigned folds,
    unsigned period, struct block b, double *sum)
{
	EACH_THREAD(i) {
		unsigned c = b.x * 8 + (unsigned)i % 8;
		double s = 0, q = 0;

		for (unsigned k = (unsigned)i / 8; k < parts * folds &&
		    c < period; k += 32) {
			const double *p = part + ((size_t)(k / folds) * 2 *
			    folds + k % folds) * period + c;

			s += p[0];
			q += p[(size_t)folds * period];
		}
		sum[i] = s;
		sum[THREADS + i] = q;
	}
	for (int half = 128; half >= 8; half /= 2)
		EACH_THREAD(i) {
			if (i < half) {
				sum[i] += sum[i + half];
				sum[THREADS + i] += sum[THREADS + i + half];
			}
		}
}

/* As peers_tell and peers_hear of peers.h. */
BODY
OF(norm_finish)(const struct norm_finish *a, struct block b)
{
	SHARED(double, sum, 2 * THREADS);

	if (!a->hears && a->sums == NULL)
		OF(norm_gather)(a->part, a->parts, a->folds, a->period, b, sum);
	EACH_THREAD(i) {
		unsigned c = b.x * 8 + (unsigned)i, C = a->period;
		double mean, m2, d;

		if (i >= 8 || c >= C)
			continue;
		if (a->hears) {
			mean = a->told[c] / a->all;
			m2 = a->told[C + c] - a->all * mean * mean;
		} else if (a->sums != NULL) {
			mean = a->sums[c] / a->count;
			m2 = a->sums[C + c] - a->sums[c] * mean;
		} else {
			d = sum[i] / a->count;
			mean = OF(widen)(((const S *)a->x)[c]) + d;
			m2 = sum[THREADS + i] - sum[i] * d;
		}
		m2 = m2 < 0 ? 0 : m2;	/* by a rounding; NaN stays */
		if (a->told != NULL && !a->hears) {
			a->told[c] = a->count * mean;
			a->told[C + c] = m2 + a->count * mean * mean;
			continue;
		}
		a->mean[c] = (float)mean;
		a->rstd[c] = (float)(1 / sqrt(m2 / a->all + a->eps));
		a->to_mean[c] = (float)mean;
		a->to_var[c] = (float)(m2 / (a->all > 1 ? a->all - 1 : 1));
		d = mean - (a->to_between != NULL ? a->running[c] : 0);
		if (a->to_between != NULL)
			a->to_between[c] = (float)(d * d);
		if (a->factors != NULL) {
			S *factor = (S *)a->factors;

			d = (double)a->rstd[c] * a->scale[c];
			factor[c] = OF(narrow)((float)d);
			factor[C + c] = OF(narrow)((float)(a->offset[c] -
			    mean * d));
		}
	}
}

BODY
OF(norm_running)(const struct norm_running *a, struct block b)
{
	EACH_THREAD(i) {
		unsigned c = b.x * (unsigned)b.threads + (unsigned)i;

		if (c >= a->period)
			continue;
		a->mean[c] = a->mean_in[c];
		a->rstd[c] = (float)(1 / sqrt(a->var_in[c] + a->eps));
		if (a->to_mean != NULL) {
			a->to_mean[c] = a->mean_in[c];
			a->to_var[c] = a->var_in[c];
		}
	}
}

/* Vector (${row}, ${col}) of y to where a shift moves it; what nothing is moved to
 * becomes 0. */
INLINE void
OF(norm_move)(const struct norm_apply *a, unsigned row, size_t col, unsigned c,
    const float *f)
{
	int stays;
	unsigned to = moved_row(&a->moved, row, moved_by(&a->moved, c), &stays);
	float y[LANES];

	UNROLL
	for (int e = 0; e < LANES; e++)
		y[e] = stays ? f[e] : 0;
	OF(set)(a->y_moved, walk_row(&a->rows, 0, to) + col, a->rows.n, y,
	    LANES);
}

BODY
OF(norm_apply)(const struct norm_apply *a, struct block b)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, LANES);
		float mean[LANES], factor[LANES], offset[LANES];
		unsigned c = w.channel;

		UNROLL
		for (int e = 0; e < LANES; e++) {
			mean[e] = a->mean[c];
			factor[e] = a->rstd[c] * a->scale[c];
			offset[e] = a->offset[c];
			c = walk_next(r, c);
		}
		for (unsigned m = w.first; m < w.last; m += ROWS * w.lanes) {
			struct words x[ROWS], res[ROWS];

			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = walk_row(r, 0, row) + w.col,
				    n = row < w.last ? r->n : 0;

				x[k] = OF(fetch)(a->x, at, n, LANES);
				res[k] = OF(fetch)(a->res != NULL ? a->res :
				    a->x, at, a->res != NULL ? n : 0, LANES);
			}
			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = walk_row(r, 0, row) + w.col,
				    n = row < w.last ? r->n : 0;
				unsigned bits = 0;
				float f[LANES], g[LANES];

				OF(unpack)(x[k], f);
				OF(unpack)(res[k], g);
				UNROLL
				for (int e = 0; e < LANES; e++) {
					float y = fmaf(f[e] - mean[e],
					    factor[e], offset[e]);

					if (a->res != NULL)
						y += g[e];
					if (a->relu)
						y = y <= 0 ? 0 : y;
					bits |= (unsigned)!(y <= 0) << e;
					f[e] = y;
				}
				if (a->y != NULL)
					OF(set)(a->y, at, n, f, LANES);
				if (a->y_moved != NULL && n > 0)
					OF(norm_move)(a, row, w.col, w.channel,
					    f);
				if (a->mask != NULL && at < n)
					a->mask[at / LANES] = (uint8_t)bits;
			}
		}
	}
}

BODY
OF(norm_finish_back)(const struct norm_finish_back *a, struct block b)
{
	SHARED(double, sum, 2 * THREADS);

	if (!a->hears && a->sums == NULL)
		OF(norm_gather)(a->part, a->parts, a->folds, a->period, b, sum);
	EACH_THREAD(i) {
		unsigned c = b.x * 8 + (unsigned)i, C = a->period;
		double ds, db, k;

		if (i >= 8 || c >= C)
			continue;
		if (a->hears) {
			ds = a->told[c];
			db = a->told[C + c];
		} else {
			ds = a->sums != NULL ? a->sums[c] :
			    sum[THREADS + i] * a->rstd[c];
			db = a->sums != NULL ? a->sums[C + c] : sum[i];
			a->dscale[c] = (float)ds;
			a->doffset[c] = (float)db;
		}
		if (a->told != NULL && !a->hears) {
			a->told[c] = ds;
			a->told[C + c] = db;
			continue;
		}
		if (a->k == NULL)
			continue;
		k = (double)a->scale[c] * a->rstd[c];
		a->k[c] = (float)k;
		a->k[C + c] = (float)(-k * a->rstd[c] * ds / a->all);
		a->k[2 * C + c] = (float)(-k * db / a->all);
	}
}

INLINE void
OF(norm_apply_back_of)(const struct norm_apply_back *a, struct block b,
    const int moves)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct walk w = walk_of(r, b, i, LANES);
		float mean[LANES], factor[LANES], offset[LANES];
		float k0[LANES], k1[LANES], k2[LANES];
		unsigned c = w.channel;
		int reads = a->k != NULL || a->shut == SHUT_X;
		int given = !moves || a->dy != NULL;
		int by = moves ? moved_by(&a->moved, c) : 0;

		UNROLL
		for (int e = 0; e < LANES; e++) {
			factor[e] = a->rstd[c] * a->scale[c];
			mean[e] = a->mean[c];
			offset[e] = a->shut == SHUT_X ? a->offset[c] : 0;
			k0[e] = a->k != NULL ? a->k[c] : factor[e];
			k1[e] = a->k != NULL ? a->k[r->period + c] : 0;
			k2[e] = a->k != NULL ? a->k[2 * r->period + c] : 0;
			c = walk_next(r, c);
		}
		for (unsigned m = w.first; m < w.last; m += ROWS * w.lanes) {
			struct words x[ROWS], dy[ROWS], more[ROWS];
			unsigned bits[ROWS];

			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = walk_row(r, 0, row) + w.col,
				    n = row < w.last ? r->n : 0;

				dy[k] = OF(fetch)(given ? a->dy : a->mean, at,
				    given ? n : 0, LANES);
				if (moves)
					more[k] = OF(norm_moved)(r, &a->moved,
					    a->dy_moved, row, n, w.col, by);
				x[k] = OF(fetch)(reads ? a->x : a->mean, at,
				    reads ? n : 0, LANES);
				bits[k] = a->shut == SHUT_MASK && at < n ?
				    a->mask[at / LANES] : 0;
			}
			UNROLL
			for (int k = 0; k < ROWS; k++) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = walk_row(r, 0, row) + w.col,
				    n = row < w.last ? r->n : 0;
				float f[LANES], h[LANES], v[LANES];

				OF(unpack)(x[k], f);
				OF(unpack)(dy[k], h);
				if (moves)
					OF(unpack)(more[k], v);
				UNROLL
				for (int e = 0; e < LANES && moves; e++)
					h[e] += v[e];
				UNROLL
				for (int e = 0; e < LANES; e++) {
					float d = f[e] - mean[e];
					float g = OF(norm_open)(h[e], d,
					    factor[e], offset[e],
					    bits[k] >> e & 1, a->shut);

					h[e] = g;
					f[e] = a->k != NULL ? fmaf(k0[e], g,
					    fmaf(k1[e], d, k2[e])) : k0[e] * g;
				}
				/* The shortcut's first: it may be the same as
				 * dx, which then is added to it. */
				if (a->dres != NULL)
					OF(give)(a->dres, at, n, h,
					    a->accumulate_res, LANES);
				if (a->dx != NULL)
					OF(give)(a->dx, at, n, f,
					    a->accumulate, LANES);
			}
		}
	}
}

BODY
OF(norm_apply_back)(const struct norm_apply_back *a, struct block b)
{
	if (a->dy_moved != NULL)
		OF(norm_apply_back_of)(a, b, 1);
	else
		OF(norm_apply_back_of)(a, b, 0);
}
