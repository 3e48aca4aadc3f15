/*
 * Decode a region of a JPEG, and no more than needed: fewer DCT coefficients if
 * a smaller scale suffices, no columns left and right of the region, no rows
 * above it, and nothing below it.  The Huffman decoding of everything above the
 * region's last row remains.
 */
#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "base/exit.h"
#include "base/fail.h"
#include "media/jpeg.h"

/*
 * Pixels to decode around the region, after scaling.  One is for the neighbor
 * that a bilinear resize reads.  One is for chroma: libjpeg interpolates it as
 * if the image ended where decoding ends.  An antialiased resize by s reads s /
 * 2 more.  With this margin a region has the same pixels as in the whole image.
 */
#define MARGIN 2

struct jpeg_decoder {
	struct jpeg_decompress_struct j;
	struct jpeg_error_mgr errors;
	jmp_buf back;
	char why[JMSG_LENGTH_MAX];
	const uint8_t *data;		/* the JPEG whose header is read; NULL:
					 * none */
	size_t n;			/* its bytes */
	uint8_t *pixels;
	size_t capacity;
};

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

const char *
jpeg_library(void)
{
	return "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION);
}

/*
 * libjpeg requires that this does not return: jump to the setjmp in the caller.
 * Exhausted memory is not an error of the picture, and ends the program.
 */
static void
jpeg_decode_on_error(j_common_ptr j)
{
	struct jpeg_decoder *d = j->client_data;

	if (j->err->msg_code == JERR_OUT_OF_MEMORY)
		die(EXIT_FAILED, "out of memory: a JPEG cannot be decoded");
	j->err->format_message(j, d->why);
	longjmp(d->back, 1);
}

/* A level below 0 is a warning: libjpeg has invented pixels. */
static void
jpeg_decode_on_message(j_common_ptr j, int level)
{
	if (level < 0)
		jpeg_decode_on_error(j);
}

struct jpeg_decoder *
jpeg_decoder_new(void)
{
	struct jpeg_decoder *d = xcalloc(1, sizeof(*d));

	d->j.err = jpeg_std_error(&d->errors);
	d->errors.error_exit = jpeg_decode_on_error;
	d->errors.emit_message = jpeg_decode_on_message;
	d->j.client_data = d;
	if (setjmp(d->back))
		die(EXIT_FAILED, "libjpeg does not start: %s", d->why);
	jpeg_create_decompress(&d->j);
	return d;
}

void
jpeg_decoder_free(struct jpeg_decoder *d)
{
	if (d == NULL)
		return;
	jpeg_destroy_decompress(&d->j);
	free(d->pixels);
	free(d);
}

static void
jpeg_decode_reserve(struct jpeg_decoder *d, size_t bytes)
{
	if (bytes <= d->capacity)
		return;
	free(d->pixels);
	d->capacity = 0;
	d->pixels = malloc(bytes);
	if (d->pixels == NULL)
		ERREXIT1(&d->j, JERR_OUT_OF_MEMORY, 0);
	d->capacity = bytes;
}

void
jpeg_decoder_reserve(struct jpeg_decoder *d, int w, int h)
{
	jpeg_decode_reserve(d, 3 * (size_t)w * ((size_t)h + 1));
}

/* End with a picture, complete or not. */
static void
jpeg_decode_end(struct jpeg_decoder *d)
{
	jpeg_abort_decompress(&d->j);
	d->data = NULL;
}

static int
jpeg_decode_refuse(struct jpeg_decoder *d, struct error *why)
{
	jpeg_decode_end(d);
	return error_set(why, "JPEG: %s", d->why);
}

static void
jpeg_decode_header(struct jpeg_decoder *d, const void *data, size_t n)
{
	jpeg_decode_end(d);
	jpeg_mem_src(&d->j, data, (unsigned long)n);
	jpeg_read_header(&d->j, TRUE);
	d->data = data;
	d->n = n;
}

int
jpeg_size(struct jpeg_decoder *d, const void *data, size_t n, int *w, int *h,
    struct error *why)
{
	if (setjmp(d->back))
		return jpeg_decode_refuse(d, why);
	jpeg_decode_header(d, data, n);
	*w = (int)d->j.image_width;
	*h = (int)d->j.image_height;
	return 0;
}

unsigned
jpeg_decode_scale(const struct jpeg_part *p)
{
	for (unsigned eighths = 1; eighths < 8; eighths *= 2)
		if (p->r.w * eighths / 8 >= p->want_w &&
		    p->r.h * eighths / 8 >= p->want_h)
			return eighths;
	return 8;
}

/*
 * Set ${*first} and ${*end} to the pixels, of ${total}, that a span needs if it
 * is resized to ${want} pixels.
 */
static void
jpeg_decode_widen(double start, double length, int want, JDIMENSION total,
    JDIMENSION *first, JDIMENSION *end)
{
	double margin = MARGIN + floor(length / want / 2);
	double a = floor(start) - margin, b = ceil(start + length) + margin;

	a = a > 0 ? a : 0;
	b = b < total ? b : total;
	/* A span outside the image is clamped to the nearest pixel. */
	*first = a < total ? (JDIMENSION)a : total - 1;
	*end = b > *first ? (JDIMENSION)b : *first + 1;
}

/* Decode rows up to ${end} - 1 into ${to}. */
static void
jpeg_decode_read_rows(struct jpeg_decoder *d, JDIMENSION end, uint8_t *to)
{
	size_t stride = (size_t)d->j.output_components *
	    (size_t)d->j.output_width;

	while (d->j.output_scanline < end) {
		JSAMPROW row[8];
		JDIMENSION n = end - d->j.output_scanline;

		n = n < 8 ? n : 8;
		for (JDIMENSION i = 0; i < n; i++)
			row[i] = to + i * stride;
		to += jpeg_read_scanlines(&d->j, row, n) * stride;
	}
}

/*
 * Return 1 if the end-of-image marker is at the end of the file.  The file is
 * then complete, and the rows below the region need no decoding to show it.
 */
static int
jpeg_decode_is_whole(const uint8_t *data, size_t n)
{
	return n >= 2 && data[n - 2] == 0xff && data[n - 1] == JPEG_EOI;
}

/* The body of jpeg_decode.  Errors leave it by longjmp. */
static void
jpeg_decode_inner(struct jpeg_decoder *d, const uint8_t *data, size_t n,
    const struct jpeg_part *p, struct image *out, struct region *at)
{
	struct jpeg_decompress_struct *j = &d->j;
	JDIMENSION left, right, top, bottom, width;
	size_t size, c = p->gray ? 1 : 3;
	double by;

	if (data != NULL)
		jpeg_decode_header(d, data, n);
	assert(d->data != NULL);
	j->out_color_space = p->gray ? JCS_GRAYSCALE : JCS_RGB;
	j->scale_num = jpeg_decode_scale(p);
	j->scale_denom = 8;
	by = j->scale_num / 8.0;
	jpeg_start_decompress(j);
	jpeg_decode_widen(p->r.x * by, p->r.w * by, p->want_w, j->output_width,
	    &left, &right);
	jpeg_decode_widen(p->r.y * by, p->r.h * by, p->want_h, j->output_height,
	    &top, &bottom);
	width = right - left;
	if (width < j->output_width)
		jpeg_crop_scanline(j, &left, &width);	/* rounds ${left} down
							 * to a block */
	size = c * (size_t)j->output_width * (bottom - top);
	jpeg_decode_reserve(d, size + c * (size_t)j->output_width);
	if (top > 0)
		jpeg_skip_scanlines(j, top);
	jpeg_decode_read_rows(d, bottom, d->pixels);
	*out = (struct image){ .w = (int)j->output_width,
		.h = (int)(bottom - top), .c = (int)c, .data = d->pixels };
	*at = (struct region){ p->r.x * by - left, p->r.y * by - top,
		p->r.w * by, p->r.h * by };
	if (bottom < j->output_height && jpeg_decode_is_whole(d->data, d->n)) {
		jpeg_decode_end(d);
		return;
	}
	/* libjpeg would not check data that are skipped up to the end, so
	 * decode the last row. */
	if (bottom + 1 < j->output_height)
		jpeg_skip_scanlines(j, j->output_height - 1 - bottom);
	jpeg_decode_read_rows(d, j->output_height, d->pixels + size);
	jpeg_finish_decompress(j);
	d->data = NULL;
}

int
jpeg_decode(struct jpeg_decoder *d, const void *data, size_t n,
    const struct jpeg_part *p, struct image *out, struct region *at,
    struct error *why)
{
	if (setjmp(d->back))
		return jpeg_decode_refuse(d, why);
	jpeg_decode_inner(d, data, n, p, out, at);
	return 0;
}
