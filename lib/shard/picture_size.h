#ifndef SHARD_PICTURE_SIZE_H
#define SHARD_PICTURE_SIZE_H

/* The size of a JPEG or PNG, from its header. */

#include <stddef.h>

/*
 * picture_size(ext, data, n, w, h):
 * Set ${*w} and ${*h} to the size in pixels of the picture ${data} of ${n}
 * bytes: a PNG if ${ext} is "png", else a JPEG.  Decode nothing, so the pixels
 * may still be damaged.  Return NULL, or a static text that describes why the
 * picture is not a frame, which has 1 to 65535 pixels each way.  The size of a
 * larger PNG is set, too.
 * Source: ITU-T T.81 section B.1.1 and B.2.2; PNG second edition, section
 * 11.2.2.
 */
const char *picture_size(const char *ext, const void *data, size_t n, int *w,
    int *h);

#endif
