#ifndef JPEG_RGB_H
#define JPEG_RGB_H

/* Encode JPEG from RGB or gray pixels.  The product itself never encodes RGB. */

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "base/mem.h"
#include "media/image.h"

/*
 * jpeg_encode_rgb(quality, m, out):
 * Append a JPEG of ${m} to ${out}: 4:2:0 if it has 3 channels, gray if it has 1.
 */
static inline void
jpeg_encode_rgb(int quality, const struct image *m, struct buffer *out)
{
	struct jpeg_error_mgr errors;
	struct jpeg_compress_struct c = { .err = jpeg_std_error(&errors) };
	unsigned char *data = NULL;
	unsigned long n = 0;

	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &data, &n);
	c.image_width = (JDIMENSION)m->w;
	c.image_height = (JDIMENSION)m->h;
	c.in_color_space = m->c == 1 ? JCS_GRAYSCALE : JCS_RGB;
	c.input_components = m->c;
	jpeg_set_defaults(&c);
	jpeg_set_quality(&c, quality, TRUE);
	c.dct_method = JDCT_ISLOW;
	jpeg_start_compress(&c, TRUE);
	for (int y = 0; y < m->h; y++) {
		JSAMPROW row = m->data + (size_t)y * (size_t)(m->w * m->c);

		jpeg_write_scanlines(&c, &row, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	buffer_add(out, data, n);
	free(data);
}

#endif
