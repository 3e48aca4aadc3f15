#ifndef CLIP_FRAME_CHECK_H
#define CLIP_FRAME_CHECK_H

/* Does a stored frame decode?  What verify_set asks of each. */

#include <stddef.h>

#include "base/fail.h"

struct frame_check;

/* For ${threads} threads, numbered from 0. */
struct frame_check *frame_check_new(int threads);
void frame_check_free(struct frame_check *c);

/*
 * frame_check(c, thread, ext, data, n, w, h, why):
 * 0 if the frame decodes to ${w} x ${h} pixels, or to any size if they are 0;
 * -1 after a message (error_set) without a file name.
 */
int frame_check(struct frame_check *c, int thread, const char *ext,
    const void *data, size_t n, int w, int h, struct error *why);

#endif
