#ifndef MEDIA_PNG_H
#define MEDIA_PNG_H

/* PNG through libpng: 8-bit RGB and grey. */

#include <stddef.h>

#include "base/fail.h"
#include "base/mem.h"
#include "media/image.h"

/* png_encode(m, out): append the picture to ${out}; the same bytes for the
 * same pixels with the same libpng and zlib. */
int png_encode(const struct image *m, struct buffer *out);

/* png_decode_to(m, data, n, why): decode as RGB into ${m}, which image_reshape
 * fits to it.  Return 0, or -1 after a message (error_set) without a file name. */
int png_decode_to(struct image *m, const void *data, size_t n,
    struct error *why);

/* png_write(path, m): commit the picture as a file; "-" is standard output,
 * which the caller closes with stdout_done. */
int png_write(const char *path, const struct image *m);

#endif
