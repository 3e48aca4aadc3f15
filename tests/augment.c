/* Which part of the image a clip shows. */
#include "base/file.h"
#include "base/table.h"
#include "data/augment.h"

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
			struct crop c = crop_test((int)w, (int)h, v, 3,
			    side == h);

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
	return c.w >= 1 && c.h >= 1 && c.x >= 0 && c.y >= 0 &&
	    c.x + c.w <= w && c.y + c.h <= h;
}

static void
test_bounds(void)
{
	static const int views[] = { 1, 3, 5, 10 };
	static const int sides[] = { 1, 7, 112, 158, 222, 224, 256 };
	int bad = 0;

	for (int w = 1; w < 400; w += w < 12 ? 1 : 23)
		for (int h = 1; h < 400; h += h < 12 ? 1 : 23) {
			for (size_t k = 0; k < 4; k++)
				for (int v = 0; v < views[k]; v++)
					for (int full = 0; full < 2; full++)
						bad += !inside(crop_test(w, h,
						    v, views[k], full), w, h);
			for (uint64_t g = 0; g < 70; g++)
				bad += !inside(crop_train(CROP_MULTISCALE, w, h,
				    sides[g % 7], 1, rng_clip(1, g)), w, h);
		}
	is(bad, 0, "every crop of every image lies inside it");
	bad = 0;
	for (int w = 1; w < 30; w++)
		bad += crop_test_known(w) != (w == 1 || w == 3 || w == 5 || w == 10);
	is(bad, 0, "1, 3, 5 and 10 crops are known");
}

static void
test_views(void)
{
	struct crop a = crop_test(340, 256, 0, 1, 0);
	struct crop b = crop_test(256, 340, 0, 3, 0);
	struct crop c = crop_test(256, 340, 1, 3, 0);
	struct crop d = crop_test(340, 256, 3, 10, 0);
	struct crop e = crop_test(340, 256, 8, 10, 0);

	ok(a.x == 58 && a.y == 16 && a.w == 224 && a.h == 224 && !a.flip,
	    "the centre of 340x256");
	ok(b.x == 16 && b.y == 0 && c.x == 16 && c.y == 116,
	    "an upright image gives top and bottom");
	ok(d.x == 116 && d.y == 32 && !d.flip, "a corner");
	ok(e.x == d.x && e.y == d.y && e.flip, "and its mirror image");
	a = crop_test(455, 341, 0, 1, 0);
	ok(a.w == 298 && a.x == 78 && a.y == 22,
	    "halves round to even, as published");
}

/* What is drawn, and how often. */
static void
test_draws(void)
{
	enum { N = 26000 };
	int flips = 0, whole = 0, seen = 0, pair[CROP_SIZES][2];
	int places[CROP_PLACES][2], at[CROP_PLACES] = { 0 }, low = N, high = 0;
	int unflipped = 0, centred = 0, n = crop_sizes(340, 256, 224, pair);

	is(n, CROP_SIZES, "ten pairs of sizes");
	for (uint64_t g = 0; g < N; g++) {
		struct crop c = crop_train(CROP_MULTISCALE, 340, 256, 224, 1,
		    rng_clip(1, g));
		struct crop d = crop_train(CROP_CENTRE, 340, 256, 224, 0,
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

int
main(void)
{
	test_multiscale_golden();
	test_three_golden();
	test_bounds();
	test_views();
	test_draws();
	return done();
}
