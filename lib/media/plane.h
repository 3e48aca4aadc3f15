#ifndef MEDIA_PLANE_H
#define MEDIA_PLANE_H

/*
 * Planar 4:2:0 images, as video decoders give and JPEG takes them: Y of w by
 * h, Cb and Cr of (w + 1) / 2 by (h + 1) / 2, 8 bits each.
 */

#include <stdint.h>

#include "base/isa.h"

struct planes { int w, h; uint8_t *plane[3]; int stride[3]; };

/* A image of one's own, whose memory is kept from size to size. */
struct plane_buffer { struct planes p; uint8_t *data; };

/* plane_room(b, w, h): give ${b} room for w by h pixels; return &b->p. */
struct planes *plane_room(struct plane_buffer *b, int w, int h);
void plane_buffer_free(struct plane_buffer *b);

/*
 * What the numbers of a source mean: the weights of red and blue in luma, and
 * whether Y uses 0 to 255 ("full") or 16 to 235 and Cb, Cr 16 to 240.
 */
struct plane_colour { double kr, kb; int full; };

/* plane_is_jfif(c): 1 if that is what JFIF wants: BT.601 weights, full. */
int plane_is_jfif(struct plane_colour c);

/*
 * plane_to_jfif(to, from, c):
 * Write ${from}, whose numbers mean ${c}, to ${to} of the same size as JFIF
 * means them.  With y, b, r the source's luma and chroma, the result is
 *
 *	y' = y + p b + q r	b' = s b + t r		r' = u b + v r
 *
 * whose coefficients follow from both definitions; for BT.709 they are
 * p 0.1016, q 0.1961, s 0.9898, t -0.1107, u -0.0725, v 0.9834.  Chroma is
 * taken as it stands for its two by two pixels.  ${to} may be ${from}.  The
 * same bits on every machine.
 */
void plane_to_jfif(struct planes *to, const struct planes *from,
    struct plane_colour c);

/* How to turn a stored image upright: swap the axes, then mirror left to
 * right, then flip top to bottom, each if set. */
struct plane_turn { int swap, mirror, flip; };

/* plane_turn(to, from, t): ${to} has the size of the turned image. */
void plane_turn(struct planes *to, const struct planes *from,
    struct plane_turn t);

/*
 * plane_turn_bytes(to, to_stride, w, h, from, from_stride, c, t):
 * The same for one image of ${c} interleaved bytes a pixel; w by h is the
 * size of the turned one.
 */
void plane_turn_bytes(uint8_t *to, int to_stride, int w, int h,
    const uint8_t *from, int from_stride, int c, struct plane_turn t);

/* The two loops of plane_to_jfif, for each instruction set. */
struct plane_factors { int y, offset, p, q, s, t, u, v; };	/* in 1/8192 */

ISA_DECLARE(void, plane_luma_row, (uint8_t *to, const uint8_t *from,
    const int32_t *add, int n, const struct plane_factors *f));
ISA_DECLARE(void, plane_chroma_row, (uint8_t *to_b, uint8_t *to_r,
    const uint8_t *from_b, const uint8_t *from_r, int32_t *add, int n,
    const struct plane_factors *f));

#endif
