#ifndef CLIP_FRAME_CHECK_H
#define CLIP_FRAME_CHECK_H

/* Check that stored frames decode, for verify_set. */

#include <stddef.h>

#include "base/fail.h"

/* The decoders of several threads. */
struct frame_check;

/*
 * frame_check_new(threads):
 * Return a checker for ${threads} threads.  The caller frees it with
 * frame_check_free; frame_check_free(NULL) does nothing.
 */
struct frame_check *frame_check_new(int threads);
void frame_check_free(struct frame_check *c);

/*
 * frame_check(c, thread, ext, data, n, w, h, why):
 * Decode the frame ${data} of ${n} bytes, a PNG if ${ext} is "png", else a
 * JPEG.  Return 0 if it has ${w} x ${h} pixels; ${w} 0: any size.  Return -1
 * after a message (error_set) without a file name.  Threads call it at the same
 * time, each with its own ${thread}, numbered from 0.
 */
int frame_check(struct frame_check *c, int thread, const char *ext,
    const void *data, size_t n, int w, int h, struct error *why);

#endif
