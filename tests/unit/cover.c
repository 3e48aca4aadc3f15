/*
 * Levels: tags and sizes follow their definition, the level of a crop size is
 * that of the rule, and a clip from a smaller level shows the same scene.
 */
#include <stdlib.h>
#include <string.h>

#include "clip/cover.h"
#include "clip/fill.h"
#include "media/png.h"

#include "tap.h"

static void
test_tags(void)
{
	ok(level_of_tag("s128") == 128 && level_of_tag("s1") == 1 &&
	    level_of_tag("s9999") == 9999, "tags of levels");
	ok(level_of_tag("rgb") == 0 && level_of_tag("s") == 0 &&
	    level_of_tag("s012") == 0 && level_of_tag("s12345") == 0 &&
	    level_of_tag("s12x") == 0 && level_of_tag("x") == 0,
	    "other tags are not levels");
}

static void
test_list(void)
{
	const struct stream_list streams = { 5, { { "rgb", "jpg" },
	    { "s256", "jpg" }, { "x", "jpg" }, { "y", "jpg" },
	    { "s128", "jpg" } } };
	const struct stream_list flow = { 2, { { "x", "jpg" }, { "s8", "jpg" } } };
	struct level_list l = level_list_of(&streams);

	ok(l.n == 3 && l.level[0].stream == 0 && l.level[0].side == 0 &&
	    l.level[1].stream == 1 && l.level[1].side == 256 &&
	    l.level[2].stream == 4 && l.level[2].side == 128,
	    "levels among other streams");
	ok(level_list_of(&flow).n == 0, "no levels if stream 0 is tagged");
}

static void
test_sizes(void)
{
	static const int row[][5] = {	/* side, frame, level */
		{ 128, 340, 256, 170, 128 }, { 128, 256, 340, 128, 170 },
		{ 128, 455, 256, 228, 128 }, { 128, 128, 300, 128, 300 },
		{ 128, 100, 60, 100, 60 }, { 0, 340, 256, 340, 256 },
		{ 1, 300, 200, 2, 1 }, { 64, 100, 100, 64, 64 } };
	int right = 0, n = sizeof(row) / sizeof(row[0]);

	for (int i = 0; i < n; i++) {
		int w, h;

		level_size(row[i][0], row[i][1], row[i][2], &w, &h);
		right += w == row[i][3] && h == row[i][4];
	}
	ok(right == n, "sizes of levels");
}

/* Return the side of the level for crops of ${side}; 0: the largest. */
static int
covers(enum crop_rule rule, int side, int third)
{
	struct crop_options o = crop_defaults;
	struct level_list l = { third > 0 ? 3 : 2, { { 0, 0 }, { 1, 128 },
	    { 2, third } } };

	o.rule = rule;
	return l.level[cover_train(&l, &o, side)].side;
}

static void
test_choice(void)
{
	static const enum crop_rule alike[] = { CROP_MULTISCALE, CROP_JITTER,
		CROP_RESIZED, CROP_CENTER };
	struct level_list l = { 2, { { 0, 0 }, { 1, 128 } } };
	struct crop_options o = crop_defaults;
	int right = 0;

	for (int i = 0; i < 4; i++)
		right += covers(alike[i], 224, 0) == 0 &&
		    covers(alike[i], 113, 0) == 0 &&
		    covers(alike[i], 112, 0) == 128 &&
		    covers(alike[i], 56, 0) == 128 &&
		    covers(alike[i], 158, 181) == 181 &&
		    covers(alike[i], 158, 180) == 0 &&
		    covers(alike[i], 112, 181) == 128 &&
		    covers(alike[i], 56, 64) == 64;
	ok(right == 4, "the smallest level that covers a crop");
	ok(covers(CROP_JITTER_UPSTREAM, 112, 0) == 0 &&
	    covers(CROP_JITTER_UPSTREAM, 112, 256) == 256,
	    "a jitter that does not shrink needs a larger level");
	/* No window of 224 or more is enlarged. */
	o.rule = CROP_JITTER;
	o.low = o.high = 224;
	ok(cover_train(&l, &o, 128) == 1 && cover_train(&l, &o, 129) == 0,
	    "a level that enlarges nothing covers a crop");
	o.largest = 1;
	ok(cover_train(&l, &o, 56) == 0, "the largest level, if wanted");
	ok(cover_test(&l, 112, 0) == 1 && cover_test(&l, 113, 0) == 0 &&
	    cover_test(&l, 128, 1) == 1 && cover_test(&l, 129, 1) == 0,
	    "levels of test crops");
}

/* ---- pixels ---- */

/* Return the PNG of a smooth scene of ${w} x ${h} pixels. */
static struct buffer
scene(int w, int h)
{
	struct image *m = image_new(w, h, 3);
	struct buffer b = { 0 };

	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			uint8_t *p = m->data + 3 * ((size_t)y * (size_t)w +
			    (size_t)x);

			p[0] = (uint8_t)(255 * (x + 0.5) / w);
			p[1] = (uint8_t)(255 * (y + 0.5) / h);
			p[2] = (uint8_t)(127 * ((x + 0.5) / w + (y + 0.5) / h));
		}
	png_encode(m, &b);
	image_free(m);
	return b;
}

static int
get_scene(const struct frame_source *s, int level, const struct frame_read *r,
    struct error *why)
{
	struct buffer b = level == 0 ? scene(340, 256) : scene(170, 128);

	(void)s, (void)why;
	r->bytes->n = r->at[0] = 0;
	buffer_add(r->bytes, b.data, b.n);
	r->at[1] = r->bytes->n;
	buffer_free(&b);
	return 0;
}

static int
largest_difference(struct filler *f, struct crop crop)
{
	enum { SIDE = 112, BYTES = 3 * SIDE * SIDE };
	const struct frame_source s = { .file = "scene", .key = "k", .frames = 1,
		.width = 340, .height = 256, .png = 1, .get = get_scene,
		.levels = { 2, { { 0, 0 }, { 1, 128 } } } };
	uint8_t *pixel[2];
	int frame = 0, largest = 0, bad = 0;

	for (int i = 0; i < 2; i++) {
		struct clip_request r = { .t = 1, .side = SIDE, .frame = &frame,
			.crop = crop, .level = i };
		struct clip_out out = { .bytes = xmalloc(BYTES) };

		bad |= clip_fill(f, &s, &r, &out);
		pixel[i] = out.bytes;
	}
	for (int i = 0; i < BYTES; i++)
		if (abs(pixel[0][i] - pixel[1][i]) > largest)
			largest = abs(pixel[0][i] - pixel[1][i]);
	free(pixel[0]);
	free(pixel[1]);
	return bad ? 255 : largest;
}

static void
test_pixels(void)
{
	static const enum crop_rule rule[] = { CROP_MULTISCALE, CROP_JITTER,
		CROP_RESIZED, CROP_CENTER };
	struct filler *f = filler_new(NULL);
	int largest = 0;

	for (int i = 0; i < 40; i++) {
		struct crop_options o = crop_defaults;
		int d;

		o.rule = rule[i % 4];
		d = largest_difference(f, crop_train(&o, 340, 256, 112,
		    rng_clip(1, (uint64_t)i)));
		largest = d > largest ? d : largest;
	}
	filler_free(f);
	/* Half a pixel of the smaller level is 1 of 255, and bytes round. */
	ok(largest <= 3, "both levels show the same part, within 3 of 255 "
	    "(largest difference %d)", largest);
}

int
main(void)
{
	test_tags();
	test_list();
	test_sizes();
	test_choice();
	test_pixels();
	return done();
}
