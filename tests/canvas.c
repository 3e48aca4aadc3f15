/*
 * Drawing: pixels where they belong, the same ones everywhere; scales; plots.
 */
#include "base/hash.h"
#include "media/canvas.h"
#include "media/font.h"
#include "media/plot.h"
#include "media/scale.h"

#include "tap.h"

static const struct ink white = { 255, 255, 255 }, black = { 0, 0, 0 };

static int
grey_at(const struct image *m, int x, int y)
{
	return m->data[(y * m->w + x) * 3];
}

/* How much ink a white picture has taken, in whole pixels. */
static double
ink_of(const struct image *m)
{
	double sum = 0;

	for (int i = 0; i < m->w * m->h; i++)
		sum += 255 - m->data[3 * i];
	return sum / 255;
}

static struct canvas *
blank(void)
{
	return canvas_new(60, 40, white);
}

/* End the canvas; its ink. */
static double
take_ink(struct canvas *c)
{
	struct image *m = canvas_take(c);
	double ink = ink_of(m);

	image_free(m);
	return ink;
}

static void
test_font(void)
{
	int empty = 0, twins = 0, wide = 0;

	for (int a = '!'; a <= '~'; a++) {
		int inked = 0;

		for (int y = 0; y < FONT_HEIGHT; y++) {
			for (int x = 0; x < FONT_WIDTH; x++)
				inked += font_ink((char)a, x, y);
			wide += font_ink((char)a, FONT_WIDTH - 1, y);
		}
		empty += inked == 0;
		for (int b = '!'; b < a; b++) {
			int differ = 0;

			for (int i = 0; i < FONT_WIDTH * FONT_HEIGHT; i++)
				differ += font_ink((char)a, i % FONT_WIDTH,
				    i / FONT_WIDTH) != font_ink((char)b,
				    i % FONT_WIDTH, i / FONT_WIDTH);
			twins += differ < 2;
		}
	}
	is(empty, 0, "every printable character has ink");
	is(twins, 0, "no two look alike");
	is(wide, 0, "and all leave the last column blank");
	ok(font_ink('\xc3', 1, 3) == font_ink('?', 1, 3),
	    "what is not printable is a question mark");
}

static void
test_shapes(void)
{
	static const struct point triangle[] = { { 10, 10 }, { 50, 10 },
		{ 30, 30 } };
	struct canvas *c = blank();
	struct image *m;

	canvas_line(c, (struct point){ 5, 10.5 }, (struct point){ 55, 10.5 }, 1,
	    black);
	m = canvas_take(c);
	ok(grey_at(m, 30, 10) == 0 && grey_at(m, 30, 9) == 255 &&
	    grey_at(m, 30, 11) == 255, "a level line fills its row alone");
	near(ink_of(m), 51, 1, "and is as long as it should be");
	image_free(m);

	c = blank();
	canvas_line(c, (struct point){ 5, 5 }, (struct point){ 45, 35 }, 3,
	    black);
	near(take_ink(c), 50 * 3 + 7, 4, "a slanted line of width 3 and length "
	    "50, with round ends");
	c = blank();
	canvas_area(c, triangle, 3, black);
	near(take_ink(c), 400, 2, "a triangle has half of base times height");
	c = blank();
	canvas_frame(c, 10, 10, 20, 10, 2, black);
	near(take_ink(c), 20 * 10 - 16 * 6, 0, "a frame lies inside");
	c = blank();
	canvas_clip(c, 10, 10, 5, 5);
	canvas_fill(c, -100, -100, 1000, 1000, black);
	canvas_line(c, (struct point){ -1e30, 2 }, (struct point){ 1e30, 1e9 },
	    4, black);
	near(take_ink(c), 25, 0, "nothing is drawn outside the clip");
	for (int i = 0; i < 7; i++) {
		double size;

		c = blank();
		canvas_mark(c, (struct point){ 30, 20 }, 10, i, black);
		size = take_ink(c);
		ok(size > 30 && size < 90, "mark %d covers %.0f pixels", i,
		    size);
	}
}

/* Dashes go on around a corner: cutting a line in two changes nothing. */
static void
test_dashes(void)
{
	static const struct point whole[] = { { 2, 20 }, { 58, 20 } };
	static const struct point parts[] = { { 2, 20 }, { 11.3, 20 },
		{ 11.3, 20 }, { 40, 20 }, { 58, 20 } };
	double dash[8];
	int same = 1, broken = 1;

	for (int i = 1; i < 7; i++) {
		struct canvas *a = blank(), *b = blank(), *c = blank();
		double drawn;

		canvas_path(a, whole, 2, 1, canvas_dash(i, 1, dash), black);
		canvas_path(b, parts, 5, 1, canvas_dash(i, 1, dash), black);
		canvas_path(c, whole, 2, 1, NULL, black);
		drawn = take_ink(a);
		same &= fabs(take_ink(b) - drawn) < 2;
		broken &= drawn < 0.95 * take_ink(c);
	}
	ok(same, "dashes run on from line to line");
	ok(broken, "and leave gaps");
	ok(canvas_dash(0, 1, dash) == NULL, "number 0 is unbroken");
}

static void
test_text(void)
{
	static const char *const held[] = { "left", "middle", "right" };
	struct text_style s = { 1, TEXT_LEFT, 0, 0, { 0, 0, 0 } };
	double thin;
	char *fit;

	for (int h = 0; h < 3; h++) {
		struct canvas *c = blank();
		struct image *m;
		int left = 60, right = 0;

		s.hold = (enum text_hold)h;
		canvas_text(c, 30, 20, "HH", &s);
		m = canvas_take(c);
		for (int y = 0; y < 40; y++)
			for (int x = 0; x < 60; x++)
				if (grey_at(m, x, y) < 255) {
					left = x < left ? x : left;
					right = x > right ? x : right;
				}
		ok(left == (h == 0 ? 30 : h == 1 ? 25 : 19) &&
		    right == left + 10, "text is held at its %s", held[h]);
		ok(grey_at(m, left, 16) == 0 && grey_at(m, left, 24) == 0 &&
		    grey_at(m, left, 15) == 255 && grey_at(m, left, 25) == 255,
		    "and in the middle of its capitals");
		image_free(m);
	}
	s.hold = TEXT_LEFT;
	for (int size = 1; size <= 3; size++) {
		struct canvas *c = canvas_new(200, 60, white);

		s.size = size;
		s.bold = 0;
		canvas_text(c, 5, 30, "Text 123", &s);
		thin = take_ink(c);
		c = canvas_new(200, 60, white);
		s.bold = 1;
		canvas_text(c, 5, 30, "Text 123", &s);
		ok(take_ink(c) > 1.2 * thin, "size %d: bold has more ink", size);
		ok(thin > 90 * size * size && thin < 140 * size * size,
		    "and enlarged strokes keep their weight: %.0f", thin);
	}
	s = (struct text_style){ 2, TEXT_LEFT, 0, 1, { 0, 0, 0 } };
	{
		struct canvas *c = canvas_new(60, 100, white);
		struct image *m;
		int same = 1;

		canvas_text(c, 30, 90, "up", &s);
		m = canvas_take(c);
		s.turned = 0;
		c = canvas_new(100, 60, white);
		canvas_text(c, 10, 30, "up", &s);
		{
			struct image *n = canvas_take(c);

			for (int y = 0; y < 60; y++)
				for (int x = 0; x < 100; x++)
					same &= grey_at(n, x, y) ==
					    grey_at(m, y, 99 - x);
			image_free(n);
		}
		ok(same, "turned text is the same text, turned");
		image_free(m);
	}
	is(canvas_text_width("abc", 2), 34, "the width of a text");
	fit = canvas_text_fit("a long name", 1, 41);
	is_text(fit, "a lo...", "a text cut to a width");
	free(fit);
	fit = canvas_text_fit("a long name", 1, 65);
	is_text(fit, "a long name", "a text that just fits");
	free(fit);
	fit = canvas_text_fit("a long name", 1, 12);
	is_text(fit, "..", "a width that is next to nothing");
	free(fit);
}

static void
test_colours(void)
{
	int darker = 1, last = 999;

	for (int i = 0; i <= 100; i++) {
		struct ink k = canvas_heat(i / 100.0);
		int grey = (299 * k.r + 587 * k.g + 114 * k.b) / 1000;

		darker &= grey < last;
		last = grey;
	}
	ok(darker, "the heat scale grows darker at every step");
	ok(canvas_heat(-1).r == 255 && canvas_heat(2).r == canvas_heat(1).r,
	    "and stops at its ends");
	ok(canvas_dark(canvas_heat(1)) && !canvas_dark(canvas_heat(0)),
	    "white text goes on dark ground only");
}

/* ---- scales ---- */

static void
ticks_are(double min, double max, int log, int most, const char *want)
{
	struct scale s = { min, max, log };
	struct tick tick[SCALE_TICKS];
	int n = scale_ticks(&s, most, tick), inside = 1;
	char got[512] = "";

	for (int i = 0; i < n; i++) {
		double at = scale_place(&s, tick[i].value);

		inside &= at > -1e-6 && at < 1 + 1e-6;
		strcat(strcat(got, i > 0 ? " " : ""), tick[i].text);
	}
	is_text(got, want, "ticks");
	if (!inside)
		ok(0, "ticks lie within the scale");
}

static void
test_scales(void)
{
	struct scale s;

	ticks_are(0, 358, 0, 9, "0 50 100 150 200 250 300 350");
	ticks_are(0, 1, 0, 6, "0 0.2 0.4 0.6 0.8 1.0");
	ticks_are(-0.013, 0.007, 0, 6, "-0.010 -0.005 0 0.005");
	ticks_are(3.2, 3.4, 0, 4, "3.2 3.3 3.4");
	ticks_are(0, 7e6, 0, 5, "0 2e6 4e6 6e6");
	ticks_are(0, 2.5e-5, 0, 6, "0 5e-6 1e-5 1.5e-5 2e-5 2.5e-5");
	ticks_are(1e-5, 1, 10, 6, "1e-5 0.0001 0.001 0.01 0.1 1");
	ticks_are(1e-9, 1, 10, 5, "1e-8 1e-6 0.0001 0.01 1");
	ticks_are(0.9, 60, 10, 9, "1 2 5 10 20 50");
	ticks_are(60, 1100, 2, 6, "64 128 256 512 1024");
	near(scale_place(&(struct scale){ 1, 8, 2 }, 2), 1.0 / 3, 1e-12,
	    "a logarithm from arithmetic alone");
	near(scale_place(&(struct scale){ 1e-3, 1e3, 10 }, 1), 0.5, 1e-12,
	    "in decades too");
	s = scale_fit(5, 5, 0, 1);
	ok(s.min < 5 && s.max > 5, "one value has room around it");
	s = scale_fit(0, 0, 0, 1);
	ok(s.min < 0 && s.max > 0, "even 0");
	s = scale_fit(0.1, 2, 0, 1);
	ok(s.min == 0 && s.max > 2, "a range that nearly begins at 0 does");
	s = scale_fit(0.1, 0.1, 10, 1);
	ok(s.min < 0.1 && s.max > 0.1, "one value on a logarithm");
}

/* ---- whole pictures ---- */

static struct image *
curves(void)
{
	static double x[50], up[50], gap[50];
	struct plot_series s[] = { { "up", 50, x, up, PLOT_LINE, 0 },
		{ "steps", 50, x, gap, PLOT_STEPS, 1 },
		{ "marks", 50, x, gap, PLOT_MARKS, 2 } };
	struct plot_panel panel[] = { { { "one", 0, 0, 0 }, s, 3 },
		{ { "two", 0, 0, 10 }, s, 2 }, { { "none", 0, 0, 0 }, s, 0 },
		{ { "far", 1, 2, 0 }, s, 1 } };
	static const double rule[] = { 10, 20 };

	for (int i = 0; i < 50; i++) {
		x[i] = i;
		up[i] = i < 40 ? i * i : 1e300;
		gap[i] = i % 10 == 3 ? NAN : i % 10 == 4 ? -1 : i % 10;
	}
	return plot_draw(&(struct plot){ "title", "note", 800, 700,
	    { "x", 0, 0, 0 }, rule, 2, panel, 4 });
}

static struct image *
heat(int n, int named)
{
	static const char *const name[] = { "one", "two",
		"a rather long name for a class of this kind" };
	static double value[60 * 60];
	struct plot_heat h = { .title = "title", .row_label = "true",
		.column_label = "said", .row = named ? name : NULL,
		.column = named ? name : NULL, .rows = n, .columns = n,
		.value = value, .digits = 1, .unit = "%" };

	for (int i = 0; i < n * n; i++)
		value[i] = i % (n + 1) == 0 ? 90.5 : i % 3;
	return plot_heat(&h);
}

static struct image *
sheet(void)
{
	struct image *small = image_new(20, 10, 1), *large = image_new(30, 40, 3);
	struct plot_thumb t[] = { { small, "right", "0.9", 1 },
		{ large, "wrong and longer than the picture", NULL, 2 },
		{ small, NULL, NULL, 0 }, { large, NULL, "note", 0 } };
	struct image *m = plot_sheet(&(struct plot_sheet){ "title", NULL, t, 4,
	    3, 2 });

	image_free(small);
	image_free(large);
	return m;
}

static void
check_picture(const char *what, struct image *a, struct image *b)
{
	double ink = ink_of(a) / (a->w * a->h);

	ok(a->w == b->w && a->h == b->h && memcmp(a->data, b->data, (size_t)
	    (a->w * a->h * 3)) == 0, "%s: twice the same", what);
	ok(ink > 0.005 && ink < 0.6, "%s: %d x %d, %.1f %% ink", what, a->w,
	    a->h, 100 * ink);
	for (int x = 0; x < a->w; x++)
		if (grey_at(a, x, 0) != 255 || grey_at(a, x, a->h - 1) != 255) {
			ok(0, "%s: a margin all around", what);
			break;
		}
	image_free(a);
	image_free(b);
}

/* The picture as bits, which must be the same on every machine. */
static void
test_digest(void)
{
	struct canvas *c = canvas_new(300, 200, white);
	struct point wave[60];
	struct text_style s = { 2, TEXT_MIDDLE, 1, 0, { 40, 0, 90 } };
	double dash[8];
	struct image *m;
	uint64_t digest;

	for (int i = 0; i < 60; i++)
		wave[i] = (struct point){ 5 * i, 100 + (i % 9) * (i % 7) };
	for (int i = 0; i < 7; i++) {
		canvas_path(c, wave, 60, 1 + i / 3.0, canvas_dash(i, 2, dash),
		    canvas_palette(i));
		canvas_mark(c, (struct point){ 30.3 * i + 9, 40.7 }, 13, i,
		    canvas_palette(i));
	}
	canvas_area(c, wave, 9, canvas_heat(0.37));
	canvas_text(c, 150, 20, "The same bits", &s);
	m = canvas_take(c);
	digest = hash64(m->data, 300 * 200 * 3);
	if (!ok(digest == 0x3faae9654640a9ff,
	    "a drawing of everything has the bits it always had"))
		diag("%016llx", (unsigned long long)digest);
	image_free(m);
}

int
main(void)
{
	test_font();
	test_shapes();
	test_dashes();
	test_text();
	test_colours();
	test_scales();
	check_picture("curves", curves(), curves());
	check_picture("a named matrix", heat(3, 1), heat(3, 1));
	check_picture("a matrix without names", heat(60, 0), heat(60, 0));
	check_picture("a sheet", sheet(), sheet());
	test_digest();
	return done();
}
