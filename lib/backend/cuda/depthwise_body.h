/*
 * Depthwise convolutions:
 *
 *	y[t][h][v][c] = sum over taps of w[tap][c] x[t s - p + ...][c]
 *
 * A thread has one vector of channels and a strip of DEPTH_STRIP adjacent
 * outputs of a row.  If windows are three wide, the columns loaded for the
 * strip serve all its windows, and each weight is loaded once per strip.
 * Otherwise weights would be most of the traffic.  The kernels are bound by
 * cache bandwidth.  Weights are [taps][channels].
 *
 * A row of a window is processed ${taps} at a time, 1 or 3.  The windows of
 * adjacent outputs begin ${step} columns apart.
 */

/* Load a column of a row, or zeros outside the row. */
INLINE struct vector16
OF(depth_column)(const void *x, size_t row, int column, int columns, unsigned c)
{
	return OF(fetch)(x, row + (size_t)column * c, column >= 0 &&
	    column < columns);
}

/* y = sum over taps of w x, for the strip of the thread. */
INLINE void
OF(depth_strip)(const struct depth *a, struct block b, const int taps,
    const int step)
{
	const struct pool_window *w = &a->window;
	const int columns = (DEPTH_STRIP - 1) * step + taps;
	const int gap = taps == 1 ? w->s[2] : 1;
	int all = w->k[0] * w->k[1] * w->k[2];

	EACH_THREAD(i) {
		struct spot s = walk_spot_of(&a->image, a->positions, a->c, b,
		    i, LANES);
		int o = s.at[2] * DEPTH_STRIP, first[2], last[2];
		float sum[DEPTH_STRIP][LANES];

		if (!s.there)
			continue;
		EACH(e, DEPTH_STRIP)
			EACH(l, LANES)
				sum[e][l] = 0;
		for (int k = 0; k < 2; k++)
			walk_window_taps(w, k, s.at[k], &first[k], &last[k]);
		for (int t = first[0]; t < last[0]; t++)
		for (int h = first[1]; h < last[1]; h++)
		for (int v = 0; v < w->k[2]; v += taps) {
			size_t row = walk_number_at(s.clip, w->in, a->c,
			    s.at[0] * w->s[0] - w->p[0] + t,
			    s.at[1] * w->s[1] - w->p[1] + h, 0, s.c);
			int left = o * w->s[2] - w->p[2] + v;
			struct vector16 x[DEPTH_COLUMNS];
			float weight[3][LANES], f[LANES];

			EACH(j, columns)
				x[j] = OF(depth_column)(a->x, row, left + j *
				    gap, w->in[2], a->c);
			EACH(q, taps) {
				int tap = (t * w->k[1] + h) * w->k[2] + v + q;

				OF(unpack)(OF(fetch)(a->w, (size_t)(a->turned ?
				    all - 1 - tap : tap) * a->c + s.c, 1),
				    weight[q]);
			}
			EACH(j, columns) {
				OF(unpack)(x[j], f);
				EACH(e, DEPTH_STRIP) {
					const int q = j - e * step;

					if (q < 0 || q >= taps)
						continue;
					EACH(l, LANES)
						sum[e][l] = fmaf(f[l],
						    weight[q][l], sum[e][l]);
				}
			}
		}
		EACH(e, DEPTH_STRIP)
			if (o + e < w->out[2])
				OF(give)(a->y, walk_number_at(s.clip, w->out,
				    a->c, s.at[0], s.at[1], o + e, s.c), 1,
				    sum[e], a->accumulate);
	}
}

/*
 * Forward: y = x * w.  Also the input gradient for stride 1: dx = dy * flipped
 * w (${turned}).
 */
BODY
OF(depth)(const struct depth *a, struct block b)
{
	const struct pool_window *w = &a->window;

	if (w->k[2] == 3 && w->s[2] == 1)
		OF(depth_strip)(a, b, 3, 1);
	else if (w->k[2] == 3 && w->s[2] == 2)
		OF(depth_strip)(a, b, 3, 2);
	else
		OF(depth_strip)(a, b, 1, 1);
}

/*
 * Input gradient for strides above 1: dx = sum of w[tap] dy over the windows
 * that contain the input.
 */
BODY
OF(depth_back)(const struct depth *a, struct block b)
{
	const struct pool_window *w = &a->window;

	EACH_THREAD(i) {
		struct spot s = walk_spot_of(&a->image, w->in, a->c, b, i,
		    LANES);
		float sum[LANES], dy[LANES], weight[LANES];
		int first[3], last[3];

		if (!s.there)
			continue;
		EACH(l, LANES)
			sum[l] = 0;
		walk_window_of_input(w, s.at, first, last);
		EACH_PLACE(t, h, v, first, last) {
			unsigned tap = walk_window_tap(w, s.at, t, h, v);

			OF(unpack)(OF(fetch)(a->x, walk_number_at(s.clip,
			    w->out, a->c, t, h, v, s.c), 1), dy);
			OF(unpack)(OF(fetch)(a->w, (size_t)tap * a->c + s.c,
			    1), weight);
			EACH(l, LANES)
				sum[l] = fmaf(dy[l], weight[l], sum[l]);
		}
		OF(give)(a->y, walk_spot_number(&s, w->in, a->c), 1, sum,
		    a->accumulate);
	}
}

/* Return the strips, channels and taps of thread ${i}. */
INLINE struct depth_part
OF(depth_part)(const struct depth_sums *a, struct block b, int i,
    const int tall, const int taps)
{
	const struct pool_window *w = &a->window;
	unsigned set = b.x % a->sets, rest = b.x / a->sets;
	unsigned lane = (unsigned)(i / a->across), vector = rest % a->tiles *
	    (unsigned)a->across + (unsigned)(i % a->across);
	struct depth_part p;

	p.part = rest / a->tiles;
	p.lanes = (unsigned)(b.threads / a->across);
	p.c = vector * LANES;
	p.there = lane < p.lanes && p.c < a->c;
	p.first = p.part * a->per + lane;
	p.last = a->items - p.part * a->per < a->per ? a->items :
	    (p.part + 1) * a->per;
	if (!p.there)
		p.last = 0;
	p.v = (int)set % (w->k[2] / taps) * taps;
	p.h = (int)set / (w->k[2] / taps) % (w->k[1] / tall) * tall;
	p.t = (int)set / (w->k[2] / taps) / (w->k[1] / tall);
	return p;
}

/*
 * part[c][tap] = sum over the outputs o of a chunk of dy[o] x[o s - p + tap],
 * for ${tall} rows of ${taps} taps.  A thread adds a few tens of strips in
 * float.  Then the sums of the threads are added pairwise, in a fixed tree.
 */
INLINE void
OF(depth_sums_of)(const struct depth_sums *a, struct block b, float *sum,
    const int tall, const int taps, const int step)
{
	const struct pool_window *w = &a->window;
	const int columns = (DEPTH_STRIP - 1) * step + taps;
	const int count = tall * taps * LANES;
	const int gap = taps == 1 ? w->s[2] : 1;
	int half = 1;

	EACH_THREAD(i) {
		struct depth_part p = OF(depth_part)(a, b, i, tall, taps);
		float s[9][LANES];

		EACH(k, tall * taps)
			EACH(l, LANES)
				s[k][l] = 0;
		for (unsigned n = p.first; n < p.last; n += p.lanes) {
			int o = (int)(n % a->strips) * DEPTH_STRIP;
			unsigned rest = n / a->strips;
			int h = (int)(rest % (unsigned)w->out[1]), t;
			size_t clip;
			float dy[DEPTH_STRIP][LANES];

			rest /= (unsigned)w->out[1];
			t = (int)(rest % (unsigned)w->out[0]);
			clip = rest / (unsigned)w->out[0];
			EACH(e, DEPTH_STRIP)
				OF(unpack)(OF(depth_column)(a->dy,
				    walk_number_at(clip, w->out, a->c, t, h, 0,
				    p.c), o + e, w->out[2], a->c), dy[e]);
			t = t * w->s[0] - w->p[0] + p.t;
			if (t < 0 || t >= w->in[0])
				continue;
			EACH(r, tall) {
				int y = h * w->s[1] - w->p[1] + p.h + r;
				int left = o * w->s[2] - w->p[2] + p.v;
				size_t row;
				float f[LANES];

				if (y < 0 || y >= w->in[1])
					continue;
				row = walk_number_at(clip, w->in, a->c, t, y, 0,
				    p.c);
				EACH(j, columns) {
					OF(unpack)(OF(depth_column)(a->x, row,
					    left + j * gap, w->in[2], a->c),
					    f);
					EACH(e, DEPTH_STRIP) {
						const int q = j - e * step;

						if (q < 0 || q >= taps)
							continue;
						EACH(l, LANES)
							s[r * taps + q][l] =
							    fmaf(f[l], dy[e][l],
							    s[r * taps + q][l]);
					}
				}
			}
		}
		EACH(k, tall * taps)
			EACH(l, LANES)
				sum[(k * LANES + l) * b.threads + i] = s[k][l];
	}
	while (2 * half < b.threads / a->across)
		half *= 2;
	for (; half > 0; half /= 2)
		EACH_THREAD(i) {
			int lane = i / a->across;

			for (int k = 0; k < count && lane < half &&
			    lane + half < b.threads / a->across; k++)
				sum[k * b.threads + i] += sum[k * b.threads +
				    i + half * a->across];
		}
	EACH_THREAD(i) {
		struct depth_part p = OF(depth_part)(a, b, i, tall, taps);
		size_t all = (size_t)(w->k[0] * w->k[1] * w->k[2]);
		double *to = a->part + ((size_t)p.part * a->channels + p.c) *
		    all;

		for (int k = 0; k < count && i < a->across && p.there; k++) {
			int tap = k / LANES, l = k % LANES;

			if (p.c + (unsigned)l >= a->channels)
				continue;
			to[(size_t)l * all + (size_t)((p.t * w->k[1] + p.h +
			    tap / taps) * w->k[2] + p.v + tap % taps)] =
			    sum[k * b.threads + i];
		}
	}
}

/* Weight gradient: partial sums that kernel total adds. */
BODY
OF(depth_sums)(const struct depth_sums *a, struct block b)
{
	SHARED(float, sum, 9 * LANES * DEPTH_THREADS);

	if (a->nine && a->window.s[2] == 1)
		OF(depth_sums_of)(a, b, sum, 3, 3, 1);
	else if (a->nine)
		OF(depth_sums_of)(a, b, sum, 3, 3, 2);
	else
		OF(depth_sums_of)(a, b, sum, 1, 1, 1);
}
