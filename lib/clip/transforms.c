/*
 * Draw and apply the transforms of training clips.  All draws come from the
 * clip's own counters (draw.h).
 */
#include <math.h>
#include <string.h>

#include "clip/draw.h"
#include "clip/transforms.h"

int
transforms_repeats(const struct transforms *e)
{
	return e->repeat > 1 ? e->repeat : 1;
}

int
transforms_none(const struct transforms *e)
{
	return e->ops == 0 && e->erase == 0 && e->jitter[0] == 0 &&
	    e->jitter[1] == 0 && e->jitter[2] == 0 && e->jitter[3] == 0;
}

int
transforms_mix_clips(const struct transforms *e)
{
	return e->mixup > 0 || e->cutmix > 0;
}

/* ---- RandAugment ---- */

/*
 * Return the argument of an operator at a level from 0 to 1, with a sign.  The
 * ranges are those of torchvision's RandAugment, _augmentation_space, with
 * translations in proportion to ${side}.
 */
static double
transforms_magnitude(enum color_op op, double level, int negative, int side)
{
	double sign = negative ? -1 : 1;

	switch (op) {
	case RAND_SHEAR_X:
	case RAND_SHEAR_Y:
		return sign * 0.3 * level;
	case RAND_TRANSLATE_X:
	case RAND_TRANSLATE_Y:
		return sign * 150 / 331 * side * level;
	case RAND_ROTATE:
		return sign * 30 * level;
	case RAND_BRIGHTNESS:
	case RAND_COLOR:
	case RAND_CONTRAST:
	case RAND_SHARPNESS:
		return 1 + sign * 0.9 * level;
	case RAND_POSTERIZE:
		return 8 - rint(4 * level);
	case RAND_SOLARIZE:
		return 255 * (1 - level);
	default:
		return 0;
	}
}

/*
 * Draw an operator and a sign for each step, even if the operator has no sign.
 */
static void
transforms_draw_rand(const struct transforms *e, struct rng r, int side,
    struct transforms_drawn *to)
{
	for (int i = 0; i < e->ops && i < EFFECTS_OPS; i++) {
		enum color_op op = (enum color_op)rng_below(&r, RAND_OPS);
		int negative = rng_uniform(&r) < 0.5;

		to->op[to->n].op = op;
		to->op[to->n++].v = transforms_magnitude(op, e->level / 30.0,
		    negative, side);
	}
	to->of_rand = to->n;
}

/* ---- color jitter ---- */

/*
 * Draw a random order (Fisher-Yates), then all four factors.  A factor is drawn
 * even if it is off, so that the others do not depend on it.
 */
static void
transforms_draw_jitter(const struct transforms *e, struct rng r,
    struct transforms_drawn *to)
{
	static const enum color_op op[4] = { RAND_BRIGHTNESS, RAND_CONTRAST,
		RAND_COLOR, COLOR_HUE };
	int order[4] = { 0, 1, 2, 3 };
	double v[4];

	for (int i = 3; i > 0; i--) {
		int k = (int)rng_below(&r, (uint32_t)i + 1), was = order[i];

		order[i] = order[k];
		order[k] = was;
	}
	for (int i = 0; i < 4; i++) {
		double j = e->jitter[i], low = i < 3 ? fmax(0, 1 - j) : -j;

		v[i] = low + rng_uniform(&r) * ((i < 3 ? 1 + j : j) - low);
	}
	for (int i = 0; i < 4; i++) {
		if (e->jitter[order[i]] <= 0)
			continue;
		to->op[to->n].op = op[order[i]];
		to->op[to->n++].v = v[order[i]];
	}
}

/* ---- erasing ---- */

/* Fill ${to} with noise.  Philox gives 16 bytes per counter. */
static void
transforms_noise(struct rng clip, uint8_t *to, size_t n)
{
	struct rng r = clip_draw(clip, DRAW_NOISE);

	for (size_t i = 0; i < n; i += 16) {
		struct rng_block b = rng_philox(r.seed, (uint32_t)r.id,
		    (uint32_t)(r.id >> 32), r.draw + (uint32_t)(i / 16 % 65536),
		    r.purpose);

		memcpy(to + i, b.w, n - i < 16 ? n - i : 16);
	}
}

/*
 * Draw area and log ratio until the box is smaller than the frame, at most ten
 * times, as torchvision's RandomErasing.
 */
static void
transforms_draw_box(const struct transforms *e, struct rng r, int side,
    struct transforms_drawn *to)
{
	if (rng_uniform(&r) >= e->erase)
		return;
	for (int i = 0; i < 10; i++) {
		double area = (0.02 + rng_uniform(&r) * 0.31) * side * side;
		double ratio = exp(log(0.3) + rng_uniform(&r) * log(11));
		int h = (int)lrint(sqrt(area * ratio));
		int w = (int)lrint(sqrt(area / ratio));

		if (w < 1 || h < 1 || w >= side || h >= side)
			continue;
		to->x = (int)rng_below(&r, (uint32_t)(side - w) + 1);
		to->y = (int)rng_below(&r, (uint32_t)(side - h) + 1);
		to->w = w;
		to->h = h;
		return;
	}
}

static void
transforms_erase(const struct transforms_drawn *d, struct rng clip, int t,
    int side, uint8_t *pixels, uint8_t *buffer)
{
	size_t row = 3 * (size_t)side, width = 3 * (size_t)d->w;

	transforms_noise(clip, buffer, width * (size_t)d->h);
	for (int k = 0; k < t * d->h; k++)
		memcpy(pixels + (size_t)(k / d->h * side + d->y + k % d->h) *
		    row + 3 * d->x, buffer + (size_t)(k % d->h) * width, width);
}

/* ---- one clip ---- */

struct transforms_drawn
transforms_draw(const struct transforms *e, struct rng clip, int side)
{
	struct transforms_drawn d = { 0 };

	transforms_draw_rand(e, clip_draw(clip, DRAW_RAND), side, &d);
	if (e->jitter[0] > 0 || e->jitter[1] > 0 || e->jitter[2] > 0 ||
	    e->jitter[3] > 0)
		transforms_draw_jitter(e, clip_draw(clip, DRAW_JITTER), &d);
	if (e->erase > 0)
		transforms_draw_box(e, clip_draw(clip, DRAW_ERASE), side, &d);
	return d;
}

void
transforms_apply(const struct transforms *e, struct rng clip, int t, int side,
    uint8_t *pixels, uint8_t *buffer)
{
	struct transforms_drawn d = transforms_draw(e, clip, side);
	size_t frame = 3 * (size_t)side * (size_t)side;

	for (int i = 0; i < d.n; i++)
		for (int k = 0; k < t; k++)
			color_apply(d.op[i].op, d.op[i].v, side, pixels +
			    (size_t)k * frame, buffer);
	if (d.w > 0)
		transforms_erase(&d, clip, t, side, pixels, buffer);
}

/* ---- mixing ---- */

int
transforms_partners(int i, int n, int ring[3])
{
	int middle = n / 2, other = n - 1 - i;

	if (n % 2 == 1 && n > 1 && i >= middle - 1 && i <= middle + 1) {
		for (int k = 0; k < 3; k++)
			ring[k] = middle - 1 + k;
		return 3;
	}
	ring[0] = i < other ? i : other;
	ring[1] = i < other ? other : i;
	return i == other ? 1 : 2;
}

/*
 * Return the regularized incomplete beta function I_x(a, a) for ${x} below 1/2.
 * Evaluate the continued fraction of Abramowitz and Stegun 26.5.8 from the
 * inside out.
 */
static double
transforms_beta_cdf(double a, double x)
{
	int sign;
	double log_front = lgamma_r(2 * a, &sign) - 2 * lgamma_r(a, &sign) +
	    a * log(x) + a * log1p(-x), f = 1;

	for (int m = 60; m > 0; m--) {
		double even = m * (a - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m - 1) * (2 * a + m - 1) * x /
		    ((a + 2 * m - 2) * (a + 2 * m - 1));

		f = 1 + odd / (1 + even / f);
	}
	return exp(log_front) / (a * f);
}

/* Bisect the quantile in 60 steps, on the lower half by symmetry. */
double
transforms_beta_quantile(double a, double u)
{
	double low = 0, high = 0.5, want = u < 0.5 ? u : 1 - u;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (transforms_beta_cdf(a, middle) < want)
			low = middle;
		else
			high = middle;
	}
	return u < 0.5 ? high : 1 - high;
}

/*
 * Place a box of side * sqrt(1 - lambda), centered at a uniform pixel, as
 * CutMix.
 */
static void
transforms_place_cut(struct mix *m, struct rng *r, double share, int side)
{
	int size = (int)(side * sqrt(1 - share));
	int x = (int)rng_below(r, (uint32_t)side);
	int y = (int)rng_below(r, (uint32_t)side);
	int right = x - size / 2 + size, bottom = y - size / 2 + size;

	m->cut = 1;
	m->x = x - size / 2 > 0 ? x - size / 2 : 0;
	m->y = y - size / 2 > 0 ? y - size / 2 : 0;
	m->w = (right < side ? right : side) - m->x;
	m->h = (bottom < side ? bottom : side) - m->y;
	/*
	 * Recompute lambda, since the frame's edge may cut off part of the box.
	 */
	m->lambda = MIX_ONE - (int)lrint(MIX_ONE * ((double)m->w * m->h /
	    ((double)side * side)));
}

struct mix
transforms_mix_draw(const struct transforms *e, struct rng clip, int side)
{
	struct rng r = clip_draw(clip, DRAW_MIX);
	double which = rng_uniform(&r), u = rng_uniform(&r), share;
	struct mix m = { 0 };
	int cut = e->mixup <= 0 || (e->cutmix > 0 && which < 0.5);

	share = transforms_beta_quantile(cut ? e->cutmix : e->mixup, u);
	m.lambda = (int)lrint(share * MIX_ONE);
	if (cut)
		transforms_place_cut(&m, &r, share, side);
	return m;
}

/* a = (p a + (2^15 - p) b) / 2^15, rounded. */
static void
transforms_blend(int p, uint8_t *restrict a, const uint8_t *restrict b,
    size_t n)
{
	int q = MIX_ONE - p;

	for (size_t i = 0; i < n; i++)
		a[i] = (uint8_t)((p * a[i] + q * b[i] + MIX_ONE / 2) / MIX_ONE);
}

/*
 * Mix bytes ${at} to ${at} + ${n} - 1 of each clip with those of the next one.
 */
static void
transforms_mix_range(int p, uint8_t *const clip[], int clips, size_t at,
    size_t n)
{
	uint8_t first[4096];	/* original bytes of the first clip */

	for (size_t end = at + n; at < end; at += n) {
		n = end - at < sizeof(first) ? end - at : sizeof(first);
		memcpy(first, clip[0] + at, n);
		for (int i = 0; i < clips; i++)
			transforms_blend(p, clip[i] + at, i + 1 < clips ?
			    clip[i + 1] + at : first, n);
	}
}

void
transforms_mix(const struct mix *m, int t, int side, int c,
    uint8_t *const clip[], int clips)
{
	size_t row = (size_t)c * (size_t)side;

	if (!m->cut)
		transforms_mix_range(m->lambda, clip, clips, 0,
		    (size_t)t * (size_t)side * row);
	/* CutMix: the box is entirely the next partner's. */
	for (int k = 0; k < t * m->h; k++)
		transforms_mix_range(0, clip, clips,
		    (size_t)(k / m->h * side + m->y + k % m->h) * row +
		    (size_t)(c * m->x), (size_t)(c * m->w));
}

/* ---- printing ---- */

/* The names of enum color_op. */
static const char *const op_names[] = {
	"identity", "shear-x", "shear-y", "translate-x", "translate-y",
	"rotate", "brightness", "color", "contrast", "sharpness", "posterize",
	"solarize", "autocontrast", "equalize"
};

/* Return the name of an operator of RandAugment or, of a color jitter, that of
 * the option that sets it. */
static const char *
transforms_op_name(enum color_op op, int of_rand)
{
	return of_rand || (op != COLOR_HUE && op != RAND_COLOR) ?
	    op_names[op] : op == COLOR_HUE ? "hue" : "saturation";
}

int
transforms_print(const struct transforms *e, struct rng clip, int side, int n,
    FILE *to)
{
	struct transforms_drawn d = transforms_draw(e, clip, side);

	for (int i = 0; i < d.n; i++) {
		enum color_op op = d.op[i].op;

		fprintf(to, "%s%s%s", n++ > 0 ? " " : "",
		    i < d.of_rand ? "rand-" : "",
		    transforms_op_name(op, i < d.of_rand));
		if (op != RAND_IDENTITY && op != RAND_AUTOCONTRAST &&
		    op != RAND_EQUALIZE)
			fprintf(to, "=%.17g", d.op[i].v);
	}
	if (d.w > 0)
		fprintf(to, "%serase=%dx%d+%d+%d", n++ > 0 ? " " : "",
		    d.w, d.h, d.x, d.y);
	return n;
}

int
transforms_print_mix(const struct mix *m, unsigned long long with, int n,
    FILE *to)
{
	fprintf(to, "%s%s=%.17g:%llu", n > 0 ? " " : "",
	    m->cut ? "cutmix" : "mixup", (double)m->lambda / MIX_ONE, with);
	if (m->cut)
		fprintf(to, ":%dx%d+%d+%d", m->w, m->h, m->x, m->y);
	return n + 1;
}
