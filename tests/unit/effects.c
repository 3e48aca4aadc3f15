/*
 * Transforms of training clips: they are functions of seed and clip number,
 * mixing shares and boxes have the specified distributions, and mixing follows
 * its formulas.  The formulas of single transforms are checked by
 * tests/parity/pictures.py.
 */
#include "base/mem.h"
#include "clip/draw.h"
#include "clip/transforms.h"

#include "tap.h"

enum { T = 3, SIDE = 24, BYTES = 3 * T * SIDE * SIDE, FRAME = BYTES / T };

static uint8_t clip[2][BYTES], room[FRAME];

/* Draw clip ${which}, random bytes that differ from frame to frame. */
static void
draw(uint8_t *to, int which)
{
	for (int i = 0; i < BYTES; i++)
		to[i] = (uint8_t)(rng_philox(5, (uint32_t)i, (uint32_t)which, 0,
		    0).w[0] >> 8);
}

/* ---- the beta distribution ---- */

/*
 * Compare quantiles where they have a closed form, and mean and variance of
 * many draws elsewhere.
 */
static void
test_beta(void)
{
	double worst = 0, sum = 0, square = 0;

	for (int i = 1; i < 200; i++) {
		double u = i / 200.0, x = transforms_beta_quantile(0.5, u);
		double s = sin(u * 3.14159265358979323846 / 2);
		double y = transforms_beta_quantile(2, u);

		worst = fmax(worst, fabs(transforms_beta_quantile(1, u) - u));
		worst = fmax(worst, fabs(x - s * s));
		worst = fmax(worst, fabs(3 * y * y - 2 * y * y * y - u));
	}
	near(worst, 0, 1e-9,
	    "quantiles of Beta(1, 1), (1/2, 1/2) and (2, 2) are exact");
	for (int i = 0; i < 20000; i++) {
		double x = transforms_beta_quantile(0.2, (i + 0.5) / 20000);

		sum += x / 20000;
		square += (x - 0.5) * (x - 0.5) / 20000;
	}
	near(sum, 0.5, 1e-6, "the mean of Beta(0.2, 0.2) is 1/2");
	near(square, 1 / (4 * (2 * 0.2 + 1)), 1e-4,
	    "the variance of Beta(0.2, 0.2) is 1 / (4 (2 a + 1))");
}

/* ---- mixing ---- */

static void
test_mixup(void)
{
	struct transforms e = { .mixup = 0.8 };
	static uint8_t a[BYTES], b[BYTES];
	double worst = 0, sum = 0;
	int cuts = 0;

	for (uint64_t g = 0; g < 400; g++) {
		struct mix m = transforms_mix_draw(&e, rng_clip(1, g), SIDE);
		double share = m.lambda / 32768.0;

		draw(a, 0);
		draw(b, 1);
		transforms_mix(&m, T, SIDE, 3, (uint8_t *[]){ a, b }, 2);
		cuts += m.cut;
		sum += share / 400;
		for (int i = 0; i < BYTES; i++) {
			worst = fmax(worst, fabs(a[i] - (share * clip[0][i] +
			    (1 - share) * clip[1][i])));
			worst = fmax(worst, fabs(b[i] - (share * clip[1][i] +
			    (1 - share) * clip[0][i])));
		}
	}
	ok(cuts == 0 && worst <= 0.5,
	    "MixUp: pixels are weighted means of two clips, rounded (%.3f)",
	    worst);
	near(sum, 0.5, 0.08, "MixUp: the mean share is 1/2");
}

static void
test_cutmix(void)
{
	struct transforms e = { .cutmix = 1 };
	static uint8_t a[BYTES], b[BYTES];
	int right = 0, shares = 0, inside = 0, cuts = 0, whole = 0;
	double sum = 0;

	for (uint64_t g = 0; g < 400; g++) {
		struct mix m = transforms_mix_draw(&e, rng_clip(1, g), SIDE);
		int same = 1;

		draw(a, 0);
		draw(b, 1);
		transforms_mix(&m, T, SIDE, 3, (uint8_t *[]){ a, b }, 2);
		for (int i = 0; i < BYTES; i++) {
			int x = i / 3 % SIDE, y = i / 3 / SIDE % SIDE;
			int in = x >= m.x && x < m.x + m.w && y >= m.y &&
			    y < m.y + m.h;

			same &= a[i] == clip[in][i] && b[i] == clip[!in][i];
		}
		right += same;
		cuts += m.cut;
		whole += m.w == 0 || m.h == 0;
		sum += m.lambda / 32768.0 / 400;
		shares += fabs(m.lambda / 32768.0 - (1 - (double)m.w * m.h /
		    (SIDE * SIDE))) < 1e-4;
		inside += m.x >= 0 && m.y >= 0 && m.w >= 0 && m.h >= 0 &&
		    m.x + m.w <= SIDE && m.y + m.h <= SIDE;
	}
	ok(right == 400 && cuts == 400,
	    "CutMix: two clips swap a box in every frame");
	is(shares, 400, "CutMix: the share is the area outside the box");
	is(inside, 400, "CutMix: no box leaves the frame");
	/* Boxes at the edge are clipped, so the mean share is above 1/2. */
	ok(sum > 0.5 && sum < 0.8 && whole < 40,
	    "CutMix: boxes at the edge are clipped (mean share %.3f)", sum);
	e.mixup = 1;
	cuts = 0;
	for (uint64_t g = 0; g < 2000; g++)
		cuts += transforms_mix_draw(&e, rng_clip(1, g), SIDE).cut;
	near(cuts, 1000, 4 * 23,
	    "MixUp and CutMix together: half of the clips each");
}

static void
test_partners(void)
{
	int good = 1;

	for (int n = 2; n < 10; n++)
		for (int i = 0; i < n; i++) {
			int ring[3], again[3], in = 0;
			int k = transforms_partners(i, n, ring);

			good &= k == (n % 2 == 1 && abs(2 * i + 1 - n) < 3 ? 3 :
			    2);
			for (int j = 0; j < k; j++) {
				in += ring[j] == i;
				good &= ring[j] >= 0 && ring[j] < n &&
				    (j == 0 || ring[j] > ring[j - 1]) &&
				    transforms_partners(ring[j], n, again) == k &&
				    memcmp(ring, again, (size_t)k *
				    sizeof(*ring)) == 0;
			}
			good &= in == 1 && (k == 3 || ring[0] + ring[1] ==
			    n - 1);
		}
	ok(good, "partners: each clip is mixed within its microbatch");
}

/* Three clips, each mixed with the next. */
static void
test_around(void)
{
	static uint8_t c[3][BYTES], was[3][BYTES];
	uint8_t *const all[] = { c[0], c[1], c[2] };
	struct transforms e = { .mixup = 0.8, .cutmix = 1 };
	int right = 0, cuts = 0;

	for (uint64_t g = 0; g < 200; g++) {
		struct mix m = transforms_mix_draw(&e, rng_clip(1, g), SIDE);
		double p = m.lambda / 32768.0;
		int same = 1;

		draw(c[0], 0);
		draw(c[1], 1);
		for (int i = 0; i < BYTES; i++)
			c[2][i] = (uint8_t)(c[0][i] * 3 + 50);
		memcpy(was, c, sizeof(was));
		transforms_mix(&m, T, SIDE, 3, all, 3);
		for (int i = 0; i < 3 * BYTES; i++) {
			int k = i / BYTES, j = i % BYTES, x = j / 3 % SIDE;
			int y = j / 3 / SIDE % SIDE, own = was[k][j];
			int next = was[(k + 1) % 3][j];
			int in = x >= m.x && x < m.x + m.w && y >= m.y &&
			    y < m.y + m.h;

			same &= m.cut ? c[k][j] == (in ? next : own) :
			    c[k][j] == (int)floor(p * own + (1 - p) * next +
			    0.5);
		}
		right += same;
		cuts += m.cut;
	}
	ok(right == 200 && cuts > 50 && cuts < 150, "three clips are each "
	    "mixed with the next (%d of 200, %d by CutMix)", right, cuts);
}

/* ---- one clip ---- */

static int
changes(const struct transforms *e, struct rng r, uint8_t *to)
{
	draw(to, 0);
	transforms_apply(e, r, T, SIDE, to, room);
	return memcmp(to, clip[0], BYTES) != 0;
}

static void
test_functions(void)
{
	static const struct transforms kinds[] = { { .ops = 2, .level = 9 },
		{ .jitter = { 0.4, 0.4, 0.4, 0.1 } }, { .erase = 1 },
		{ .ops = 1, .level = 30, .jitter = { 0, 0, 0.4, 0 },
		.erase = 0.5 } };
	static uint8_t a[BYTES], b[BYTES];
	struct transforms none = { .repeat = 4, .mixup = 1 };
	int same = 1, changed = 0, differ = 0;

	for (size_t k = 0; k < 4; k++)
		for (uint64_t g = 0; g < 200; g++) {
			struct rng r = rng_clip(3, g), other = rng_clip(3,
			    g + 1), seed = rng_clip(4, g);

			changed += changes(&kinds[k], r, a);
			rng_uniform(&r);	/* as if something was drawn
						 * before */
			changes(&kinds[k], r, b);
			same &= memcmp(a, b, BYTES) == 0;
			changes(&kinds[k], other, b);
			differ += memcmp(a, b, BYTES) != 0;
			changes(&kinds[k], seed, b);
			differ += memcmp(a, b, BYTES) != 0;
		}
	ok(same, "transforms depend only on seed and number");
	ok(changed > 700 && differ > 1400,
	    "transforms differ between numbers and between seeds");
	ok(transforms_none(&none) && transforms_mix_clips(&none) &&
	    !transforms_none(&kinds[0]) && !transforms_mix_clips(&kinds[0]),
	    "effects_none and effects_mixes see mixing only as mixing");
}

/*
 * Erasing fills a box with the same noise in each frame, and changes nothing
 * else.
 */
static void
test_erase(void)
{
	struct transforms e = { .erase = 0.25 };
	static uint8_t a[BYTES];
	int erased = 0, boxes = 0, still = 0, sizes = 0;

	for (uint64_t g = 0; g < 2000; g++) {
		int x0 = SIDE, y0 = SIDE, x1 = -1, y1 = -1, same = 1;
		double area;

		if (!changes(&e, rng_clip(1, g), a))
			continue;
		erased++;
		for (int i = 0; i < FRAME; i++) {
			int x = i / 3 % SIDE, y = i / 3 / SIDE;

			if (a[i] == clip[0][i] && a[i + FRAME] ==
			    clip[0][i + FRAME])
				continue;
			x0 = x < x0 ? x : x0;
			x1 = x > x1 ? x : x1;
			y0 = y < y0 ? y : y0;
			y1 = y > y1 ? y : y1;
		}
		area = (double)(x1 - x0 + 1) * (y1 - y0 + 1) / (SIDE * SIDE);
		sizes += area > 0.012 && area < 0.36;
		for (int y = y0; y <= y1; y++)
			for (int i = 3 * x0; i < 3 * x1 + 3; i++)
				for (int k = 1; k < T; k++)
					same &= a[3 * y * SIDE + i] ==
					    a[k * FRAME + 3 * y * SIDE + i];
		still += same;
		boxes++;
	}
	near(erased, 500, 4 * 20, "erase: a quarter of the clips is erased");
	is(still, boxes, "erase: the noise is the same in each frame");
	is(sizes, boxes, "erase: boxes cover 0.02 to 0.33 of the frame");
}

/* ---- transforms_print ---- */

/*
 * The names of torchvision in the order of enum color_op, then those of
 * jitter.
 */
static const char *const words[] = { "rand-identity", "rand-shear-x",
	"rand-shear-y", "rand-translate-x", "rand-translate-y", "rand-rotate",
	"rand-brightness", "rand-color", "rand-contrast", "rand-sharpness",
	"rand-posterize", "rand-solarize", "rand-autocontrast", "rand-equalize",
	"brightness", "saturation", "contrast", "hue" };
static const enum color_op jitters[] = { RAND_BRIGHTNESS, RAND_COLOR,
	RAND_CONTRAST, COLOR_HUE };

/*
 * Apply the transform that ${word} names.  The noise of a box is taken from
 * ${noise}.  Return 1 for a box, 0 for another transform, -1 if unknown.
 */
static int
do_word(char *word, uint8_t *to, const uint8_t *noise)
{
	char *value = strchr(word, '=');
	int x, y, w, h;

	if (value != NULL)
		*value++ = '\0';
	for (int i = 0; i < RAND_OPS + 4; i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		for (int k = 0; k < T; k++)
			color_apply(i < RAND_OPS ? (enum color_op)i :
			    jitters[i - RAND_OPS], value != NULL ?
			    strtod(value, NULL) : 0, SIDE, to + k * FRAME,
			    room);
		return 0;
	}
	if (strcmp(word, "erase") != 0 || value == NULL ||
	    sscanf(value, "%dx%d+%d+%d", &w, &h, &x, &y) != 4)
		return -1;
	for (int k = 0; k < T * h; k++) {
		size_t at = (size_t)(k / h * FRAME + (y + k % h) * 3 * SIDE +
		    3 * x);

		memcpy(to + at, noise + at, 3 * (size_t)w);
	}
	return 1;
}

static void
test_words(void)
{
	struct transforms e = { .ops = 2, .level = 20, .jitter = { 0.4, 0.3, 0.2,
		0.1 }, .erase = 0.5 };
	static uint8_t a[BYTES], b[BYTES];
	int right = 0, bad = 0, boxes = 0, counted = 0;

	for (uint64_t g = 0; g < 300; g++) {
		struct rng r = rng_clip(1, g);
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);
		int n = transforms_print(&e, r, SIDE, 0, f), done = 0;

		fclose(f);
		changes(&e, r, a);
		draw(b, 0);
		for (char *w = strtok(text, " "); w != NULL; done++) {
			int how = do_word(w, b, a);

			bad += how < 0;
			boxes += how == 1;
			w = strtok(NULL, " ");
		}
		right += memcmp(a, b, BYTES) == 0;
		counted += n == done;
		free(text);
	}
	is(bad, 0, "effects_tell: every word is known");
	is(counted, 300, "effects_tell returns the number of its words");
	ok(right == 300 && boxes > 100 && boxes < 200,
	    "effects_tell: its words reproduce the clip (%d of 300, %d boxes)",
	    right, boxes);
}

int
main(void)
{
	draw(clip[0], 0);
	draw(clip[1], 1);
	test_beta();
	test_mixup();
	test_cutmix();
	test_partners();
	test_around();
	test_functions();
	test_erase();
	test_words();
	return done();
}
