/*
 * Parameters, their gradients and what optimisers keep: floats, as they lie,
 * computed in doubles to the bits of ref/device.real.c.  A GPU for computing has
 * doubles at half the rate of floats, so these are bound by the bandwidth of
 * memory, and moments by its divisions, about as long.
 *
 * Also the weights of convolutions, from the order of the graph to that which
 * they are kept in, and back.
 */

/* Number ${k} of the FLAT that a thread has. */
#define FLOAT_AT(k)	(((size_t)b.x * FLAT + (size_t)(k)) * \
			(size_t)b.threads + (size_t)i)

BODY
OF(floats_add)(const struct floats_add *a, struct block b)
{
	EACH_THREAD(i) {
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			size_t j = FLOAT_AT(k);

			if (j < a->n)
				a->sum[j] += a->x[j];
		}
	}
}

BODY
OF(floats_track)(const struct floats_track *a, struct block b)
{
	EACH_THREAD(i) {
		if (a->verdict != NULL && a->verdict->what != VERDICT_STEP)
			continue;
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			size_t j = FLOAT_AT(k);

			if (j < a->n)
				a->w[j] += (float)(a->rate * (a->x[j] *
				    a->scale - a->w[j]));
		}
	}
}

BODY
OF(floats_clamp)(const struct floats_clamp *a, struct block b)
{
	EACH_THREAD(i) {
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			size_t j = FLOAT_AT(k);

			if (j < a->n)
				a->x[j] = (float)(a->x[j] > a->most ? a->most :
				    a->x[j] < -a->most ? -a->most : a->x[j]);
		}
	}
}

BODY
OF(update)(const struct stepping *s, struct block b)
{
	const struct update *a = &s->update;
	double scale = s->verdict != NULL ? s->verdict->scale : a->scale;

	EACH_THREAD(i) {
		if (s->verdict != NULL && s->verdict->what != VERDICT_STEP)
			continue;
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			size_t j = FLOAT_AT(k);
			float *w = (float *)a->w + j, *m = (float *)a->m + j;
			double d;

			if (j >= a->n)
				break;
			d = ((const float *)a->g)[j] * scale + a->decay * *w;
			if (a->m == NULL) {
				*w -= (float)(a->lr * d);
				continue;
			}
			*m = (float)(a->momentum * *m + d);
			*w -= (float)(a->lr * (a->nesterov ? d + a->momentum *
			    *m : *m));
		}
	}
}

BODY
OF(moments)(const struct moments *a, struct block b)
{
	EACH_THREAD(i) {
		UNROLL
		for (int k = 0; k < FLAT; k++) {
			size_t j = FLOAT_AT(k);
			float *m = (float *)a->m + j, *v = (float *)a->v + j,
			    *g = (float *)a->g + j;
			double d;

			if (j >= a->n)
				break;
			d = *g * a->scale;
			*m = (float)(*m + (1 - a->beta1) * (d - *m));
			*v = (float)(*v + (1 - a->beta2) * (d * d - *v));
			*g = (float)(*m / a->rest1 / (sqrt(*v / a->rest2) +
			    a->eps) + a->decay * ((const float *)a->w)[j]);
		}
	}
}

INLINE void
OF(squares_fold)(struct block b, double *sum)
{
	for (int half = THREADS / 2; half > 0; half /= 2)
		EACH_THREAD(i) {
			if (i < half)
				sum[i] += sum[i + half];
		}
}

/* A piece of a run; which run it is of is looked for by halves. */
BODY
OF(squares)(const struct squares *a, struct block b)
{
	SHARED(double, sum, THREADS);
	size_t run = 0, past = a->runs;
	size_t from, to;

	while (past - run > 1) {
		size_t half = (run + past) / 2;

		if (a->first[half] <= b.x)
			run = half;
		else
			past = half;
	}
	from = a->edge[run] + (b.x - a->first[run]) * SQUARES;
	to = from + SQUARES < a->edge[run + 1] ? from + SQUARES :
	    a->edge[run + 1];
	EACH_THREAD(i) {
		double s = 0;

		UNROLL
		for (int k = 0; k < SQUARES / THREADS; k++) {
			size_t j = from + (size_t)(k * THREADS + i);
			double v = j < to ? a->x[j] : 0;

			s += v * v;
		}
		sum[i] = s;
	}
	OF(squares_fold)(b, sum);
	EACH_THREAD(i) {
		if (i == 0)
			a->part[b.x] = sum[0];
	}
}

/* A run a block. */
BODY
OF(squares_total)(const struct squares *a, struct block b)
{
	SHARED(double, sum, THREADS);

	EACH_THREAD(i) {
		sum[i] = 0;
		for (size_t k = a->first[b.x] + (size_t)i; k < a->first[b.x + 1];
		    k += THREADS)
			sum[i] += a->part[k];
	}
	OF(squares_fold)(b, sum);
	EACH_THREAD(i) {
		if (i == 0)
			a->sum[b.x] = sum[0];
	}
}

/* A norm above the most that it may be makes the step shorter: PyTorch's
 * clip_grad_norm_, as train/optim.c has it. */
INLINE void
OF(decide)(const struct judge *a, double trained, double statistics, int lost)
{
	struct verdict *v = a->verdict;

	v->scale = a->scale;
	v->norm = sqrt(trained) * a->scale;
	v->statistics = isfinite(statistics) != 0;
	v->what = lost ? VERDICT_LOSS : !isfinite(v->norm) ? VERDICT_GRADIENT :
	    !v->statistics ? VERDICT_STATISTICS : VERDICT_STEP;
	if (a->clip > 0 && v->norm > a->clip)
		v->scale *= a->clip / (v->norm + 1e-6);
}

/* As train/tiles.c adds up: the runs of a parameter, a thread each, and then the
 * parameters, one after the other. */
BODY
OF(judge)(const struct judge *a, struct block b)
{
	SHARED(double, part, THREADS);
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
			size_t of = p + (size_t)i;

			part[i] = 0;
			if (of >= a->params || a->kind[of] == JUDGED_NOT)
				continue;
			for (size_t k = a->first[of]; k < a->first[of + 1]; k++)
				part[i] += a->sum[k];
		}
		EACH_THREAD(i) {
			size_t of = p + (size_t)i;

			if (i > 0)
				continue;
			for (int k = 0; k < b.threads && of < a->params;
			    k++, of++)
				if (a->kind[of] != JUDGED_NOT)
					sum[(int)a->kind[of]] += part[k];
		}
	}
	EACH_THREAD(i) {
		if (i > 0)
			continue;
		for (size_t k = 0; k < a->outcomes; k++)
			lost[0] |= !isfinite(a->outcome[k].loss);
		OF(decide)(a, sum[JUDGED_TRAINED], sum[JUDGED_STATISTICS],
		    lost[0]);
	}
}
