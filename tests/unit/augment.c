/* Which part of the image a clip shows. */
#include "base/file.h"
#include "base/table.h"
#include "clip/augment.h"

#include "tap.h"

/* Is "0,0 0,44 ..." (distinct, ascending) what crop_places gives? */
static int
same_places(const char *text, int64_t distinct, int place[CROP_PLACES][2])
{
	int seen[CROP_PLACES] = { 0 };
	int64_t found = 0;

	for (const char *p = text; *p != '\0'; found++) {
		char *end;
		int x = (int)strtol(p, &end, 10);
		int y = (int)strtol(end + 1, &end, 10), hits = 0;

		for (int i = 0; i < CROP_PLACES; i++)
			if (place[i][0] == x && place[i][1] == y)
				hits += seen[i] = 1;
		if (hits == 0)
			return 0;
		p = end + (*end == ' ');
	}
	for (int i = 0; i < CROP_PLACES; i++)
		if (!seen[i])
			return 0;
	return found == distinct;
}

static void
test_multiscale_golden(void)
{
	struct table *g = table_read(golden_path("geom_tsm_multiscale_crop.tsv"));
	int sizes = 0, places = 0;

	for (size_t r = 0; r < g->rows; r++) {
		int pair[CROP_SIZES][2], place[CROP_PLACES][2], n, found = 0;
		int64_t w = 0, h = 0, cw = 0, ch = 0, distinct = 0;

		table_int(g, r, "in_w", 1, 9999, &w);
		table_int(g, r, "in_h", 1, 9999, &h);
		table_int(g, r, "crop_w", 1, 9999, &cw);
		table_int(g, r, "crop_h", 1, 9999, &ch);
		table_int(g, r, "n_distinct_offsets", 1, 13, &distinct);
		n = crop_sizes((int)w, (int)h, 224, pair);
		for (int i = 0; i < n; i++)
			found += pair[i][0] == cw && pair[i][1] == ch;
		sizes += found == 1;
		crop_places((int)w, (int)h, (int)cw, (int)ch, place);
		places += same_places(table_text(g, r, "offsets_x,y"),
		    distinct, place);
	}
	is(g->rows % CROP_SIZES, 0, "ten pairs a image");
	is(sizes, (long long)g->rows, "each pair of sizes as published, once");
	is(places, (long long)g->rows, "places as published");
	table_free(g);
}

static void
test_three_golden(void)
{
	struct table *g = table_read(golden_path("geom_tsm_3crop_offsets.tsv"));
	const char *column = "order: left right center (x,y)";
	int good = 0;

	for (size_t r = 0; r < g->rows; r++) {
		int64_t w = 0, h = 0, side = 0;
		char got[128], *p = got;
		static const char *const name[] = { "left", "right", "center" };

		table_int(g, r, "scaled_w", 1, 9999, &w);
		table_int(g, r, "scaled_h", 1, 9999, &h);
		table_int(g, r, "crop", 1, 9999, &side);
		for (int v = 0; v < 3; v++) {
			struct crop c = crop_test(VIEW_TSM, (int)w, (int)h,
			    (int)side, v, 3, side == h);

			p += sprintf(p, "%s%s %g,%g", v > 0 ? " " : "",
			    name[v], c.x, c.y);
			if (c.w != side || c.h != side || c.flip)
				sprintf(p, " of another size");
		}
		good += strcmp(got, table_text(g, r, column)) == 0;
		if (strcmp(got, table_text(g, r, column)) != 0)
			diag("got %s, wanted %s", got,
			    table_text(g, r, column));
	}
	is(good, (long long)g->rows, "three crops as published");
	table_free(g);
}

static int
inside(struct crop c, int w, int h)
{
	return c.w > 0 && c.h > 0 && c.x >= 0 && c.y >= 0 &&
	    c.x + c.w <= w * (1 + 1e-12) && c.y + c.h <= h * (1 + 1e-12);
}

/* How many of the two rules' crops at some sides are. */
static int
outside(int w, int h, int view, int views, int full)
{
	static const int sides[] = { 1, 112, 158, 224 };
	int bad = 0;

	for (int r = VIEW_TSM; r <= VIEW_PYSLOWFAST; r++)
		for (int i = 0; i < 4 && crop_test_known(r, views); i++)
			bad += !inside(crop_test((enum view_rule)r, w, h,
			    sides[i], view, views, full), w, h);
	return bad;
}

static void
test_bounds(void)
{
	struct crop_options o = crop_usual;

	static const int views[] = { 1, 3, 5, 10 };
	static const int sides[] = { 1, 7, 112, 158, 222, 224, 256 };
	int bad = 0;

	for (int w = 1; w < 400; w += w < 12 ? 1 : 23)
		for (int h = 1; h < 400; h += h < 12 ? 1 : 23) {
			for (size_t k = 0; k < 4; k++)
				for (int v = 0; v < views[k]; v++)
					for (int full = 0; full < 2; full++)
						bad += outside(w, h, v,
						    views[k], full);
			for (uint64_t g = 0; g < 70; g++)
				for (int r = 0; r <= CROP_CENTRE; r++) {
					o.rule = (enum crop_rule)r;
					o.inverse = g & 1;
					bad += !inside(crop_train(&o, w, h,
					    sides[g % 7], rng_clip(1, g)), w, h);
				}
		}
	is(bad, 0, "every crop of every image lies inside it");
	bad = 0;
	for (int w = 1; w < 30; w++)
		bad += crop_test_known(VIEW_TSM, w) != (w == 1 || w == 3 ||
		    w == 5 || w == 10) || crop_test_known(VIEW_PYSLOWFAST, w) !=
		    (w == 1 || w == 3);
	is(bad, 0, "1, 3, 5 and 10 crops are known, PySlowFast's 1 and 3");
}

static void
test_views(void)
{
	struct crop a = crop_test(VIEW_TSM, 340, 256, 224, 0, 1, 0);
	struct crop b = crop_test(VIEW_TSM, 256, 340, 224, 0, 3, 0);
	struct crop c = crop_test(VIEW_TSM, 256, 340, 224, 1, 3, 0);
	struct crop d = crop_test(VIEW_TSM, 340, 256, 224, 3, 10, 0);
	struct crop e = crop_test(VIEW_TSM, 340, 256, 224, 8, 10, 0);

	ok(a.x == 58 && a.y == 16 && a.w == 224 && a.h == 224 && !a.flip,
	    "the centre of 340x256");
	ok(b.x == 16 && b.y == 0 && c.x == 16 && c.y == 116,
	    "an upright image gives top and bottom");
	ok(d.x == 116 && d.y == 32 && !d.flip, "a corner");
	ok(e.x == d.x && e.y == d.y && e.flip, "and its mirror image");
	/* 341 to 256 makes it 341 wide, and half of 117 is 58. */
	a = crop_test(VIEW_TSM, 455, 341, 224, 0, 1, 0);
	ok(fabs(a.w - 224 * 455.0 / 341) < 1e-9 &&
	    fabs(a.x - 58 * 455.0 / 341) < 1e-9 && a.y == 16 * 341.0 / 256,
	    "halves round to even, as published");
	a = crop_test(VIEW_TSM, 340, 256, 112, 0, 1, 0);
	ok(a.x == 58 && a.y == 16 && a.w == 224 && a.h == 224,
	    "half the side shows the same");
}

/* What is drawn, and how often. */
static void
test_draws(void)
{
	enum { N = 26000 };
	const struct crop_options still = { .rule = CROP_CENTRE };
	int flips = 0, whole = 0, seen = 0, pair[CROP_SIZES][2];
	int places[CROP_PLACES][2], at[CROP_PLACES] = { 0 }, low = N, high = 0;
	int unflipped = 0, centred = 0, n = crop_sizes(340, 256, 224, pair);

	is(n, CROP_SIZES, "ten pairs of sizes");
	for (uint64_t g = 0; g < N; g++) {
		struct crop c = crop_train(&crop_usual, 340, 256, 224,
		    rng_clip(1, g));
		struct crop d = crop_train(&still, 340, 256, 224,
		    rng_clip(1, g));
		int known = 0;

		flips += c.flip;
		whole += c.w == 256 && c.h == 256;
		for (int i = 0; i < n; i++)
			known += c.w == pair[i][0] && c.h == pair[i][1];
		seen += known == 1;
		crop_places(340, 256, 168, 168, places);
		for (int i = 0; i < CROP_PLACES && c.w == 168 && c.h == 168; i++)
			at[i] += places[i][0] == c.x && places[i][1] == c.y;
		unflipped += d.flip == 0;
		centred += d.x == 58 && d.y == 16 && d.w == 224;
	}
	is(seen, N, "every crop has one of the ten sizes");
	near(flips, N / 2.0, 4 * 81, "half are mirrored");
	near(whole, N / 10.0, 4 * 49, "a tenth are the whole short side");
	for (int i = 0; i < CROP_PLACES; i++) {
		low = at[i] < low ? at[i] : low;
		high = at[i] > high ? at[i] : high;
	}
	ok(low > 140 && high < 260, "all 13 places are drawn alike (200 each: "
	    "%d to %d)", low, high);
	ok(unflipped == N && centred == N, "the centre rule draws nothing");
	crop_sizes(400, 222, 224, pair);
	ok(pair[0][0] == 222 && pair[0][1] == 222,
	    "no size is larger than the image");
}

/* ---- PySlowFast's ---- */

static int
number(const struct table *g, size_t r, const char *name)
{
	int64_t v = -1;

	table_int(g, r, name, 0, 9999, &v);
	return (int)v;
}

/* A crop of the scaled frame, in whole pixels of that. */
static int
is_at(struct crop c, int w, int h, const int to[2], int x, int y, int side)
{
	double across = (double)w / to[0], down = (double)h / to[1];

	return fabs(c.x - x * across) + fabs(c.y - y * down) +
	    fabs(c.w - side * across) + fabs(c.h - side * down) < 1e-9;
}

static void
test_uniform_golden(void)
{
	struct table *g = table_read(golden_path(
	    "geom_psf_resize_uniform_crop.tsv"));
	int sizes = 0, places = 0, asked = 0;

	for (size_t r = 0; r < g->rows; r++) {
		int w = number(g, r, "in_w"), h = number(g, r, "in_h"), to[2];
		int size = number(g, r, "short_side"), view;
		int side = number(g, r, "crop");
		int full = side == size;

		crop_scaled(VIEW_PYSLOWFAST, w, h, size, to);
		sizes += to[0] == number(g, r, "out_w") &&
		    to[1] == number(g, r, "out_h");
		view = number(g, r, "spatial_idx");
		/* Crops of 256 of 320 are no view of ours. */
		if (!full && size != (int)lrint(side * 256 / 224.0))
			continue;
		asked++;
		places += is_at(crop_test(VIEW_PYSLOWFAST, w, h, side, view, 3,
		    full), w, h, to, number(g, r, "x0"), number(g, r, "y0"),
		    side);
		if (view == 1)
			places -= !is_at(crop_test(VIEW_PYSLOWFAST, w, h, side,
			    0, 1, full), w, h, to, number(g, r, "x0"),
			    number(g, r, "y0"), side);
	}
	is(sizes, (long long)g->rows, "short sides as PySlowFast has them");
	ok(places == asked && asked > 100, "and its crops (%d of %d)", places,
	    asked);
	table_free(g);
}

/* The lengths that its datasets were asked for, shape by shape. */
static void
test_jitter_golden(const char *name)
{
	struct table *g = table_read(golden_path(name));
	struct crop_options o = crop_usual;
	int published = 0, repaired = 0;

	for (size_t r = 0; r < g->rows; r++) {
		int side = number(g, r, "crop"), low, high;

		o.rule = CROP_JITTER_UPSTREAM;
		crop_jitter(&o, side, &low, &high);
		published += low == number(g, r, "min_scale") &&
		    high == number(g, r, "max_scale");
		o.rule = CROP_JITTER;
		crop_jitter(&o, side, &low, &high);
		repaired += low == number(g, r, "min_scale") &&
		    high == (int)lrint(320 * side / 224.0);
	}
	is(published, (long long)g->rows, name);
	is(repaired, (long long)g->rows, "in proportion, where it is repaired");
	table_free(g);
}

/* Which lengths and places are drawn, and how often. */
static void
test_jitter(void)
{
	enum { N = 20000 };
	struct crop_options o = crop_usual;
	double mean[2] = { 0 };
	int least = 999, most = 0, last[2] = { 0 };

	for (int k = 0; k < 4; k++)
		for (uint64_t g = 0; g < N; g++) {
			struct crop c;
			int size;

			o.rule = k & 1 ? CROP_JITTER_UPSTREAM : CROP_JITTER;
			o.inverse = k >> 1;
			c = crop_train(&o, 256, 256, 224, rng_clip(2, g));
			size = (int)lrint(224 * 256 / c.w);
			least = size < least ? size : least;
			most = size > most ? size : most;
			mean[k >> 1] += size / (2.0 * N);
			last[k & 1] += fabs(c.x + c.w - 256) < 1e-9;
		}
	ok(least == 256 && most == 320, "lengths of 256 to 320 (%d to %d)",
	    least, most);
	near(mean[0], 288, 0.5, "evenly");
	/* The mean of 1 / x over [1/320, 1/256]. */
	near(mean[1], log(320 / 256.0) / (1 / 256.0 - 1 / 320.0), 0.5,
	    "or evenly in one over the length");
	ok(last[1] == 0 && last[0] > N / 50,
	    "the last place is drawn, but not upstream");
}

static void
test_resized(void)
{
	enum { N = 20000 };
	struct crop_options o = crop_usual;
	double area = 0, low = 1, high = 0, thin = 9, wide = 0;
	struct crop c;

	o.rule = CROP_RESIZED;
	for (uint64_t g = 0; g < N; g++) {
		double part, ratio;

		c = crop_train(&o, 320, 320, 224, rng_clip(2, g));
		part = c.w * c.h / (320 * 320);
		ratio = c.w / c.h;
		area += part / N;
		low = part < low ? part : low;
		high = part > high ? part : high;
		thin = ratio < thin ? ratio : thin;
		wide = ratio > wide ? ratio : wide;
	}
	ok(low > 0.078 && low < 0.09 && high > 0.95, "parts of %.3f to %.3f", low,
	    high);
	/* Large ones that do not fit are drawn again. */
	ok(area > 0.45 && area < 0.54, "evenly (%.3f)", area);
	ok(thin > 0.73 && thin < 0.76 && wide > 1.32 && wide < 1.36,
	    "ratios of 3/4 to 4/3 (%.3f to %.3f)", thin, wide);
	o.area = 1;
	c = crop_train(&o, 400, 100, 224, rng_clip(2, 1));
	ok(c.w == 133 && c.h == 100 && c.x == 133 && c.y == 0,
	    "where none fits, the middle");
}

int
main(void)
{
	test_multiscale_golden();
	test_three_golden();
	test_uniform_golden();
	test_jitter_golden("psf_k400_slowfast_8x8_r50_stepwise_multigrid"
	    ".shortcycle.tsv");
	test_jitter_golden("psf_ssv2_slowfast_16x8_r50_multigrid"
	    ".shortcycle.tsv");
	test_jitter_golden("psf_k400_1gpu_b8.shortcycle.tsv");
	test_jitter();
	test_resized();
	test_bounds();
	test_views();
	test_draws();
	return done();
}
