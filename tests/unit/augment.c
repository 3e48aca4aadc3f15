/*
 * The crops of a clip, for training and for tests: sizes and places agree with
 * tables of TSM and PySlowFast, and random crops have the specified
 * distributions.
 */
#include "base/file.h"
#include "base/table.h"
#include "clip/augment.h"

#include "tap.h"

/*
 * Return 1 if ${place} holds exactly the places in ${text}, "0,0 0,44 ...".
 * They are distinct, in ascending order, ${distinct} in number.
 */
static int
same_places(const char *text, int64_t distinct, int place[CROP_POSITIONS][2])
{
	int seen[CROP_POSITIONS] = { 0 };
	int64_t found = 0;

	for (const char *p = text; *p != '\0'; found++) {
		char *end;
		int x = (int)strtol(p, &end, 10);
		int y = (int)strtol(end + 1, &end, 10), hits = 0;

		for (int i = 0; i < CROP_POSITIONS; i++)
			if (place[i][0] == x && place[i][1] == y)
				hits += seen[i] = 1;
		if (hits == 0)
			return 0;
		p = end + (*end == ' ');
	}
	for (int i = 0; i < CROP_POSITIONS; i++)
		if (!seen[i])
			return 0;
	return found == distinct;
}

static void
test_multiscale_golden(void)
{
	struct table *g = table_read(golden_path("geom_tsm_multiscale_crop.tsv"));
	int sizes = 0, positions = 0;

	for (size_t r = 0; r < g->rows; r++) {
		int pair[CROP_SIZES_MAX][2], place[CROP_POSITIONS][2], n, found = 0;
		int64_t w = 0, h = 0, cw = 0, ch = 0, distinct = 0;

		table_int(g, r, "in_w", 1, 9999, &w);
		table_int(g, r, "in_h", 1, 9999, &h);
		table_int(g, r, "crop_w", 1, 9999, &cw);
		table_int(g, r, "crop_h", 1, 9999, &ch);
		table_int(g, r, "n_distinct_offsets", 1, 13, &distinct);
		n = crop_sizes(&crop_defaults, (int)w, (int)h, 224, pair);
		for (int i = 0; i < n; i++)
			found += pair[i][0] == cw && pair[i][1] == ch;
		sizes += found == 1;
		crop_positions((int)w, (int)h, (int)cw, (int)ch, place);
		positions += same_places(table_text(g, r, "offsets_x,y"),
		    distinct, place);
	}
	is(g->rows % 10, 0,
	    "TSM: the table has ten pairs of sizes per image");
	is(sizes, (long long)g->rows,
	    "TSM: each published pair of sizes occurs once");
	is(positions, (long long)g->rows,
	    "TSM: crops are at the published places");
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
	is(good, (long long)g->rows,
	    "TSM: three test crops are at the published places");
	table_free(g);
}

static int
inside(struct crop c, int w, int h)
{
	return c.w > 0 && c.h > 0 && c.x >= 0 && c.y >= 0 &&
	    c.x + c.w <= w * (1 + 1e-12) && c.y + c.h <= h * (1 + 1e-12);
}

/*
 * Count the test crops of both rules, at some sides, that are not inside the
 * image.
 */
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
	struct crop_options o = crop_defaults;

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
				for (int r = 0; r <= CROP_CENTER; r++) {
					o.rule = (enum crop_rule)r;
					o.inverse = g & 1;
					bad += !inside(crop_train(&o, w, h,
					    sides[g % 7], rng_clip(1, g)), w, h);
				}
		}
	is(bad, 0, "every crop of every image is inside it");
	bad = 0;
	for (int w = 1; w < 30; w++)
		bad += crop_test_known(VIEW_TSM, w) != (w == 1 || w == 3 ||
		    w == 5 || w == 10) || crop_test_known(VIEW_PYSLOWFAST, w) !=
		    (w == 1 || w == 3);
	is(bad, 0, "TSM has 1, 3, 5 and 10 test crops, PySlowFast 1 and 3");
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
	    "one TSM crop of 340x256 is in the centre");
	ok(b.x == 16 && b.y == 0 && c.x == 16 && c.y == 116,
	    "three TSM crops of an upright image are left, right and centre "
	    "along its height");
	ok(d.x == 116 && d.y == 32 && !d.flip, "crop 3 of 10 is at a corner");
	ok(e.x == d.x && e.y == d.y && e.flip,
	    "crop 8 of 10 is crop 3 mirrored");
	/*
	 * Scaling the height 341 to 256 gives width 341; half of 117, 58.5,
	 * rounds to 58.
	 */
	a = crop_test(VIEW_TSM, 455, 341, 224, 0, 1, 0);
	ok(fabs(a.w - 224 * 455.0 / 341) < 1e-9 &&
	    fabs(a.x - 58 * 455.0 / 341) < 1e-9 && a.y == 16 * 341.0 / 256,
	    "half pixels round to even, as in TSM");
	a = crop_test(VIEW_TSM, 340, 256, 112, 0, 1, 0);
	ok(a.x == 58 && a.y == 16 && a.w == 224 && a.h == 224,
	    "half the crop side shows the same region");
}

/* Distribution of the random crops over sizes, places and flips. */
static void
test_draws(void)
{
	enum { N = 26000 };
	const struct crop_options still = { .rule = CROP_CENTER };
	int flips = 0, whole = 0, seen = 0, pair[CROP_SIZES_MAX][2];
	int positions[CROP_POSITIONS][2], at[CROP_POSITIONS] = { 0 }, low = N, high = 0;
	int unflipped = 0, centerd = 0, n = crop_sizes(&crop_defaults, 340, 256, 224, pair);

	is(n, 10, "crop_sizes gives ten pairs of sizes");
	for (uint64_t g = 0; g < N; g++) {
		struct crop c = crop_train(&crop_defaults, 340, 256, 224,
		    rng_clip(1, g));
		struct crop d = crop_train(&still, 340, 256, 224,
		    rng_clip(1, g));
		int known = 0;

		flips += c.flip;
		whole += c.w == 256 && c.h == 256;
		for (int i = 0; i < n; i++)
			known += c.w == pair[i][0] && c.h == pair[i][1];
		seen += known == 1;
		crop_positions(340, 256, 168, 168, positions);
		for (int i = 0; i < CROP_POSITIONS && c.w == 168 && c.h == 168; i++)
			at[i] += positions[i][0] == c.x && positions[i][1] == c.y;
		unflipped += d.flip == 0;
		centerd += d.x == 58 && d.y == 16 && d.w == 224;
	}
	is(seen, N, "every random crop has one of the ten sizes");
	near(flips, N / 2.0, 4 * 81, "half of the random crops are mirrored");
	near(whole, N / 10.0, 4 * 49,
	    "a tenth of the random crops have the whole short side");
	for (int i = 0; i < CROP_POSITIONS; i++) {
		low = at[i] < low ? at[i] : low;
		high = at[i] > high ? at[i] : high;
	}
	ok(low > 140 && high < 260,
	    "all 13 places are equally likely (200 each: %d to %d)", low, high);
	ok(unflipped == N && centerd == N,
	    "the centre rule neither moves nor mirrors a crop");
	crop_sizes(&crop_defaults, 400, 222, 224, pair);
	ok(pair[0][0] == 222 && pair[0][1] == 222,
	    "no crop size is larger than the image");
}

/* The values of MMAction2 for I3D: scales 1 and 0.8, squares, 5 positions. */
static void
test_scales(void)
{
	struct crop_options o = crop_defaults;
	int whole = 0, seen = 0, corners = 0, center = 0;

	ok(crop_parse_scales("1,0", &o) != 0 && crop_parse_scales("1,,1", &o) !=
	    0 && crop_parse_scales("1,1,1,1,1,1,1,1,1", &o) != 0,
	    "scales: a 0, an empty one and nine are refused");
	ok(crop_parse_scales("1,0.8", &o) == 0 && o.scales == 2, "two scales");
	o.distort = 0;
	o.positions = 5;
	for (uint64_t g = 0; g < 2000; g++) {
		struct crop c = crop_train(&o, 340, 256, 224, rng_clip(1, g));

		whole += c.w == 256 && c.h == 256;
		seen += c.w == c.h && (c.w == 256 || c.w == 204);
		/* A quarter of the free space is (340 - 204) / 4 = 34 across
		 * and (256 - 204) / 4 = 13 down. */
		corners += c.w == 204 && (c.x == 0 || c.x == 136) &&
		    (c.y == 0 || c.y == 52);
		center += c.w == 204 && c.x == 68 && c.y == 26;
	}
	is(seen, 2000, "scales: width and height are equal");
	near(whole, 1000, 4 * 22, "scales: half of the crops have the first one");
	is(whole + corners + center, 2000, "positions: corners and the center");
	near(center, 200, 4 * 13, "positions: a fifth is the center");
}

/* ---- PySlowFast ---- */

static int
number(const struct table *g, size_t r, const char *name)
{
	int64_t v = -1;

	table_int(g, r, name, 0, 9999, &v);
	return (int)v;
}

/*
 * Return 1 if ${c} is the square of ${side} at (x, y) of the frame scaled from
 * ${w} x ${h} to ${to}.
 */
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
	int sizes = 0, positions = 0, requested = 0;

	for (size_t r = 0; r < g->rows; r++) {
		int w = number(g, r, "in_w"), h = number(g, r, "in_h"), to[2];
		int size = number(g, r, "short_side"), view;
		int side = number(g, r, "crop");
		int full = side == size;

		crop_scaled(VIEW_PYSLOWFAST, w, h, size, to);
		sizes += to[0] == number(g, r, "out_w") &&
		    to[1] == number(g, r, "out_h");
		view = number(g, r, "spatial_idx");
		/* Our views have no crops of 256 from a short side of 320. */
		if (!full && size != (int)lrint(side * 256 / 224.0))
			continue;
		requested++;
		positions += is_at(crop_test(VIEW_PYSLOWFAST, w, h, side, view, 3,
		    full), w, h, to, number(g, r, "x0"), number(g, r, "y0"),
		    side);
		if (view == 1)
			positions -= !is_at(crop_test(VIEW_PYSLOWFAST, w, h, side,
			    0, 1, full), w, h, to, number(g, r, "x0"),
			    number(g, r, "y0"), side);
	}
	is(sizes, (long long)g->rows,
	    "PySlowFast: frames are scaled to the published sizes");
	ok(positions == requested && requested > 100, "PySlowFast: test crops are at the "
	    "published places (%d of %d)", positions,
	    requested);
	table_free(g);
}

/*
 * The ranges of short sides in tables recorded from PySlowFast's datasets,
 * shape by shape.
 */
static void
test_jitter_golden(const char *name)
{
	struct table *g = table_read(golden_path(name));
	struct crop_options o = crop_defaults;
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
	is(repaired, (long long)g->rows,
	    "the repaired jitter scales the range in proportion to the crop");
	table_free(g);
}

/* Distribution of jittered short sides and places. */
static void
test_jitter(void)
{
	enum { N = 20000 };
	struct crop_options o = crop_defaults;
	double mean[2] = { 0 };
	int least = 999, largest = 0, last[2] = { 0 };

	for (int k = 0; k < 4; k++)
		for (uint64_t g = 0; g < N; g++) {
			struct crop c;
			int size;

			o.rule = k & 1 ? CROP_JITTER_UPSTREAM : CROP_JITTER;
			o.inverse = k >> 1;
			c = crop_train(&o, 256, 256, 224, rng_clip(2, g));
			size = (int)lrint(224 * 256 / c.w);
			least = size < least ? size : least;
			largest = size > largest ? size : largest;
			mean[k >> 1] += size / (2.0 * N);
			last[k & 1] += fabs(c.x + c.w - 256) < 1e-9;
		}
	ok(least == 256 && largest == 320,
	    "jitter: short sides reach from 256 to 320 (%d to %d)",
	    least, largest);
	near(mean[0], 288, 0.5,
	    "jitter: short sides are uniformly distributed");
	/* The mean of x for 1 / x uniform over [1/320, 1/256]. */
	near(mean[1], log(320 / 256.0) / (1 / 256.0 - 1 / 320.0), 0.5,
	    "inverse jitter: the inverse of the short side is uniform");
	ok(last[1] == 0 && last[0] > N / 50,
	    "jitter draws the last place, which upstream never does");
}

static void
test_resized(void)
{
	enum { N = 20000 };
	struct crop_options o = crop_defaults;
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
	ok(low > 0.078 && low < 0.09 && high > 0.95,
	    "resized crops take areas from %.3f to %.3f", low,
	    high);
	/*
	 * The mean of [0.08, 1] is 0.54.  Large crops that do not fit are
	 * redrawn, which lowers it.
	 */
	ok(area > 0.45 && area < 0.54,
	    "resized crops have uniform areas (mean %.3f)", area);
	ok(thin > 0.73 && thin < 0.76 && wide > 1.32 && wide < 1.36,
	    "resized crops have ratios of 3/4 to 4/3 (%.3f to %.3f)",
	    thin, wide);
	o.area = 1;
	c = crop_train(&o, 400, 100, 224, rng_clip(2, 1));
	ok(c.w == 133 && c.h == 100 && c.x == 133 && c.y == 0,
	    "if no resized crop fits, the centre is taken at ratio 4/3");
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
	test_scales();
	return done();
}
