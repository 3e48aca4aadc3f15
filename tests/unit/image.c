/*
 * Resizing agrees with the exact bilinear formula on every instruction set.
 * JPEG regions decoded at a scale equal those of the whole image, and damaged
 * files are refused.
 */
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#include "base/fail.h"
#include "base/isa.h"
#include "base/mem.h"
#include "media/image.h"
#include "media/jpeg.h"
#include "media/resize.h"

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

static struct image *
noise_image(int w, int h)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < w * h * 3; i++)
		m->data[i] = (uint8_t)noise();
	return m;
}

/* ---- resizing ---- */

static double
clamped(const struct image *m, int x, int y, int c)
{
	x = x < 0 ? 0 : x >= m->w ? m->w - 1 : x;
	y = y < 0 ? 0 : y >= m->h ? m->h - 1 : y;
	return m->data[(y * m->w + x) * 3 + c];
}

/*
 * Return the bilinear value at (x, y), where pixel centers have integer
 * coordinates.
 */
static double
exact(const struct image *m, double x, double y, int c)
{
	double fx, fy;
	int ix, iy;

	x = x < 0 ? 0 : x > m->w - 1 ? m->w - 1 : x;
	y = y < 0 ? 0 : y > m->h - 1 ? m->h - 1 : y;
	ix = (int)floor(x);
	iy = (int)floor(y);
	fx = x - ix;
	fy = y - iy;
	return (1 - fy) * ((1 - fx) * clamped(m, ix, iy, c) +
	    fx * clamped(m, ix + 1, iy, c)) +
	    fy * ((1 - fx) * clamped(m, ix, iy + 1, c) +
	    fx * clamped(m, ix + 1, iy + 1, c));
}

/* Return the greatest difference from the rounded exact value. */
static int
worst(const struct image *m, const uint8_t *to, int w, int h, struct region r,
    int flip)
{
	int largest = 0;

	for (int j = 0; j < h; j++)
		for (int i = 0; i < w; i++)
			for (int c = 0; c < 3; c++) {
				int k = flip ? w - 1 - i : i;
				double v = exact(m, r.x + (k + 0.5) * r.w / w -
				    0.5, r.y + (j + 0.5) * r.h / h - 0.5, c);
				int e = abs(to[(j * w + i) * 3 + c] -
				    (int)floor(v + 0.5));

				largest = e > largest ? e : largest;
			}
	return largest;
}

/* Return the resize functions that this processor can run, ${*n} of them. */
static void (*const *copies(int *n))(const struct resize_job *job)
{
	static void (*const all[])(const struct resize_job *job) = {
		resize_run_base,
#if defined(__x86_64__)
		resize_run_avx2, resize_run_avx512
#endif
	};

	*n = 1 + (int)isa_best();
	return all;
}

/*
 * Resize by every function, with marked bytes around the output.  Return 1 if
 * the marks stay and all functions agree.  The result is in ${to}.
 */
static int
resized(uint8_t *to, int w, int h, const struct image *m, struct region r,
    int flip)
{
	enum { how = RESIZE_BILINEAR };
	size_t n = (size_t)w * (size_t)h * 3;
	uint8_t *buffer = xmalloc(n + 64);
	int good = 1, many;
	void (*const *run)(const struct resize_job *job) = copies(&many);

	for (int k = 0; k < many; k++) {
		struct resizer *z = resizer_new();

		memset(buffer, 0x5a, n + 64);
		resize_by(run[k], z, &(struct resize_call){ how, buffer + 32, w,
			h, m->data, m->w, m->h, r, flip });
		resizer_free(z);
		for (size_t i = 0; i < 32; i++)
			good &= buffer[i] == 0x5a && buffer[n + 32 + i] == 0x5a;
		good &= k == 0 || memcmp(to, buffer + 32, n) == 0;
		memcpy(to, buffer + 32, n);
	}
	free(buffer);
	return good;
}

static void
test_resize(void)
{
	static uint8_t to[300 * 300 * 3];
	int many, largest = 0, agree = 1;

	copies(&many);
	for (int k = 0; k < 400; k++) {
		struct image *m = noise_image(between(1, 90), between(1, 60));
		int w = between(1, 70), h = between(1, 50), flip = k & 1, e;
		/*
		 * Integer and fractional regions, inside and outside of the
		 * image.
		 */
		struct region r = { between(-20, 60) / (k % 3 + 1.0),
			between(-20, 40) / (k % 3 + 1.0),
			between(1, 90) / (k % 5 + 1.0),
			between(1, 60) / (k % 5 + 1.0) };

		agree &= resized(to, w, h, m, r, flip);
		e = worst(m, to, w, h, r, flip);
		if (e > 1)
			diag("%dx%d, region %g %g %g %g to %dx%d: off by %d",
			    m->w, m->h, r.x, r.y, r.w, r.h, w, h, e);
		largest = e > largest ? e : largest;
		image_free(m);
	}
	ok(agree, "the %d copies of resize agree and write only their output",
	    many);
	ok(largest <= 1, "resize is within 1 of the exact value (%d)", largest);
}

static void
test_identity(void)
{
	static uint8_t to[300 * 300 * 3], back[300 * 300 * 3];
	struct image *m = noise_image(101, 77);
	struct region all = { 0, 0, 101, 77 }, part = { 13, 9, 64, 41 };
	int same, mirrored = 1;

	same = resized(to, 101, 77, m, all, 0) &&
	    memcmp(to, m->data, 101 * 77 * 3) == 0;
	ok(same, "an image resized to its own size is unchanged");
	resized(to, 64, 41, m, part, 0);
	for (int y = 0; y < 41; y++)
		same &= memcmp(to + y * 64 * 3,
		    m->data + ((y + 9) * 101 + 13) * 3, 64 * 3) == 0;
	ok(same, "a region resized to its own size is unchanged");
	for (int w = 1; w < 60; w++) {
		resized(to, w, 20, m, part, 0);
		resized(back, w, 20, m, part, 1);
		for (int i = 0; i < w * 20; i++)
			mirrored &= memcmp(to + 3 * i, back +
			    3 * (i / w * w + w - 1 - i % w), 3) == 0;
	}
	ok(mirrored, "a flipped resize mirrors the unflipped one");
	image_free(m);
}

static void
test_flat(void)
{
	static uint8_t to[300 * 300 * 3];
	struct image *m = image_new(90, 70, 3);
	int same = 1;

	/* A constant survives all weights: nothing drifts or overflows. */
	for (int v = 0; v < 256; v++) {
		memset(m->data, v, 90 * 70 * 3);
		resized(to, 83, 3, m, (struct region){ 1.3, 0.7, 71.1, 60.7 },
		    v & 1);
		for (int i = 0; i < 83 * 3 * 3; i++)
			same &= to[i] == v;
	}
	ok(same, "a constant image stays constant");
	image_free(m);
}

/* ---- JPEG ---- */

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

	if (jpeg_decode(part_of, b->data, b->n, r, side, side, &part, &at, NULL) != 0)
		return 0;
	while (eighths > 1 && r.w * eighths / 16 >= side &&
	    r.h * eighths / 16 >= side)
		eighths /= 2;
	want_w = w * eighths / 8;
	want_h = h * eighths / 8;
	if (jpeg_decode(whole_of, b->data, b->n, all, want_w, want_h, &whole,
	    &whole_at, NULL) != 0)
		return 0;
	if (whole.w != (w * eighths + 7) / 8 || whole.h != (h * eighths + 7) / 8)
		return 0;
	z = resizer_new();
	image_resize(z, &(struct resize_call){ how, a, side, side, part.data, part.w, part.h, at, 0 });
	image_resize(z, &(struct resize_call){ how, c, side, side, whole.data, whole.w, whole.h,
	    (struct region){ r.x * eighths / 8, r.y * eighths / 8,
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
	is(jpeg_decode(d, b.data, b.n, r, 120, 100, &out, &at, NULL), 0,
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
	jpeg_decode(d, b.data, b.n, r, 60, 50, &out, &at, NULL);
	is(at.w == 60 && at.h == 50, 1, "the scale is 1/2 if that suffices");
	jpeg_decode(d, b.data, b.n, r, 60, 51, &out, &at, NULL);
	is(at.w == 120, 1, "the scale is 1 if 1/2 lacks a row");
	jpeg_decode(d, b.data, b.n, r, 1, 1, &out, &at, NULL);
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
		cut += jpeg_decode(d, b.data, k, all, 170, 128, &out, &at, NULL) < 0;
		cut_top += jpeg_decode(d, b.data, k, top, 9, 9, &out, &at, NULL) < 0;
	}
	said_begin(said, sizeof(said));
	jpeg_decode(d, b.data, n / 2, all, 170, 128, &out, &at, NULL);
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
		if (jpeg_decode(d, b.data, n, k & 1 ? all : top, 30, 20, &out,
		    &at, NULL) == 0)
			crashed += out.w < 1 || out.h < 1;
		b.data[at_byte] = old;
	}
	said_end();
	is(crashed, 0, "changed bytes are refused or decoded");
	is(jpeg_decode(d, b.data, n, all, 170, 128, &out, &at, NULL), 0,
	    "the decoder still works after damaged files");
	/* Bytes after the end marker are allowed. */
	buffer_add(&b, "tail", 4);
	is(jpeg_decode(d, b.data, b.n, top, 9, 9, &out, &at, NULL), 0,
	    "bytes after the end marker are ignored");
	buffer_free(&b);
	image_free(m);
	jpeg_decoder_free(d);
}

int
main(void)
{
	test_resize();
	test_identity();
	test_flat();
	test_regions();
	test_decode();
	test_damage();
	return done();
}
