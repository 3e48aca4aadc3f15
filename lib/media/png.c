/*
 * PNG through libpng's full interface.  The simplified interface is shorter,
 * but converts the pixels of files that carry a gamma.  Here the bytes of a
 * frame must be preserved.
 */
#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "media/png.h"

/* A damaged header must not cause terabytes to be allocated. */
#define MAX_SIDE 65535
#define MAX_PIXELS (1 << 27)

/* State shared by libpng's callbacks and the code below. */
struct png_job {
	png_structp png;
	png_infop info;
	const uint8_t *in;		/* reading: the file; ${at} of ${n}
					 * bytes are consumed */
	size_t n, at;
	struct buffer *out;		/* writing: the destination */
	struct image *m;
	char error[128];
};

/*
 * libpng requires that this does not return: jump to the setjmp in the caller.
 */
static void
png_on_error(png_structp png, const char *text)
{
	struct png_job *j = png_get_error_ptr(png);

	snprintf(j->error, sizeof(j->error), "%s", text);
	png_longjmp(png, 1);
}

/*
 * Ignore warnings: they concern data that do not affect pixels, such as unusual
 * color profiles.
 */
static void
png_on_warning(png_structp png, const char *text)
{
	(void)png;
	(void)text;
}

static void
png_on_write(png_structp png, png_bytep data, size_t n)
{
	buffer_add(((struct png_job *)png_get_io_ptr(png))->out, data, n);
}

static void
png_on_flush(png_structp png)
{
	(void)png;
}

static void
png_on_read(png_structp png, png_bytep to, size_t n)
{
	struct png_job *j = png_get_io_ptr(png);

	if (n > j->n - j->at)
		png_error(png, "the file is truncated");
	memcpy(to, j->in + j->at, n);
	j->at += n;
}

static png_bytep
png_row(const struct png_job *j, int y)
{
	return j->m->data + (size_t)y * (size_t)j->m->w * (size_t)j->m->c;
}

/* The body of png_encode, which libpng's errors leave by longjmp. */
static int
png_encode_inner(struct png_job *j)
{
	if (setjmp(png_jmpbuf(j->png)))
		return -1;
	png_set_write_fn(j->png, j, png_on_write, png_on_flush);
	png_set_IHDR(j->png, j->info, (png_uint_32)j->m->w,
	    (png_uint_32)j->m->h, 8, j->m->c == 3 ? PNG_COLOR_TYPE_RGB :
	    PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
	    PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_write_info(j->png, j->info);
	for (int y = 0; y < j->m->h; y++)
		png_write_row(j->png, png_row(j, y));
	png_write_end(j->png, NULL);
	return 0;
}

int
png_encode(const struct image *m, struct buffer *out)
{
	struct png_job j = { .out = out, .m = (struct image *)(uintptr_t)m };
	size_t before = out->n;
	int status;

	j.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &j, png_on_error,
	    png_on_warning);
	if (j.png == NULL || (j.info = png_create_info_struct(j.png)) == NULL) {
		png_destroy_write_struct(&j.png, NULL);
		return fail("libpng %s does not start", png_libpng_ver);
	}
	status = png_encode_inner(&j);
	png_destroy_write_struct(&j.png, &j.info);
	if (status != 0) {
		out->n = before;	/* remove the incomplete picture */
		return fail("PNG of %d x %d: %s", m->w, m->h, j.error);
	}
	return 0;
}

/* The body of png_decode_to, which libpng's errors leave by longjmp. */
static int
png_decode_inner(struct png_job *j)
{
	png_uint_32 w, h;
	int depth, color, passes;

	if (setjmp(png_jmpbuf(j->png)))
		return -1;
	png_set_user_limits(j->png, MAX_SIDE, MAX_SIDE);
	png_set_read_fn(j->png, j, png_on_read);
	png_read_info(j->png, j->info);
	png_get_IHDR(j->png, j->info, &w, &h, &depth, &color, NULL, NULL,
	    NULL);
	if ((uint64_t)w * h > MAX_PIXELS)
		png_error(j->png, "more than 128 million pixels");
	/* Convert palettes, gray, 1 to 16 bits and alpha to RGB. */
	png_set_expand(j->png);
	png_set_strip_16(j->png);
	png_set_strip_alpha(j->png);
	png_set_gray_to_rgb(j->png);
	passes = png_set_interlace_handling(j->png);
	png_read_update_info(j->png, j->info);
	image_reshape(j->m, (int)w, (int)h, 3);
	if (png_get_rowbytes(j->png, j->info) != 3 * (size_t)w)
		png_error(j->png, "not convertible to 8-bit RGB");
	for (; passes > 0; passes--)
		for (int y = 0; y < (int)h; y++)
			png_read_row(j->png, png_row(j, y), NULL);
	png_read_end(j->png, NULL);
	return 0;
}

int
png_decode_to(struct image *m, const void *data, size_t n, struct error *why)
{
	struct png_job j = { .in = data, .n = n, .m = m };
	int status;

	if (n < 8 || png_sig_cmp(data, 0, 8) != 0)
		return error_set(why, "not a PNG file");
	j.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &j, png_on_error,
	    png_on_warning);
	if (j.png == NULL || (j.info = png_create_info_struct(j.png)) == NULL) {
		png_destroy_read_struct(&j.png, NULL, NULL);
		return error_set(why, "libpng %s does not start",
		    png_libpng_ver);
	}
	status = png_decode_inner(&j);
	png_destroy_read_struct(&j.png, &j.info, NULL);
	return status == 0 ? 0 : error_set(why, "PNG at byte %zu of %zu: %s",
	    j.at, n, j.error);
}
