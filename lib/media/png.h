#ifndef MEDIA_PNG_H
#define MEDIA_PNG_H

/* Read and write PNG through libpng: 8-bit RGB and gray. */

#include <stddef.h>

#include "base/fail.h"
#include "base/mem.h"
#include "media/image.h"

/*
 * png_encode(m, out):
 * Append ${m} to ${out} as PNG.  The bytes depend only on the pixels and on the
 * versions of libpng and zlib.  Return 0, or -1 after a message without a file
 * name; ${out} is then unchanged.
 */
int png_encode(const struct image *m, struct buffer *out);

/*
 * png_decode_to(m, data, n, why):
 * Decode the PNG ${data}, ${n} bytes, as RGB into ${m}, which image_reshape
 * resizes.  Return 0, or -1 after a message (error_set) without a file name.
 */
int png_decode_to(struct image *m, const void *data, size_t n,
    struct error *why);

#endif
