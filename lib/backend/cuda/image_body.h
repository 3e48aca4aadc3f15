/*
 * Operators on images [h][w][c]: frames that move, and pools.  Indices are
 * found by 32-bit divisions, once per vector.  Frame kernels are bound by
 * memory bandwidth, pools by that of the caches, because windows overlap.
 */

/*
 * Return the offset of the frame that channel ${c} comes from, like op_shift().
 */
INLINE int
OF(shift_from)(const struct shift *a, unsigned c)
{
	if (a->past)
		return c < a->fold ? -1 : 0;
	return c < a->fold ? 1 : c < 2 * a->fold ? -1 : 0;
}

/*
 * to[t][..][c] = or += from[t + sign shift_from(c)][..][c], or 0 outside the
 * clip.  If channels of a vector come from different frames, they are loaded
 * one by one.
 */
BODY
OF(shift)(const struct shift *a, struct block b)
{
	const struct image_grid *m = &a->image;
	size_t size = (size_t)m->plane * LANES;
	size_t image = b.x / m->pieces;
	int t = (int)(image % a->t);

	EACH_THREAD(i) {
		struct vector16 x[FLAT];

		EACH(k, FLAT) {
			unsigned j = walk_image_vector(m, b, i, k, FLAT);
			int by = a->sign * OF(shift_from)(a, j * LANES % a->c),
			    from = t + by;

			x[k] = OF(fetch)(a->from, (size_t)((long)image + by) *
			    size + (size_t)j * LANES, j != UINT32_MAX &&
			    from >= 0 && from < (int)a->t);
		}
		EACH(k, FLAT) {
			unsigned j = walk_image_vector(m, b, i, k, FLAT);
			unsigned c = j * LANES % a->c;
			int mixed = j != UINT32_MAX && OF(shift_from)(a, c) !=
			    OF(shift_from)(a, c + LANES - 1);
			float f[LANES];

			OF(unpack)(x[k], f);
			ROLL
			for (int e = 0; e < LANES && mixed; e++) {
				int by = a->sign * OF(shift_from)(a, c +
				    (unsigned)e), from = t + by;

				f[e] = from < 0 || from >= (int)a->t ? 0 :
				    OF(widen)(((const S *)a->from)[(size_t)
				    ((long)image + by) * size + (size_t)j *
				    LANES + (size_t)e]);
			}
			OF(give)(a->to, image * size + (size_t)j * LANES,
			    j != UINT32_MAX, f, a->accumulate);
		}
	}
}

/* Return the number, of all frames, of selected frame ${i}, like op_frame(). */
INLINE int
OF(frame_of)(const struct frames *a, int i)
{
	if (a->spread)
		return a->few == 1 ? 0 : (int)((int64_t)i *
		    (int64_t)(a->all - 1) / (int64_t)(a->few - 1));
	return a->first + i * a->step;
}

/*
 * to[i] = or += from[frame_of(i)].  ${back}: to[frame_of(i)] = or += from[i],
 * and 0 for frames that are not selected.
 */
BODY
OF(frames)(const struct frames *a, struct block b)
{
	const struct image_grid *m = &a->image;
	size_t size = (size_t)m->plane * LANES;
	size_t image = b.x / m->pieces, from = 0;
	unsigned frames = a->back ? a->all : a->few;
	int t = (int)(image % frames), there = !a->back;

	if (!a->back)
		from = image / frames * a->all + (size_t)OF(frame_of)(a, t);
	for (int i = 0; i < (int)a->few && a->back; i++)
		if (OF(frame_of)(a, i) == t) {
			from = image / frames * a->few + (size_t)i;
			there = 1;
		}
	EACH_THREAD(i) {
		struct vector16 x[FLAT];

		EACH(k, FLAT) {
			unsigned j = walk_image_vector(m, b, i, k, FLAT);

			x[k] = OF(fetch)(a->from, from * size + (size_t)j *
			    LANES, j != UINT32_MAX && there);
		}
		EACH(k, FLAT) {
			unsigned j = walk_image_vector(m, b, i, k, FLAT);
			float f[LANES];

			OF(unpack)(x[k], f);
			OF(give)(a->to, image * size + (size_t)j * LANES,
			    j != UINT32_MAX, f, a->accumulate);
		}
	}
}

/* ---- windows ---- */

/*
 * Store the taps of a vector at element ${at}.  A vector of one-byte taps is
 * stored in one access.
 */
INLINE void
OF(which_put)(void *which, size_t at, const unsigned *tap, int large)
{
	uint8_t *to = (uint8_t *)which + at;
	uint32_t low = 0, high = 0;

	if (large) {
		for (int e = 0; e < LANES; e++)
			((uint32_t *)which)[at + (size_t)e] = tap[e];
		return;
	}
	EACH(e, 4) {
		low |= tap[e] << 8 * e;
		high |= LANES > 4 ? tap[e + LANES - 4] << 8 * e : 0;
	}
	if (LANES > 4)
		*(uint64_t *)(void *)to = (uint64_t)high << 32 | low;
	else
		*(uint32_t *)(void *)to = low;
}

/* Load the taps of a vector, as which_put stored them. */
INLINE void
OF(which_get)(const void *which, size_t at, unsigned *tap, int large)
{
	const uint8_t *from = (const uint8_t *)which + at;
	uint64_t w;

	if (large) {
		for (int e = 0; e < LANES; e++)
			tap[e] = ((const uint32_t *)which)[at + (size_t)e];
		return;
	}
	w = LANES > 4 ? *(const uint64_t *)(const void *)from :
	    *(const uint32_t *)(const void *)from;
	EACH(e, LANES)
		tap[e] = (unsigned)(w >> 8 * e & 0xff);
}

/*
 * y = max of x over the taps of the window, which = its tap.  The first of
 * equal maxima wins; NaN wins over numbers.  A window without taps gives 0.
 */
BODY
OF(maxpool)(const struct pooling *a, struct block b)
{
	const struct pool_window *w = &a->window;

	EACH_THREAD(i) {
		struct spot s = walk_spot_of(&a->image, w->out, a->c, b, i,
		    LANES);
		size_t to = walk_spot_number(&s, w->out, a->c);
		float largest[LANES], x[LANES];
		unsigned which[LANES];
		int first[3], last[3], any = 0;

		if (!s.there)
			continue;
		EACH(e, LANES) {
			largest[e] = 0;
			which[e] = 0;
		}
		walk_window_of_output(w, s.at, first, last);
		EACH_PLACE(t, h, v, first, last) {
			unsigned tap = (unsigned)((t * w->k[1] + h) * w->k[2] +
			    v);

			OF(unpack)(OF(fetch)(a->from, walk_window_number(w, &s,
			    a->c, t, h, v), 1), x);
			EACH(e, LANES)
				if (!any || x[e] > largest[e] ||
				    x[e] != x[e]) {
					largest[e] = x[e];
					which[e] = tap;
				}
			any = 1;
		}
		OF(set)(a->to, to, 1, largest);
		OF(which_put)(a->which, to, which, a->large);
	}
}

/*
 * dx = sum of dy over the windows whose maximum is this input.  Each thread
 * gathers for its own inputs, so no atomics are needed.
 */
BODY
OF(maxpool_back)(const struct pooling *a, struct block b)
{
	const struct pool_window *w = &a->window;

	EACH_THREAD(i) {
		struct spot s = walk_spot_of(&a->image, w->in, a->c, b, i,
		    LANES);
		float sum[LANES], dy[LANES];
		int first[3], last[3];

		if (!s.there)
			continue;
		EACH(e, LANES)
			sum[e] = 0;
		walk_window_of_input(w, s.at, first, last);
		EACH_PLACE(t, h, v, first, last) {
			size_t at = walk_number_at(s.clip, w->out, a->c, t, h,
			    v, s.c);
			unsigned tap = walk_window_tap(w, s.at, t, h, v);
			unsigned which[LANES];

			OF(unpack)(OF(fetch)(a->from, at, 1), dy);
			OF(which_get)(a->which, at, which, a->large);
			EACH(e, LANES)
				if (which[e] == tap)
					sum[e] += dy[e];
		}
		OF(give)(a->to, walk_spot_number(&s, w->in, a->c), 1, sum,
		    a->accumulate);
	}
}

/*
 * Return the divisor of the mean of output (t, h, v): all taps, or those inside
 * the image if a->cut.
 */
INLINE int
OF(avgpool_taps)(const struct pooling *a, int t, int h, int v)
{
	const struct pool_window *w = &a->window;
	int at[3], taps = 1;

	at[0] = t;
	at[1] = h;
	at[2] = v;
	if (!a->cut)
		return w->k[0] * w->k[1] * w->k[2];
	EACH(k, 3) {
		int first, last;

		walk_window_taps(w, k, at[k], &first, &last);
		taps *= last > first ? last - first : 0;
	}
	return taps > 0 ? taps : 1;
}

/*
 * y = sum of x over the taps / taps.  ${back}: dx = sum of dy / taps over the
 * windows that contain the input.
 */
INLINE void
OF(avgpool_of)(const struct pooling *a, struct block b, const int back)
{
	const struct pool_window *w = &a->window;
	const int *size = back ? w->in : w->out;

	EACH_THREAD(i) {
		struct spot s = walk_spot_of(&a->image, size, a->c, b, i,
		    LANES);
		float sum[LANES], x[LANES];
		int first[3], last[3], taps = 1;

		if (!s.there)
			continue;
		EACH(e, LANES)
			sum[e] = 0;
		if (back)
			walk_window_of_input(w, s.at, first, last);
		else
			walk_window_of_output(w, s.at, first, last);
		EACH_PLACE(t, h, v, first, last) {
			float share = back ? 1 / (float)OF(avgpool_taps)(a, t,
			    h, v) : 1;

			OF(unpack)(OF(fetch)(a->from,
			    back ? walk_number_at(s.clip, w->out, a->c, t, h, v,
			    s.c) : walk_window_number(w, &s, a->c, t, h, v), 1),
			    x);
			EACH(e, LANES)
				sum[e] += share * x[e];
		}
		if (!back)
			taps = OF(avgpool_taps)(a, s.at[0], s.at[1], s.at[2]);
		EACH(e, LANES)
			sum[e] /= (float)taps;
		OF(give)(a->to, walk_spot_number(&s, size, a->c), 1, sum,
		    a->accumulate);
	}
}

BODY
OF(avgpool)(const struct pooling *a, struct block b)
{
	OF(avgpool_of)(a, b, 0);
}

BODY
OF(avgpool_back)(const struct pooling *a, struct block b)
{
	OF(avgpool_of)(a, b, 1);
}
