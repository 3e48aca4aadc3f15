#ifndef PNG_DECODE_H
#define PNG_DECODE_H

#include "media/png.h"

/*
 * png_decode(data, n):
 * Decode a PNG as RGB.  Return NULL after a message without a file name.  The
 * caller frees the image.
 */
static inline struct image *
png_decode(const void *data, size_t n)
{
	struct image *m = xcalloc(1, sizeof(*m));

	if (png_decode_to(m, data, n, NULL) == 0)
		return m;
	image_free(m);
	return NULL;
}

#endif
