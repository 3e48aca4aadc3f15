/*
 * The head of a network: dropout, softmax, losses.  Dropout and losses are
 * small.  Softmax reads its input once from memory and twice from a cache, and
 * writes its output once.
 */

/* ---- dropout ---- */

/*
 * Draw the four values of block ${block}: Philox4x32-10, like rng_dropout
 * (base/rng.c).
 */
INLINE void
OF(draw)(uint64_t seed, uint64_t clip, uint32_t op, uint64_t block, uint32_t *w)
{
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);

	w[0] = (uint32_t)clip;
	w[1] = (uint32_t)(clip >> 32);
	w[2] = op << 20 | (uint32_t)(block & 0xfffff);
	w[3] = RNG_DROPOUT | (uint32_t)(block >> 20) << 8 | op >> 12 << 26;
	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)0xD2511F53 * w[0];
		uint64_t p1 = (uint64_t)0xCD9E8D57 * w[2];

		w[0] = (uint32_t)(p1 >> 32) ^ w[1] ^ k0;
		w[1] = (uint32_t)p1;
		w[2] = (uint32_t)(p0 >> 32) ^ w[3] ^ k1;
		w[3] = (uint32_t)p0;
		k0 += 0x9E3779B9;
		k1 += 0xBB67AE85;
	}
}

/* to = 0 where the draw is below rate, else from factor */
BODY
OF(dropout)(const struct dropout *a, struct block b)
{
	EACH_THREAD(i) {
		size_t v = (size_t)b.x * (size_t)b.threads + (size_t)i;
		size_t position = v / a->vectors, at = v * LANES;
		unsigned c = (unsigned)(v % a->vectors) * LANES;
		size_t place = position % a->positions * a->c + c;
		float x[LANES];
		uint32_t w[4] = { 0, 0, 0, 0 };

		OF(unpack)(OF(fetch)(a->from, at, at < a->n), x);
		UNROLL
		for (int e = 0; e < LANES; e++, place++) {
			if (at >= a->n || c + (unsigned)e >= a->c)
				break;
			if (e == 0 || place % 4 == 0)
				OF(draw)(a->values->seed, a->clip[position /
				    a->positions], a->index, place / 4, w);
			x[e] = (w[place % 4] >> 8) * 0x1p-24 < a->rate ? 0 :
			    x[e] * a->factor;
		}
		OF(give)(a->to, at, at < a->n, x, a->accumulate);
	}
}

/* ---- softmax ---- */

/* Return the offset of number ${i} of three axes. */
INLINE size_t
OF(softmax_offset)(size_t i, const unsigned *size, const size_t *stride)
{
	size_t at = i % size[1] * stride[2];

	i /= size[1];
	return at + i % size[0] * stride[1] + i / size[0] * stride[0];
}

/*
 * A thread of a group: its lane, the offset of the group, and the first member
 * that it visits, a->members if there is no group.
 */
struct OF(softmax_part) { int lane; unsigned first; size_t at; };

INLINE struct OF(softmax_part)
OF(softmax_part_of)(const struct softmax *a, struct block b, int i)
{
	int across = b.threads / a->lanes, which = a->near ? i / a->lanes :
	    i % across;
	size_t g = (size_t)b.x * (size_t)across + (size_t)which;
	struct OF(softmax_part) p;

	p.lane = a->near ? i % a->lanes : i / across;
	p.first = g < a->groups ? (unsigned)p.lane : a->members;
	p.at = OF(softmax_offset)(g, a->group_size, a->group_stride);
	return p;
}

/* Loop over the members ${m} that thread ${p} visits. */
#define EACH_MEMBER(m, p) \
	for (unsigned m = (p).first; m < a->members; m += (unsigned)a->lanes)

/* Return the offset of member ${m} in its group. */
INLINE size_t
OF(softmax_member)(const struct softmax *a, unsigned m)
{
	return OF(softmax_offset)(m, a->member_size, a->member_stride);
}

/*
 * Reduce v over the lanes of each group into lane 0: the sum, or the maximum if
 * ${largest}.
 */
INLINE void
OF(softmax_fold)(const struct softmax *a, struct block b, float *v,
    const int largest)
{
	for (int half = a->lanes / 2; half > 0; half /= 2)
		EACH_THREAD(i) {
			int by = a->near ? half : half * (b.threads / a->lanes);

			if (OF(softmax_part_of)(a, b, i).lane < half)
				v[i] = !largest ? v[i] + v[i + by] :
				    v[i + by] > v[i] ? v[i + by] : v[i];
		}
}

/* Return the thread of lane 0 in the group of thread ${i}. */
INLINE int
OF(softmax_zero)(const struct softmax *a, struct block b, int i)
{
	return a->near ? i - i % a->lanes : i % (b.threads / a->lanes);
}

/* y = exp(x - max) / sum of exp(x - max), over each group */
BODY
OF(softmax)(const struct softmax *a, struct block b)
{
	SHARED(float, top, THREADS);
	SHARED(float, sum, THREADS);
	const S *x = (const S *)a->from;

	EACH_THREAD(i) {
		struct OF(softmax_part) p = OF(softmax_part_of)(a, b, i);

		top[i] = -INFINITY;
		EACH_MEMBER(m, p) {
			float v = OF(widen)(x[p.at + OF(softmax_member)(a, m)]);

			top[i] = v > top[i] ? v : top[i];
		}
	}
	OF(softmax_fold)(a, b, top, 1);
	EACH_THREAD(i) {
		struct OF(softmax_part) p = OF(softmax_part_of)(a, b, i);
		float largest = top[OF(softmax_zero)(a, b, i)], s = 0;

		EACH_MEMBER(m, p)
			s += expf(OF(widen)(x[p.at + OF(softmax_member)(a,
			    m)]) - largest);
		sum[i] = s;
	}
	OF(softmax_fold)(a, b, sum, 0);
	EACH_THREAD(i) {
		struct OF(softmax_part) p = OF(softmax_part_of)(a, b, i);
		float largest = top[OF(softmax_zero)(a, b, i)];
		float all = sum[OF(softmax_zero)(a, b, i)];

		EACH_MEMBER(m, p) {
			size_t j = p.at + OF(softmax_member)(a, m);

			((S *)a->to)[j] = OF(narrow)(expf(OF(widen)(x[j]) -
			    largest) / all);
		}
	}
}

/* dx = y (dy - sum of y dy), over each group */
BODY
OF(softmax_back)(const struct softmax *a, struct block b)
{
	SHARED(float, dot, THREADS);
	const S *y = (const S *)a->y, *dy = (const S *)a->from;

	EACH_THREAD(i) {
		struct OF(softmax_part) p = OF(softmax_part_of)(a, b, i);
		float s = 0;

		EACH_MEMBER(m, p) {
			size_t j = p.at + OF(softmax_member)(a, m);

			s = fmaf(OF(widen)(y[j]), OF(widen)(dy[j]), s);
		}
		dot[i] = s;
	}
	OF(softmax_fold)(a, b, dot, 0);
	EACH_THREAD(i) {
		struct OF(softmax_part) p = OF(softmax_part_of)(a, b, i);
		float s = dot[OF(softmax_zero)(a, b, i)];

		EACH_MEMBER(m, p) {
			size_t j = p.at + OF(softmax_member)(a, m);
			S *to = (S *)a->to + j;
			float v = OF(widen)(y[j]) * (OF(widen)(dy[j]) - s);

			*to = OF(narrow)(a->accumulate ? OF(widen)(*to) + v :
			    v);
		}
	}
}

#undef EACH_MEMBER

/* ---- losses: one block per clip, computed in double ---- */

/* Return the target of class ${c} in clip ${n}. */
INLINE double
OF(loss_share)(const struct loss *a, unsigned n, unsigned c)
{
	return a->target == TARGET_CLASS ? (int)c == a->label[n] :
	    a->share[(size_t)n * a->classes + c];
}

/*
 * Return the smoothed target q = target (1 - smooth) + smooth / classes, times
 * the weight of class ${c}.
 */
INLINE double
OF(loss_q)(const struct loss *a, unsigned n, unsigned c)
{
	double q = OF(loss_share)(a, n, c) * (1 - a->smooth) +
	    a->smooth / a->classes;

	return a->class_weight != NULL ? q * a->class_weight[c] : q;
}

/*
 * Return the focal loss of a class of probability p, with lp = log p:
 *
 *	-(1 - p)^gamma lp
 *
 * Set *slope = (1 - p)^gamma - gamma p (1 - p)^(gamma - 1) lp.  expm1 keeps
 * 1 - p accurate if p is close to 1 (graph/metric.h).
 */
INLINE double
OF(loss_focal)(double gamma, double lp, double *slope)
{
	double rest = -expm1(lp), power = pow(rest > 0 ? rest : 0, gamma);

	*slope = power - (rest > 0 ? gamma * exp(lp) * power / rest * lp : 0);
	return -power * lp;
}

/* Return the weight of clip ${n}: 0 without a label. */
INLINE double
OF(loss_weight)(const struct loss *a, unsigned n)
{
	if (a->target == TARGET_CLASS && a->label[n] < 0)
		return 0;
	return a->weight != NULL ? a->weight[n] : 1;
}

/* Return the score of class ${c} in clip ${n}. */
INLINE double
OF(loss_x)(const struct loss *a, unsigned n, unsigned c)
{
	return OF(widen)(((const S *)a->x)[(size_t)n * a->pitch + c]);
}

/*
 * Return loss_q, times the slope if the loss is focal.  all = log sum exp(x).
 */
INLINE double
OF(loss_slope)(const struct loss *a, unsigned n, unsigned c, double all)
{
	double q = OF(loss_q)(a, n, c), slope = 1;

	if (q > 0 && a->gamma > 0)
		OF(loss_focal)(a->gamma, OF(loss_x)(a, n, c) - all, &slope);
	return q * slope;
}

/* Reduce v[THREADS] into v[0]: the sum, or the maximum if ${largest}. */
INLINE void
OF(loss_fold)(struct block b, double *v, const int largest)
{
	for (int half = THREADS / 2; half > 0; half /= 2)
		EACH_THREAD(i) {
			if (i < half)
				v[i] = !largest ? v[i] + v[i + half] :
				    v[i + half] > v[i] ? v[i + half] : v[i];
		}
}

/* top[0] = the largest score of the block's clip */
INLINE void
OF(loss_top)(const struct loss *a, struct block b, double *top)
{
	EACH_THREAD(i) {
		top[i] = -INFINITY;
		for (unsigned c = (unsigned)i; c < a->classes; c += THREADS) {
			double x = OF(loss_x)(a, b.x, c);

			top[i] = x > top[i] ? x : top[i];
		}
	}
	OF(loss_fold)(b, top, 1);
}

/* sum[0] = sum over the classes of exp(x - top[0]) */
INLINE void
OF(loss_sum)(const struct loss *a, struct block b, const double *top,
    double *sum)
{
	EACH_THREAD(i) {
		sum[i] = 0;
		for (unsigned c = (unsigned)i; c < a->classes; c += THREADS)
			sum[i] += exp(OF(loss_x)(a, b.x, c) - top[0]);
	}
	OF(loss_fold)(b, sum, 0);
}

/*
 * which[0] = the right class, whose rank counts, or -1: the label; for
 * TARGET_SET the class of the set with the highest score, NaNs last; for shares
 * the class with the largest share above 0.  The first of equal classes wins.
 */
INLINE void
OF(loss_right)(const struct loss *a, struct block b, double *best, int *which)
{
	EACH_THREAD(i) {
		which[i] = -1;
		best[i] = 0;
		if (a->target == TARGET_CLASS && i == 0)
			which[i] = a->label[b.x];
		for (unsigned c = (unsigned)i; c < a->classes &&
		    a->target != TARGET_CLASS; c += THREADS) {
			double share = OF(loss_share)(a, b.x, c);
			double v = a->target == TARGET_SET ?
			    OF(loss_x)(a, b.x, c) : share;

			if (!(share > 0))
				continue;
			v = v != v ? -INFINITY : v;
			if (which[i] < 0 || v > best[i]) {
				best[i] = v;
				which[i] = (int)c;
			}
		}
	}
	for (int half = THREADS / 2; half > 0; half /= 2)
		EACH_THREAD(i) {
			int j = i + half;

			if (i < half && which[j] >= 0 && (which[i] < 0 ||
			    best[j] > best[i] || (best[j] == best[i] &&
			    which[j] < which[i]))) {
				best[i] = best[j];
				which[i] = which[j];
			}
		}
}

/*
 * Per clip, with weight w and smoothed targets q:
 *
 *	softmax		y = w sum over c of q (log sum exp(x) - x[c])
 *	focal		y = w sum over c of q loss_focal(x[c] - log sum exp(x))
 *	sigmoid		y = w / C sum over c of (max(x, 0) - q x +
 *			    log(1 + exp(-|x|)))
 *	rank		= number of classes that score at least as high as the
 *			right class, or whose score is NaN
 *
 * The sigmoid form does not overflow.
 */
BODY
OF(loss)(const struct loss *a, struct block b)
{
	SHARED(double, top, THREADS);
	SHARED(double, sum, THREADS);
	SHARED(double, part, THREADS);
	SHARED(int, which, THREADS);
	SHARED(int, above, THREADS);

	OF(loss_right)(a, b, part, which);
	OF(loss_top)(a, b, top);
	OF(loss_sum)(a, b, top, sum);
	EACH_THREAD(i) {
		double all = top[0] + log(sum[0]), l = 0, slope;
		double right = which[0] >= 0 ? OF(loss_x)(a, b.x,
		    (unsigned)which[0]) : 0;

		above[i] = 0;
		for (unsigned c = (unsigned)i; c < a->classes; c += THREADS) {
			double x = OF(loss_x)(a, b.x, c);
			double q = OF(loss_q)(a, b.x, c);

			if (a->kind == LOSS_SIGMOID)
				l += ((x > 0 ? x : 0) - q * x +
				    log1p(exp(-fabs(x)))) / a->classes;
			else if (q > 0)
				l += q * (a->gamma > 0 ? OF(loss_focal)(
				    a->gamma, x - all, &slope) : all - x);
			above[i] += (int)c != which[0] && !(x < right);
		}
		part[i] = l;
	}
	OF(loss_fold)(b, part, 0);
	for (int half = THREADS / 2; half > 0; half /= 2)
		EACH_THREAD(i) {
			if (i < half)
				above[i] += above[i + half];
		}
	EACH_THREAD(i) {
		double w = OF(loss_weight)(a, b.x);
		float y = (float)(w != 0 ? w * part[0] : 0);

		if (i < 8)		/* the loss, then padding */
			((S *)a->y)[b.x * 8 + (unsigned)i] = OF(narrow)(i == 0 ?
			    y : 0);
		if (i > 0)
			continue;
		a->value[b.x] = y;
		a->rank[b.x] = which[0] >= 0 ? above[0] : INT32_MAX;
	}
}

/*
 * loss = sum of value / clips, top1 = clips of rank 0, top5 = clips of rank
 * below 5, ranked = clips that have a rank.  One block.
 */
BODY
OF(loss_outcome)(const struct loss *a, struct block b)
{
	SHARED(double, sum, THREADS);
	SHARED(double, top1, THREADS);
	SHARED(double, top5, THREADS);
	SHARED(double, ranked, THREADS);

	EACH_THREAD(i) {
		sum[i] = top1[i] = top5[i] = ranked[i] = 0;
		for (unsigned n = (unsigned)i; n < a->clips; n += THREADS) {
			sum[i] += a->value[n] / a->clips;
			top1[i] += a->rank[n] < 1;
			top5[i] += a->rank[n] < 5;
			ranked[i] += a->rank[n] < INT32_MAX;
		}
	}
	OF(loss_fold)(b, sum, 0);
	OF(loss_fold)(b, top1, 0);
	OF(loss_fold)(b, top5, 0);
	OF(loss_fold)(b, ranked, 0);
	EACH_THREAD(i) {
		if (i > 0)
			continue;
		a->outcome->loss = sum[0];
		a->outcome->top1 = (int32_t)top1[0];
		a->outcome->top5 = (int32_t)top5[0];
		a->outcome->ranked = (int32_t)ranked[0];
	}
}

/*
 * Per clip, with f = weight of the loss, loss scale and clip / clips:
 *
 *	softmax		dx = f (softmax(x) sum q - q)
 *	focal		the same, with q times the slope of its class
 *	sigmoid		dx = f (sigmoid(x) - q) / C
 */
BODY
OF(loss_back)(const struct loss *a, struct block b)
{
	SHARED(double, top, THREADS);
	SHARED(double, sum, THREADS);
	SHARED(double, whole, THREADS);

	OF(loss_top)(a, b, top);
	OF(loss_sum)(a, b, top, sum);
	EACH_THREAD(i) {
		double all = top[0] + log(sum[0]);

		whole[i] = 0;
		for (unsigned c = (unsigned)i; c < a->classes; c += THREADS)
			whole[i] += OF(loss_slope)(a, b.x, c, all);
	}
	OF(loss_fold)(b, whole, 0);
	EACH_THREAD(i) {
		double w = OF(loss_weight)(a, b.x) *
		    (a->factor * a->values->scale);

		for (unsigned c = (unsigned)i; c < a->pitch; c += THREADS) {
			S *to = (S *)a->dx + (size_t)b.x * a->pitch + c;
			int there = c < a->classes;
			double x = there ? OF(loss_x)(a, b.x, c) : 0;
			double q = there ? OF(loss_slope)(a, b.x, c,
			    top[0] + log(sum[0])) : 0;
			double d = a->kind == LOSS_SIGMOID ?
			    (1 / (1 + exp(-x)) - q) / a->classes :
			    exp(x - top[0]) / sum[0] * whole[0] - q;
			float v = w != 0 && there ? (float)(d / a->clips * w) :
			    0;

			*to = OF(narrow)(a->accumulate ? OF(widen)(*to) + v :
			    v);
		}
	}
}
