/*
 * JPEG regions decoded at a scale equal those of the whole image, and damaged
 * files are refused.
 */
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "media/image.h"
#include "media/jpeg.h"

#include "said.h"
#include "tap.h"

static uint32_t state = 1;

static uint32_t
noise(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static int
between(int low, int high)
{
	return low + (int)(noise() % (uint32_t)(high - low + 1));
}

struct kind { const char *name; int across, down, progressive, gray; };

static void
encode(struct buffer *to, const struct image *m, const struct kind *k)
{
	struct jpeg_compress_struct j;
	struct jpeg_error_mgr errors;
	unsigned char *data = NULL;
	unsigned long n = 0;

	j.err = jpeg_std_error(&errors);
	jpeg_create_compress(&j);
	jpeg_mem_dest(&j, &data, &n);
	j.image_width = (JDIMENSION)m->w;
	j.image_height = (JDIMENSION)m->h;
	j.input_components = 3;
	j.in_color_space = JCS_RGB;
	jpeg_set_defaults(&j);
	if (k->gray)
		jpeg_set_colorspace(&j, JCS_GRAYSCALE);
	jpeg_set_quality(&j, 90, TRUE);
	j.comp_info[0].h_samp_factor = k->across;
	j.comp_info[0].v_samp_factor = k->down;
	if (k->progressive)
		jpeg_simple_progression(&j);
	jpeg_start_compress(&j, TRUE);
	for (int y = 0; y < m->h; y++) {
		JSAMPROW row = m->data + (size_t)y * (size_t)m->w * 3;

		jpeg_write_scanlines(&j, &row, 1);
	}
	jpeg_finish_compress(&j);
	jpeg_destroy_compress(&j);
	to->n = 0;
	buffer_add(to, data, n);
	free(data);
}

/* Return an image like a photograph: smooth, with some detail and color. */
static struct image *
image(int w, int h)
{
	struct image *m = image_new(w, h, 3);

	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			uint8_t *p = m->data + (y * w + x) * 3;

			p[0] = (uint8_t)(128 + 100 * sin(x * 0.09 + y * 0.02));
			p[1] = (uint8_t)(128 + 90 * sin(y * 0.13 - x * 0.05));
			p[2] = (uint8_t)(100 + (noise() & 31) +
			    60 * sin((x + y) * 0.21));
		}
	return m;
}

static const struct kind kinds[] = { { "4:2:0", 2, 2, 0, 0 },
	{ "4:4:4", 1, 1, 0, 0 }, { "4:2:2", 2, 1, 0, 0 },
	{ "4:4:0", 1, 2, 0, 0 }, { "progressive 4:2:0", 2, 2, 1, 0 },
	{ "grey", 1, 1, 0, 1 } };

/*
 * Return 1 if a region, decoded alone and resized, has the bits of the same
 * region of the whole image decoded at the same scale.
 */
static int
same_region(struct jpeg_decoder *part_of, struct jpeg_decoder *whole_of,
    const struct buffer *b, int w, int h, struct region r, int side, int how)
{
	static uint8_t a[64 * 64 * 3], c[64 * 64 * 3];
	struct region all = { 0, 0, w, h }, at, whole_at;
	struct image part, whole;
	struct resizer *z;
	int eighths = 8, want_w, want_h;

	if (jpeg_decode(part_of, b->data, b->n, &(struct jpeg_part){ r, side,
	    side, 0 }, &part, &at, NULL) != 0)
		return 0;
	while (eighths > 1 && r.w * eighths / 16 >= side &&
	    r.h * eighths / 16 >= side)
		eighths /= 2;
	want_w = w * eighths / 8;
	want_h = h * eighths / 8;
	if (jpeg_decode(whole_of, b->data, b->n, &(struct jpeg_part){ all, want_w, want_h, 0 }, &whole,
	    &whole_at, NULL) != 0)
		return 0;
	if (whole.w != (w * eighths + 7) / 8 || whole.h != (h * eighths + 7) / 8)
		return 0;
	z = resizer_new();
	image_resize(z, &(struct resize_call){ how, a, side, side, part.data,
		part.w, part.h, at, 0 });
	image_resize(z, &(struct resize_call){ how, c, side, side, whole.data,
		whole.w, whole.h, { r.x * eighths / 8, r.y * eighths / 8,
		r.w * eighths / 8, r.h * eighths / 8 }, 0 });
	resizer_free(z);
	return memcmp(a, c, (size_t)side * (size_t)side * 3) == 0;
}

static void
test_regions(void)
{
	static const int sizes[][2] = { { 340, 256 }, { 341, 257 }, { 176, 100 },
		{ 17, 33 }, { 5, 3 }, { 1, 1 } };
	struct jpeg_decoder *d = jpeg_decoder_new(), *e = jpeg_decoder_new();
	struct buffer b = { 0 };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		int same = 0, tried = 0;

		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			int w = sizes[s][0], h = sizes[s][1];
			struct image *m = image(w, h);

			encode(&b, m, &kinds[k]);
			for (int i = 0; i < 60; i++, tried++) {
				int x = between(0, w - 1), y = between(0, h - 1);
				struct region r = { x, y, between(1, w - x),
					between(1, h - y) };
				int good = same_region(d, e, &b, w, h, r,
				    between(1, 64), i % 4);

				if (!good)
					diag("%dx%d: %g %g %g %g", w, h, r.x,
					    r.y, r.w, r.h);
				same += good;
			}
			image_free(m);
		}
		ok(same == tried, "%s: regions have the bits of the whole "
		    "image (%d of %d)", kinds[k].name, same, tried);
	}
	buffer_free(&b);
	jpeg_decoder_free(d);
	jpeg_decoder_free(e);
}

static void
test_decode(void)
{
	struct jpeg_decoder *d = jpeg_decoder_new();
	struct image *m = image(340, 256), out;
	struct region r = { 100, 80, 120, 100 }, at;
	struct buffer b = { 0 };
	int w = 0, h = 0, error = 0;

	encode(&b, m, &kinds[1]);
	is(jpeg_size(d, b.data, b.n, &w, &h, NULL) == 0 && w == 340 && h == 256, 1,
	    "jpeg_size returns the size in the header");
	is(jpeg_decode(d, b.data, b.n, &(struct jpeg_part){ r, 120, 100, 0 }, &out, &at, NULL), 0,
	    "jpeg_decode decodes a region");
	for (int y = 0; y < 100; y++)
		for (int x = 0; x < 120 * 3; x++)
			error += abs(m->data[((y + 80) * 340 + 100) * 3 + x] -
			    out.data[((y + (int)at.y) * out.w + (int)at.x) * 3 +
			    x]);
	near(error / 36000.0, 0, 4,
	    "the decoded region shows that part of the image");
	ok(out.w < 160 && out.h <= 104,
	    "little more than the region is decoded (%dx%d)", out.w,
	    out.h);
	jpeg_decode(d, b.data, b.n, &(struct jpeg_part){ r, 60, 50, 0 }, &out, &at, NULL);
	is(at.w == 60 && at.h == 50, 1, "the scale is 1/2 if that suffices");
	jpeg_decode(d, b.data, b.n, &(struct jpeg_part){ r, 60, 51, 0 }, &out, &at, NULL);
	is(at.w == 120, 1, "the scale is 1 if 1/2 lacks a row");
	jpeg_decode(d, b.data, b.n, &(struct jpeg_part){ r, 1, 1, 0 }, &out, &at, NULL);
	is(at.w == 15, 1, "the smallest scale is 1/8");
	buffer_free(&b);
	image_free(m);
	jpeg_decoder_free(d);
}

static void
test_damage(void)
{
	struct jpeg_decoder *d = jpeg_decoder_new();
	struct image *m = image(170, 128), out;
	struct region all = { 0, 0, 170, 128 }, top = { 20, 0, 60, 30 }, at;
	struct buffer b = { 0 };
	char said[512];
	int cut = 0, cut_top = 0, crashed = 0, w, h;
	size_t n;

	encode(&b, m, &kinds[0]);
	n = b.n;
	said_begin(said, sizeof(said));
	for (size_t k = 0; k < n; k++) {
		cut += jpeg_decode(d, b.data, k, &(struct jpeg_part){ all, 170, 128, 0 }, &out, &at, NULL) < 0;
		cut_top += jpeg_decode(d, b.data, k, &(struct jpeg_part){ top, 9, 9, 0 }, &out, &at, NULL) < 0;
	}
	said_begin(said, sizeof(said));
	jpeg_decode(d, b.data, n / 2, &(struct jpeg_part){ all, 170, 128, 0 }, &out, &at, NULL);
	is_text(said_now(), "JPEG: Premature end of JPEG file",
	    "JPEG: the message has the reason");
	is(jpeg_size(d, b.data, 0, &w, &h, NULL), -1,
	    "jpeg_size refuses no bytes");
	is(jpeg_size(d, "\x89PNG\r\n\x1a\n........", 16, &w, &h, NULL), -1,
	    "jpeg_size refuses a PNG");
	is(cut, (long long)n, "a JPEG cut at any byte is refused");
	is(cut_top, (long long)n,
	    "a cut JPEG is refused even if only its top is wanted");
	/* Changed bytes may decode or not, but decoding returns. */
	for (int k = 0; k < 3000; k++) {
		size_t at_byte = noise() % n;
		char old = b.data[at_byte];

		b.data[at_byte] = (char)noise();
		if (jpeg_decode(d, b.data, n, &(struct jpeg_part){ k & 1 ? all : top, 30, 20, 0 }, &out,
		    &at, NULL) == 0)
			crashed += out.w < 1 || out.h < 1;
		b.data[at_byte] = old;
	}
	said_end();
	is(crashed, 0, "changed bytes are refused or decoded");
	is(jpeg_decode(d, b.data, n, &(struct jpeg_part){ all, 170, 128, 0 }, &out, &at, NULL), 0,
	    "the decoder still works after damaged files");
	/* Bytes after the end marker are allowed. */
	buffer_add(&b, "tail", 4);
	is(jpeg_decode(d, b.data, b.n, &(struct jpeg_part){ top, 9, 9, 0 }, &out, &at, NULL), 0,
	    "bytes after the end marker are ignored");
	buffer_free(&b);
	image_free(m);
	jpeg_decoder_free(d);
}

int
main(void)
{
	test_regions();
	test_decode();
	test_damage();
	return done();
}
