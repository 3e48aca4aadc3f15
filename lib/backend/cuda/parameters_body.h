/*
 * Parameters, their gradients and optimizer state: flat arrays of floats.
 * Results are computed in double, to the bits of ref/device.real.c and
 * formulas.h.  A GPU for computing has doubles at half the rate of floats, so
 * most kernels are bound by memory bandwidth.  Kernel moments is bound by its
 * divisions, which take about as long.
 */

/* Index of element ${k} < FLAT of the thread. */
#define FLOAT_AT(k)	(((size_t)b.x * FLAT + (size_t)(k)) * \
			(size_t)b.threads + (size_t)i)

/* sum[j] += x[j] */
BODY
OF(floats_add)(const struct floats_add *a, struct block b)
{
	EACH_THREAD(i) {
		EACH(k, FLAT) {
			size_t j = FLOAT_AT(k);

			if (j < a->n)
				a->sum[j] += a->x[j];
		}
	}
}

/* sum[j] = row[0][j] + row[1][j] + ..., in this order */
BODY
OF(sum_rows)(const struct sum_rows *a, struct block b)
{
	EACH_THREAD(i) {
		size_t j = (size_t)b.x * (size_t)b.threads + (size_t)i;

		if (j < a->n) {
			double v = a->row[j];

			for (int r = 1; r < a->rows; r++)
				v += a->row[(size_t)r * a->n + j];
			a->sum[j] = v;
		}
	}
}

/* ---- owned shards of parameters ---- */

/* Return the i < ${n} with first[i] <= x < first[i + 1]. */
INLINE size_t
OF(find)(const size_t *first, size_t n, size_t x)
{
	size_t from = 0, past = n;

	while (past - from > 1) {
		size_t half = (from + past) / 2;

		if (first[half] <= x)
			from = half;
		else
			past = half;
	}
	return from;
}

/*
 * Return the shard that a block works on.  Store the number of the block in the
 * shard.
 */
INLINE const struct owned_shard *
OF(shard)(const struct over *o, struct block b, size_t *block)
{
	size_t i;

	*block = b.x;
	if (o->shard == NULL)
		return &o->one;
	i = OF(find)(o->first, o->shards, b.x);
	*block -= o->first[i];
	return &o->shard[i];
}

/* Index in the shard of element ${k} < FLAT of the thread. */
#define OVER_AT(k)	((block * FLAT + (size_t)(k)) * (size_t)b.threads + \
			(size_t)i)

/* Return 1 if the step is skipped. */
INLINE int
OF(refused)(const struct step_check *v)
{
	return v != NULL && v->kind != STEP_CHECK_STEP;
}

/* Return ${scale}, or the scale of the verdict if it is 0. */
INLINE double
OF(scale_by)(const struct step_check *v, double scale)
{
	return v != NULL && scale == 0 ? v->scale : scale;
}

/* w += rate (x scale - w) */
BODY
OF(track)(const struct tracking *s, struct block b)
{
	size_t block;
	const struct owned_shard *p = OF(shard)(&s->over, b, &block);
	double rate = s->track.rate * p->factor[0];
	double scale = s->track.scale * p->factor[1];
	const float *x = (const float *)s->track.x + p->at;
	float *w = (float *)s->track.w + p->state_at;

	EACH_THREAD(i) {
		if (OF(refused)(s->over.check))
			continue;
		EACH(k, FLAT) {
			size_t j = OVER_AT(k);

			if (j < p->n)
				w[j] += (float)(rate * (x[j] * scale - w[j]));
		}
	}
}

/* x = min(max(x, -max / scale), max / scale), where NaN stays */
BODY
OF(clamp)(const struct clamping *s, struct block b)
{
	size_t block;
	const struct owned_shard *p = OF(shard)(&s->over, b, &block);
	double largest = s->clamp.max / OF(scale_by)(s->over.check,
	    s->clamp.scale);
	float *x = (float *)s->clamp.x + p->at;

	EACH_THREAD(i) {
		if (OF(refused)(s->over.check))
			continue;
		EACH(k, FLAT) {
			size_t j = OVER_AT(k);

			if (j < p->n)
				x[j] = (float)(x[j] > largest ? largest :
				    x[j] < -largest ? -largest : x[j]);
		}
	}
}

/*
 *	d = scale g + decay w
 *	m = momentum m + d
 *	w -= lr m; with Nesterov lr (d + momentum m); without momentum lr d
 */
BODY
OF(update)(const struct stepping *s, struct block b)
{
	const struct update *a = &s->update;
	size_t block;
	const struct owned_shard *p = OF(shard)(&s->over, b, &block);
	const struct update_rates r = update_rates(a, p,
	    OF(scale_by)(s->over.check, a->scale), a->ratio != NULL ?
	    a->ratio[p->param] : 1);

	EACH_THREAD(i) {
		if (OF(refused)(s->over.check))
			continue;
		EACH(k, FLAT) {
			size_t j = OVER_AT(k);
			float *w = (float *)a->w + p->at + j, *m;
			double d;

			if (j >= p->n)
				break;
			d = ((const float *)a->g)[p->at + j] * r.scale +
			    r.decay * *w;
			if (a->m == NULL) {
				*w -= (float)(r.lr * d);
				continue;
			}
			m = (float *)a->m + p->state_at + j;
			*m = (float)(a->momentum * *m + d);
			*w -= (float)(r.lr * (a->nesterov ? d + a->momentum *
			    *m : *m));
		}
	}
}

/*
 *	d = scale g
 *	m += (1 - beta1) (d - m)
 *	v += (1 - beta2) (d^2 - v)
 *	g = m / bias_correction1 / (sqrt(v / bias_correction2) + eps) + decay w
 */
BODY
OF(moments)(const struct directing *s, struct block b)
{
	const struct moments *a = &s->moments;
	size_t block;
	const struct owned_shard *p = OF(shard)(&s->over, b, &block);
	double scale = OF(scale_by)(s->over.check, a->scale);
	double decay = a->decay * p->factor[1];

	EACH_THREAD(i) {
		if (OF(refused)(s->over.check))
			continue;
		EACH(k, FLAT) {
			size_t j = OVER_AT(k);
			float *m = (float *)a->m + p->state_at + j;
			float *v = (float *)a->v + p->state_at + j;
			float *g = (float *)a->g + p->at + j;
			double d;

			if (j >= p->n)
				break;
			d = *g * scale;
			*m = (float)(*m + (1 - a->beta1) * (d - *m));
			*v = (float)(*v + (1 - a->beta2) * (d * d - *v));
			*g = (float)(*m / a->bias_correction1 /
			    (sqrt(*v / a->bias_correction2) + a->eps) + decay *
			    ((const float *)a->w)[p->at + j]);
		}
	}
}

/* ---- sums of squares ---- */

/* Add up sum[THREADS] into sum[0], by halves. */
INLINE void
OF(squares_fold)(struct block b, double *sum)
{
	for (int half = THREADS / 2; half > 0; half /= 2)
		EACH_THREAD(i) {
			if (i < half)
				sum[i] += sum[i + half];
		}
}

/* piece[block] = sum of x^2 over one chunk of SQUARES elements */
BODY
OF(squares)(const struct squares *a, struct block b)
{
	SHARED(double, sum, THREADS);
	size_t which = a->first != NULL ? OF(find)(a->first, a->parts, b.x) :
	    b.x;
	size_t piece = a->first != NULL ? b.x - a->first[which] : 0;
	size_t at = a->part[which].at - a->from;
	size_t past = at + a->part[which].n, from = at + piece * SQUARES;
	size_t to = from + SQUARES < past ? from + SQUARES : past;

	EACH_THREAD(i) {
		double s = 0;

		EACH(k, SQUARES / THREADS) {
			size_t j = from + (size_t)(k * THREADS + i);
			double v = j < to ? a->x[j] : 0;

			s += v * v;
		}
		sum[i] = s;
	}
	OF(squares_fold)(b, sum);
	EACH_THREAD(i) {
		if (i == 0)
			a->piece[b.x] = sum[0];
	}
}

/* sum[i] = sum of the chunks of interval i; one interval per block. */
BODY
OF(squares_total)(const struct squares *a, struct block b)
{
	SHARED(double, sum, THREADS);

	EACH_THREAD(i) {
		sum[i] = 0;
		for (size_t k = a->first[b.x] + (size_t)i;
		    k < a->first[b.x + 1];
		    k += THREADS)
			sum[i] += a->piece[k];
	}
	OF(squares_fold)(b, sum);
	EACH_THREAD(i) {
		if (i == 0)
			a->sum[b.x] = sum[0];
	}
}

/*
 * of[p] = sum[first[p]] + ... + sum[first[p + 1] - 1].  All threads load, and
 * one adds in order, because the order decides the bits.
 */
BODY
OF(squares_add)(const struct squares_add *a, struct block b)
{
	SHARED(double, some, THREADS);
	SHARED(double, all, 1);
	size_t end = a->first[b.x + 1];

	EACH_THREAD(i) {
		if (i == 0)
			all[0] = 0;
	}
	for (size_t k = a->first[b.x]; k < end; k += (size_t)b.threads) {
		EACH_THREAD(i) {
			if (k + (size_t)i < end)
				some[i] = a->sum[k + (size_t)i];
		}
		EACH_THREAD(i) {
			double s = all[0];

			if (i > 0)
				continue;
			for (int j = 0; j < b.threads && k + (size_t)j < end;
			    j++)
				s += some[j];
			all[0] = s;
		}
	}
	EACH_THREAD(i) {
		if (i == 0)
			a->of[b.x] = all[0];
	}
}

/* ---- what follows from them ---- */

/*
 * verdict = formula_step_check_of(sum of the trained parameters, sum of the
 * statistics, scale, clip, lost), of sums of squares.  One thread adds the
 * parameters in order, as train/optim/norm_blocks.c does, to the same bits.
 */
BODY
OF(step_check)(const struct step_checked *a, struct block b)
{
	SHARED(double, some, THREADS);
	SHARED(double, sum, 3);
	SHARED(int, lost, 1);

	EACH_THREAD(i) {
		if (i < 3)
			sum[i] = 0;
		if (i == 0)
			lost[0] = 0;
	}
	for (size_t p = 0; p < a->params; p += (size_t)b.threads) {
		EACH_THREAD(i) {
			if (p + (size_t)i < a->params)
				some[i] = a->of[p + (size_t)i];
		}
		EACH_THREAD(i) {
			if (i > 0)
				continue;
			for (int k = 0; k < b.threads && p + (size_t)k <
			    a->params; k++)
				sum[(int)a->kind[p + (size_t)k]] += some[k];
		}
	}
	EACH_THREAD(i) {
		if (i > 0)
			continue;
		for (size_t k = 0; k < a->outcomes; k++)
			lost[0] |= formula_loss_is_bad(a->outcome[k].loss,
			    a->max);
		lost[0] |= a->lost != NULL && *a->lost != 0;
		*a->check = formula_step_check_of(sum[CHECK_TRAINED],
		    sum[CHECK_STATISTICS], a->scale, a->clip, lost[0]);
	}
}

/* to = 1 if a loss is above max or NaN, or for another reason; else 0 */
BODY
OF(flag_losses)(const struct flag_losses *a, struct block b)
{
	EACH_THREAD(i) {
		int lost = a->other != 0;

		if (i > 0)
			continue;
		for (size_t k = 0; k < a->outcomes; k++)
			lost |= formula_loss_is_bad(a->outcome[k].loss, a->max);
		*a->to = (float)lost;
	}
}

/*
 * ratio[p] = formula_ratio_of(||w||, scale ||d||), or 1 for a parameter without
 * a ratio; as train/optim/optim.c.
 */
BODY
OF(ratios)(const struct rating *a, struct block b)
{
	double scale = OF(scale_by)(a->check, a->scale);

	EACH_THREAD(i) {
		size_t p = (size_t)b.x * (size_t)b.threads + (size_t)i;
		const struct layer *l = a->layer + p;

		if (p < a->params)
			a->ratio[p] = l->has_ratio ? formula_ratio_of(&a->rule,
			    a->lr * l->factor[0], a->decay * l->factor[1],
			    sqrt(a->w[p]), sqrt(a->d[p]) * scale) : 1;
	}
}
