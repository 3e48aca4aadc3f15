/*
 * Encode planes as JPEG, through libjpeg's raw-data interface, which takes them
 * without conversion.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/number.h"
#include "media/jpeg.h"

#define ROOM 65536		/* minimum growth of the output, in bytes */

struct jpeg_encoder {
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr errors;
	struct jpeg_destination_mgr to;
	jmp_buf back;
	char why[JMSG_LENGTH_MAX];
	struct buffer *out;
	uint8_t *padded;	/* rows padded to whole blocks, if the image's
				 * width is not */
	size_t padded_size;
	int w, h;
};

/* ---- libjpeg's callbacks ---- */

/*
 * libjpeg requires that this does not return: jump to the setjmp in the caller.
 */
static void
jpeg_encode_on_error(j_common_ptr c)
{
	struct jpeg_encoder *e = c->client_data;

	c->err->format_message(c, e->why);
	longjmp(e->back, 1);
}

static void
jpeg_encode_on_message(j_common_ptr c)
{
	(void)c;
}

static void
jpeg_encode_on_start(j_compress_ptr c)
{
	(void)c;		/* jpeg_encode_aim has set the destination */
}

/*
 * Let libjpeg append at least ${capacity} bytes to ${e->out}. One byte is kept
 * for the NUL that ends a buffer.
 */
static void
jpeg_encode_aim(struct jpeg_encoder *e, size_t capacity)
{
	struct buffer *b = e->out;

	if (b->cap - b->n < capacity + 1) {
		b->cap = b->n + b->n / 2 + capacity + 1;
		b->data = xrealloc(b->data, b->cap, 1);
	}
	e->to.next_output_byte = (JOCTET *)b->data + b->n;
	e->to.free_in_buffer = b->cap - b->n - 1;
}

static boolean
jpeg_encode_on_full(j_compress_ptr c)
{
	struct jpeg_encoder *e = c->client_data;

	e->out->n = e->out->cap - 1;
	jpeg_encode_aim(e, ROOM);
	return TRUE;
}

static void
jpeg_encode_on_end(j_compress_ptr c)
{
	struct jpeg_encoder *e = c->client_data;

	e->out->n = e->out->cap - 1 - e->to.free_in_buffer;
	e->out->data[e->out->n] = '\0';
}

/* ---- encoding ---- */

static struct jpeg_encoder *
jpeg_encoder_open(int quality, J_COLOR_SPACE space, int components)
{
	struct jpeg_encoder *e = xcalloc(1, sizeof(*e));

	e->c.err = jpeg_std_error(&e->errors);
	e->errors.error_exit = jpeg_encode_on_error;
	e->errors.output_message = jpeg_encode_on_message;
	e->c.client_data = e;
	if (setjmp(e->back))
		die(EXIT_FAILED, "libjpeg does not start: %s", e->why);
	jpeg_create_compress(&e->c);
	e->to.init_destination = jpeg_encode_on_start;
	e->to.empty_output_buffer = jpeg_encode_on_full;
	e->to.term_destination = jpeg_encode_on_end;
	e->c.dest = &e->to;
	/* Quantization tables depend only on the quality. */
	e->c.in_color_space = space;
	e->c.input_components = components;
	jpeg_set_defaults(&e->c);
	jpeg_set_quality(&e->c, quality, TRUE);
	e->c.dct_method = JDCT_ISLOW;
	return e;
}

struct jpeg_encoder *
jpeg_encoder_new(int quality)
{
	return jpeg_encoder_open(quality, JCS_YCbCr, 3);
}

struct jpeg_encoder *
jpeg_encoder_gray(int quality)
{
	return jpeg_encoder_open(quality, JCS_GRAYSCALE, 1);
}

void
jpeg_encoder_free(struct jpeg_encoder *e)
{
	if (e == NULL)
		return;
	jpeg_destroy_compress(&e->c);
	free(e->padded);
	free(e);
}

/* Set the size and the destination of an image, if it can be encoded. */
static int
jpeg_encode_set(struct jpeg_encoder *e, int w, int h, struct buffer *out)
{
	e->out = out;
	e->w = w;
	e->h = h;
	if (w >= 1 && h >= 1 && w <= JPEG_MAX_DIMENSION &&
	    h <= JPEG_MAX_DIMENSION)
		return 0;
	return fail("JPEG: %dx%d pixels (wanted 1 to %ld each way)", w, h,
	    JPEG_MAX_DIMENSION);
}

/*
 * Set ${luma} and ${chroma} to sixteen rows of luma and eight of chroma,
 * starting at row ${y}, in whole blocks.  Rows below the image repeat its last
 * row; columns to its right repeat the last pixel.  Only rows that lack columns
 * are copied.
 */
static void
jpeg_encode_take_rows(struct jpeg_encoder *e, const uint8_t *const plane[3],
    const int stride[3], int y, JSAMPROW luma[16], JSAMPROW chroma[2][8])
{
	uint8_t *spare = e->padded;

	for (int p = 0; p < 3; p++) {
		int w = p > 0 ? (e->w + 1) / 2 : e->w;
		int h = p > 0 ? (e->h + 1) / 2 : e->h;
		int rows = p > 0 ? 8 : 16, top = p > 0 ? y / 2 : y;
		int wide = (int)round_up((uint64_t)w, DCTSIZE);
		JSAMPROW *row = p > 0 ? chroma[p - 1] : luma;

		for (int i = 0; i < rows; i++) {
			int k = top + i < h ? top + i : h - 1;

			/* libjpeg does not write here; its interface lacks a
			 * const. */
			row[i] = (JSAMPROW)plane[p] + k * (ptrdiff_t)stride[p];
			if (wide == w)
				continue;
			memcpy(spare, row[i], (size_t)w);
			memset(spare + w, spare[w - 1], (size_t)(wide - w));
			row[i] = spare;
			spare += wide;
		}
	}
}

/* Begin an image of e->w x e->h pixels, as planes if ${raw} is TRUE. */
static void
jpeg_encode_begin(struct jpeg_encoder *e, boolean raw)
{
	e->c.image_width = (JDIMENSION)e->w;
	e->c.image_height = (JDIMENSION)e->h;
	e->c.raw_data_in = raw;
	jpeg_encode_aim(e, ROOM);
	jpeg_start_compress(&e->c, TRUE);
}

/* After an error, restore ${e->out} to its ${before} bytes. */
static int
jpeg_encode_give_up(struct jpeg_encoder *e, size_t before)
{
	jpeg_abort_compress(&e->c);
	e->out->n = before;
	return fail("JPEG: %s", e->why);
}

int
jpeg_encode_planes(struct jpeg_encoder *e, const uint8_t *const plane[3],
    const int stride[3], int w, int h, struct buffer *out)
{
	const size_t before = out->n;
	JSAMPROW luma[16], chroma[2][8];
	JSAMPARRAY planes[3] = { luma, chroma[0], chroma[1] };
	size_t size;

	if (jpeg_encode_set(e, w, h, out) != 0)
		return -1;
	size = 16 * round_up((uint64_t)w, DCTSIZE) +
	    16 * round_up(((uint64_t)w + 1) / 2, DCTSIZE);
	if (size > e->padded_size) {
		e->padded = xrealloc(e->padded, size, 1);
		e->padded_size = size;
	}
	if (setjmp(e->back))
		return jpeg_encode_give_up(e, before);
	jpeg_encode_begin(e, TRUE);
	for (int y = 0; y < h; y += 16) {
		jpeg_encode_take_rows(e, plane, stride, y, luma, chroma);
		jpeg_write_raw_data(&e->c, planes, 16);
	}
	jpeg_finish_compress(&e->c);
	return 0;
}

int
jpeg_encode_gray(struct jpeg_encoder *e, const uint8_t *pixels, int w, int h,
    struct buffer *out)
{
	const size_t before = out->n;

	if (jpeg_encode_set(e, w, h, out) != 0)
		return -1;
	if (setjmp(e->back))
		return jpeg_encode_give_up(e, before);
	jpeg_encode_begin(e, FALSE);
	while (e->c.next_scanline < e->c.image_height) {
		/* libjpeg does not write here. */
		JSAMPROW row = (JSAMPROW)(uintptr_t)pixels +
		    (size_t)e->c.next_scanline * (size_t)w;

		jpeg_write_scanlines(&e->c, &row, 1);
	}
	jpeg_finish_compress(&e->c);
	return 0;
}
