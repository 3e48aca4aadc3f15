#ifndef MEDIA_RAW_H
#define MEDIA_RAW_H

/*
 * Clips whose frames are not yet resized: the pixels that decoding gave, no more
 * of them than are looked at, beside tables of what image_resize would make of
 * them, which needs no doubles then.  A device has what a frame becomes from
 * them by itself, to the same bits (backend/cuda/resize_body.h).
 *
 * A clip of t frames is t of struct raw_frame and what these point to, from a
 * multiple of 16 bytes on.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/raw_frame.h"
#include "media/image.h"

/* A clip that is being laid out: a thread's own, for one after the other. */
struct raw_clip;

struct raw_clip *raw_new(void);
void raw_free(struct raw_clip *c);

/*
 * raw_begin(c, to, room, t, side): a clip of ${t} frames of ${side} x ${side}
 * pixels, to ${to}, a multiple of 16 bytes, where there are raw_room bytes.
 * raw_add(c, z, how, from, r, flip): its next frame is what image_resize would make
 * of ${from}.  Where there is no room for the pixels of that, it is made here.
 * raw_repeat(c): its next frame is the last one again.
 * raw_used(c): the bytes of it so far, a multiple of 16.
 */
void raw_begin(struct raw_clip *c, uint8_t *to, size_t room, int t, int side);
void raw_add(struct raw_clip *c, struct resizer *z, int how,
    const struct image *from, struct region r, int flip);
void raw_repeat(struct raw_clip *c);
size_t raw_used(const struct raw_clip *c);

#endif
