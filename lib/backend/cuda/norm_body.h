/*
 * Batch normalization, optionally fused with a residual addition, a relu and a
 * temporal shift.  ref/norm.real.c defines the operator; args.h has the
 * formulas with the arguments.
 *
 *	forward		y = relu((x - mean) rstd scale + offset + res)
 *			mean = sum x / n, rstd = 1 / sqrt(var + eps)
 *	backward	g = dy where the relu was open, else 0
 *			doffset = sum g, dscale = rstd sum g (x - mean)
 *			dx = scale rstd (g - doffset / n -
 *			    (x - mean) rstd dscale / n), dres = g
 *
 * The kernels are bound by memory bandwidth: forward reads x twice and writes y
 * once; backward reads dy and x twice and writes dx once.  A thread sums
 * NORM_ROWS rows in float and adds the result to a double.  Conversions to
 * double are slow, and this way one conversion serves eight elements.
 */

/*
 * Return g: dy where the relu was open, else 0.  A NaN input counts as open.
 * ${x} is the input minus the mean.
 */
INLINE float
OF(norm_open)(float dy, float x, float factor, float offset, unsigned bit,
    int shut)
{
	if (shut == SHUT_X)
		return fmaf(x, factor, offset) <= 0 ? 0 : dy;
	return shut == SHUT_NEVER || bit ? dy : 0;
}

/* Return the index of the thread's first value in row ${row}. */
INLINE size_t
OF(norm_at)(const struct rows *r, const struct thread_rows *w, unsigned row)
{
	return (size_t)row * r->c + w->col;
}

/* f[e] = from[channel e of this thread]. */
INLINE void
OF(norm_channels)(const struct thread_rows *w, const float *from, float *f)
{
	UNROLL
	for (int e = 0; e < LANES; e += 4)
		unpack_f32(vector16_load(from + w->col + e), f + e);
}

/* factor[e] *= scale[e] and to[e] = offset[e], for channel e of this thread. */
INLINE void
OF(norm_factors)(const struct thread_rows *w, const float *scale,
    const float *offset, float *factor, float *to)
{
	float by[LANES];

	OF(norm_channels)(w, scale, by);
	OF(norm_channels)(w, offset, to);
	EACH(e, LANES)
		factor[e] *= by[e];
}

/* Read the vector of dy that belongs to row ${row} through a shift, or zeros if
 * the shift moved nothing there. */
INLINE struct vector16
OF(norm_moved)(const struct rows *r, const struct thread_rows *w,
    const struct moved *s, const void *dy, unsigned row, int by)
{
	int there = row < w->last, stays = 1;
	unsigned to = there ? walk_moved_row(s, row, by, &stays) : 0;

	return OF(fetch)(dy, OF(norm_at)(r, w, to), there && stays);
}

/*
 * Partial sums of a block over its rows m, per column:
 *
 *	forward		s = sum d, q = sum d^2, d = x - pivot
 *	backward	s = sum g, q = sum g (x - mean)
 *
 * ${back}: backward.  ${shut}: SHUT_*.  ${moves}: add the gradient dy_moved,
 * which comes through a shift.  ${sum} is shared memory for 2 LANES THREADS
 * doubles.
 */
INLINE void
OF(norm_sums_of)(const struct norm_sums *a, struct block b, double *sum,
    const int back, const int shut, const int moves)
{
	const struct rows *r = &a->rows;
	const int given = back && (!moves || a->dy != NULL);

	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);
		double s[LANES], q[LANES];
		float mean[LANES], factor[LANES], offset[LANES];
		int by = moves ? walk_moved_by(&a->moved, w.col) : 0;

		EACH(e, LANES)
			s[e] = q[e] = factor[e] = offset[e] = 0;
		if (back)
			OF(norm_channels)(&w, a->mean, mean);
		else
			OF(unpack)(vector16_load((const S *)a->x + w.col),
			    mean);
		if (back && shut == SHUT_X) {
			OF(norm_channels)(&w, a->rstd, factor);
			OF(norm_factors)(&w, a->scale, a->offset, factor,
			    offset);
		}
		for (unsigned m = w.first; m < w.last;
		    m += NORM_ROWS * w.lanes) {
			float fs[LANES], fq[LANES];

			EACH(e, LANES)
				fs[e] = fq[e] = 0;
			ROLL
			for (int k0 = 0; k0 < NORM_ROWS; k0 += ROWS) {
				struct vector16 x[ROWS], dy[ROWS], more[ROWS];
				unsigned bits[ROWS];

				EACH(k, ROWS) {
					unsigned row = m + (unsigned)(k0 + k) *
					    w.lanes;
					size_t at = OF(norm_at)(r, &w, row);
					int there = row < w.last;

					x[k] = OF(fetch)(a->x, at, there);
					dy[k] = OF(fetch)(a->dy, at, given &&
					    there);
					if (moves)
						more[k] = OF(norm_moved)(r, &w,
						    &a->moved, a->dy_moved, row,
						    by);
					bits[k] = back && shut == SHUT_MASK &&
					    there ? a->mask[at / LANES] : 0;
				}
				EACH(k, ROWS) {
					float f[LANES], h[LANES], v[LANES];

					if (m + (unsigned)(k0 + k) * w.lanes >=
					    w.last)
						break;
					OF(unpack)(x[k], f);
					OF(unpack)(dy[k], h);
					if (moves)
						OF(unpack)(more[k], v);
					EACH(e, moves ? LANES : 0)
						h[e] += v[e];
					EACH(e, LANES) {
						float d = f[e] - mean[e];
						float g = back ? OF(norm_open)(
						    h[e], d, factor[e],
						    offset[e], bits[k] >> e & 1,
						    shut) : d;

						fs[e] += g;
						fq[e] = fmaf(g, d, fq[e]);
					}
				}
			}
			EACH(e, LANES) {
				s[e] += fs[e];
				q[e] += fq[e];
			}
		}
		EACH(e, LANES) {
			sum[e * b.threads + i] = s[e];
			sum[(LANES + e) * b.threads + i] = q[e];
		}
	}
	walk_fold(sum, r, b, 2 * LANES);
	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);
		double *to = a->part + (size_t)w.part * 2 * r->c + w.col;

		for (int e = 0; e < LANES && i < r->across && w.there; e++) {
			to[e] = sum[e * b.threads + i];
			to[r->c + (size_t)e] = sum[(LANES + e) * b.threads + i];
		}
	}
}

#define NORM_SUMS(name, back, shut, moves) \
BODY \
OF(name)(const struct norm_sums *a, struct block b) \
{ \
	SHARED(double, sum, 2 * LANES * THREADS); \
\
	OF(norm_sums_of)(a, b, sum, back, shut, moves); \
}
#define NORM_SUMS_BACK(name, shut, moves)	NORM_SUMS(name, 1, shut, moves)

/* The variants of a kernel of the backward pass: by shift, and by SHUT_*. */
#define NORM_VARIANTS(VARIANT, name) \
VARIANT(name ## _never, SHUT_NEVER, 0) \
VARIANT(name ## _x, SHUT_X, 0) \
VARIANT(name ## _mask, SHUT_MASK, 0) \
VARIANT(name ## _moved_never, SHUT_NEVER, 1) \
VARIANT(name ## _moved_x, SHUT_X, 1) \
VARIANT(name ## _moved_mask, SHUT_MASK, 1)

/* Forward: sum d and sum d^2.  Backward: sum g and sum g (x - mean). */
NORM_SUMS(norm_sums, 0, SHUT_NEVER, 0)
NORM_VARIANTS(NORM_SUMS_BACK, norm_sums_back)

/*
 * Add up the partial sums [parts][2][c] of the block's 8 channels, 32 threads
 * per channel.  Thread i < 8 then finds the two sums of its channel at sum[i]
 * and sum[THREADS + i].
 */
INLINE void
OF(norm_gather)(const double *part, unsigned parts, unsigned all,
    struct block b, double *sum)
{
	EACH_THREAD(i) {
		unsigned c = b.x * 8 + (unsigned)i % 8;
		double s = 0, q = 0;

		for (unsigned k = (unsigned)i / 8; k < parts; k += 32) {
			s += part[(size_t)k * 2 * all + c];
			q += part[((size_t)k * 2 + 1) * all + c];
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

/*
 * Statistics of a channel from its sums:
 *
 *	mean = pivot + sum d / n,  m2 = sum d^2 - (sum d)^2 / n
 *
 * mean and rstd are for this step; to_mean, the unbiased variance to_var and
 * to_between = (mean - running mean)^2 are for the running statistics.
 * ${packed} has the format of backend/peers.h: n mean, and m2 + n mean^2.
 * Eight channels per block.
 */
BODY
OF(norm_finish)(const struct norm_finish *a, struct block b)
{
	SHARED(double, sum, 2 * THREADS);

	if (!a->unpacks)
		OF(norm_gather)(a->part, a->parts, a->c, b, sum);
	EACH_THREAD(i) {
		unsigned c = b.x * 8 + (unsigned)i, C = a->channels;
		double mean = 0, m2 = 0, d;

		if (i >= 8)
			continue;
		if (a->unpacks && c < C) {
			mean = a->packed[c] / a->all;
			m2 = a->packed[C + c] - a->all * mean * mean;
		} else if (a->unpacks) {
			/* padding */
		} else {
			d = sum[i] / a->count;
			mean = OF(widen)(((const S *)a->x)[c]) + d;
			m2 = sum[THREADS + i] - sum[i] * d;
		}
		m2 = m2 < 0 ? 0 : m2;
		if (a->packed != NULL && !a->unpacks && c < C) {
			a->packed[c] = a->count * mean;
			a->packed[C + c] = m2 + a->count * mean * mean;
		}
		if (a->packed != NULL && !a->unpacks)
			continue;
		d = mean - (a->to_between != NULL ? a->running[c] : 0);
		a->mean[c] = (float)mean;
		a->rstd[c] = (float)(1 / sqrt(m2 / a->all + a->eps));
		a->to_mean[c] = (float)mean;
		a->to_var[c] = (float)(m2 / (a->all > 1 ? a->all - 1 : 1));
		if (a->to_between != NULL)
			a->to_between[c] = (float)(d * d);
	}
}

/*
 * mean = running mean, rstd = 1 / sqrt(running var + eps).  One channel per
 * thread.
 */
BODY
OF(norm_running)(const struct norm_running *a, struct block b)
{
	EACH_THREAD(i) {
		unsigned c = b.x * (unsigned)b.threads + (unsigned)i;

		if (c >= a->c)
			continue;
		a->mean[c] = a->mean_in[c];
		a->rstd[c] = (float)(1 / sqrt(a->var_in[c] + a->eps));
		if (a->to_mean != NULL) {
			a->to_mean[c] = a->mean_in[c];
			a->to_var[c] = a->var_in[c];
		}
	}
}

/* Store a vector of row ${row} of y in the row to which the shift moves it.
 * Store zeros in rows that the shift leaves empty. */
INLINE void
OF(norm_move)(const struct norm_apply *a, const struct thread_rows *w,
    unsigned row, const float *f)
{
	int stays;
	unsigned to = walk_moved_row(&a->moved, row, walk_moved_by(&a->moved,
	    w->col), &stays);
	float y[LANES];

	EACH(e, LANES)
		y[e] = stays ? f[e] : 0;
	OF(set)(a->y_moved, OF(norm_at)(&a->rows, w, to), 1, y);
}

/*
 * y = (x - mean) rstd scale + offset, + res if ${adds}, max(., 0) if a->relu.
 * ${adds} is a compile-time constant; other optional operands are tested once
 * per vector.
 */
INLINE void
OF(norm_apply_of)(const struct norm_apply *a, struct block b, const int adds)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);
		float mean[LANES], factor[LANES], offset[LANES];

		OF(norm_channels)(&w, a->mean, mean);
		OF(norm_channels)(&w, a->rstd, factor);
		OF(norm_factors)(&w, a->scale, a->offset, factor, offset);
		for (unsigned m = w.first; m < w.last; m += ROWS * w.lanes) {
			struct vector16 x[ROWS], res[ROWS];

			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = OF(norm_at)(r, &w, row);

				x[k] = OF(fetch)(a->x, at, row < w.last);
				if (adds)
					res[k] = OF(fetch)(a->res, at,
					    row < w.last);
			}
			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = OF(norm_at)(r, &w, row);
				int there = row < w.last;
				unsigned bits = 0;
				float f[LANES], g[LANES];

				OF(unpack)(x[k], f);
				EACH(e, LANES)
					f[e] = fmaf(f[e] - mean[e], factor[e],
					    offset[e]);
				if (adds)
					OF(unpack)(res[k], g);
				EACH(e, adds ? LANES : 0)
					f[e] += g[e];
				if (a->relu) {
					EACH(e, LANES)
						f[e] = f[e] <= 0 ? 0 : f[e];
				}
				if (a->y != NULL)
					OF(set)(a->y, at, there, f);
				if (a->y_moved != NULL && there)
					OF(norm_move)(a, &w, row, f);
				if (a->mask != NULL && there) {
					EACH(e, LANES)
						bits |=
						    (unsigned)!(f[e] <= 0) << e;
					a->mask[at / LANES] = (uint8_t)bits;
				}
			}
		}
	}
}

/* y = relu((x - mean) rstd scale + offset + res), without res and with it. */
BODY
OF(norm_apply)(const struct norm_apply *a, struct block b)
{
	OF(norm_apply_of)(a, b, 0);
}

BODY
OF(norm_apply_add)(const struct norm_apply *a, struct block b)
{
	OF(norm_apply_of)(a, b, 1);
}

/*
 * Gradients of a channel from its sums: dscale = rstd sum g (x - mean), doffset
 * = sum g.  The factors of dx are
 *
 *	k[0] = scale rstd
 *	k[1] = -k[0] rstd dscale / n
 *	k[2] = -k[0] doffset / n
 *
 * Eight channels per block.
 */
BODY
OF(norm_finish_back)(const struct norm_finish_back *a, struct block b)
{
	SHARED(double, sum, 2 * THREADS);

	if (!a->unpacks)
		OF(norm_gather)(a->part, a->parts, a->c, b, sum);
	EACH_THREAD(i) {
		unsigned c = b.x * 8 + (unsigned)i, C = a->channels;
		double ds = 0, db = 0, k;

		if (i >= 8)
			continue;
		if (a->unpacks && c < C) {
			ds = a->packed[c];
			db = a->packed[C + c];
		} else if (!a->unpacks) {
			ds = sum[THREADS + i] * a->rstd[c];
			db = sum[i];
			a->dscale[c] = (float)ds;
			a->doffset[c] = (float)db;
		}
		if (a->packed != NULL && !a->unpacks && c < C) {
			a->packed[c] = ds;
			a->packed[C + c] = db;
		}
		if (a->k == NULL || (a->packed != NULL && !a->unpacks))
			continue;
		k = (double)a->scale[c] * a->rstd[c];
		a->k[c] = (float)k;
		a->k[a->c + c] = (float)(-k * a->rstd[c] * ds / a->all);
		a->k[2 * a->c + c] = (float)(-k * db / a->all);
	}
}

/* dx = k[0] g + k[1] (x - mean) + k[2], or scale rstd g without k; dres = g. */
INLINE void
OF(norm_apply_back_of)(const struct norm_apply_back *a, struct block b,
    const int shut, const int moves)
{
	const struct rows *r = &a->rows;

	EACH_THREAD(i) {
		struct thread_rows w = walk_of(r, b, i, LANES);
		float mean[LANES], factor[LANES], offset[LANES];
		float k0[LANES], k1[LANES], k2[LANES];
		int reads = a->k != NULL || shut == SHUT_X;
		int given = !moves || a->dy != NULL;
		int by = moves ? walk_moved_by(&a->moved, w.col) : 0;

		OF(norm_channels)(&w, a->mean, mean);
		OF(norm_channels)(&w, a->rstd, factor);
		OF(norm_channels)(&w, a->scale, k0);
		EACH(e, LANES) {
			k0[e] = factor[e] = factor[e] * k0[e];
			offset[e] = k1[e] = k2[e] = 0;
		}
		if (shut == SHUT_X)
			OF(norm_channels)(&w, a->offset, offset);
		if (a->k != NULL) {
			OF(norm_channels)(&w, a->k, k0);
			OF(norm_channels)(&w, a->k + r->c, k1);
			OF(norm_channels)(&w, a->k + 2 * r->c, k2);
		}
		for (unsigned m = w.first; m < w.last; m += ROWS * w.lanes) {
			struct vector16 x[ROWS], dy[ROWS], more[ROWS];
			unsigned bits[ROWS];

			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = OF(norm_at)(r, &w, row);
				int there = row < w.last;

				dy[k] = OF(fetch)(a->dy, at, given && there);
				if (moves)
					more[k] = OF(norm_moved)(r, &w,
					    &a->moved, a->dy_moved, row, by);
				x[k] = OF(fetch)(a->x, at, reads && there);
				bits[k] = shut == SHUT_MASK && there ?
				    a->mask[at / LANES] : 0;
			}
			EACH(k, ROWS) {
				unsigned row = m + (unsigned)k * w.lanes;
				size_t at = OF(norm_at)(r, &w, row);
				int there = row < w.last;
				float f[LANES], h[LANES], v[LANES];

				OF(unpack)(x[k], f);
				OF(unpack)(dy[k], h);
				if (moves)
					OF(unpack)(more[k], v);
				EACH(e, moves ? LANES : 0)
					h[e] += v[e];
				EACH(e, LANES) {
					f[e] -= mean[e];
					h[e] = OF(norm_open)(h[e], f[e],
					    factor[e], offset[e],
					    bits[k] >> e & 1, shut);
				}
				if (a->k != NULL) {
					EACH(e, LANES)
						f[e] = fmaf(k0[e], h[e],
						    fmaf(k1[e], f[e], k2[e]));
				} else {
					EACH(e, LANES)
						f[e] = k0[e] * h[e];
				}
				/*
				 * Store dres first.  It may be the same buffer
				 * as dx, to which dx is then added.
				 */
				if (a->dres != NULL)
					OF(give)(a->dres, at, there, h,
					    a->accumulate_res);
				if (a->dx != NULL)
					OF(give)(a->dx, at, there, f,
					    a->accumulate);
			}
		}
	}
}

#define NORM_APPLY_BACK(name, shut, moves) \
BODY \
OF(name)(const struct norm_apply_back *a, struct block b) \
{ \
	OF(norm_apply_back_of)(a, b, shut, moves); \
}

NORM_VARIANTS(NORM_APPLY_BACK, norm_apply_back)

#undef NORM_SUMS
#undef NORM_SUMS_BACK
#undef NORM_VARIANTS
#undef NORM_APPLY_BACK
