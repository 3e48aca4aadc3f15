#ifndef MEDIA_RAW_H
#define MEDIA_RAW_H

/*
 * Raw clips: frames that are decoded but not resized.  A raw clip holds the
 * pixels that resizing reads and tables of the weights.  A device resizes them
 * with integers only, to the same bits as image_resize
 * (backend/cuda/resize_body.h).
 *
 * A clip of t frames is an array of t struct decoded_frame
 * (base/decoded_frame.h), followed by the tables and pixels that they refer to.
 * It begins at a multiple of 16 bytes.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/decoded_frame.h"
#include "media/image.h"

/*
 * A writer of raw clips, reused from clip to clip.  It belongs to one thread at
 * a time.
 */
struct raw_clip;

/* raw_new(): return a writer.  The caller frees it with raw_free. */
struct raw_clip *raw_new(void);
void raw_free(struct raw_clip *c);

/*
 * raw_begin(c, to, capacity, t, side):
 * Begin a clip of ${t} frames, to be resized to ${side} x ${side} pixels, at
 * ${to}, a multiple of 16 bytes. ${capacity} is the capacity in bytes:
 * decoded_clip_bytes (base/decoded_frame.h), and at least the frame array and
 * ${t} resized frames.
 */
void raw_begin(struct raw_clip *c, uint8_t *to, size_t capacity, int t, int side);

/*
 * raw_add(c, z, how, from, r, flip):
 * Append the frame that image_resize would make of ${from}, with the same
 * arguments.  If its raw pixels do not fit, store the resized frame instead.
 * Later frames always have capacity to be stored resized.  ${from} is not kept.
 */
void raw_add(struct raw_clip *c, struct resizer *z, int how,
    const struct image *from, struct region r, int flip);

/*
 * raw_repeat(c):
 * Append the last frame again; at least one raw_add came before.
 */
void raw_repeat(struct raw_clip *c);

/*
 * raw_used(c):
 * Return the size of the clip so far in bytes, a multiple of 16.
 */
size_t raw_used(const struct raw_clip *c);

#endif
