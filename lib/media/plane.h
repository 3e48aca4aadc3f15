#ifndef MEDIA_PLANE_H
#define MEDIA_PLANE_H

/*
 * Planar 4:2:0 images, as video decoders return them and JPEG takes them.  Y
 * has w by h samples; Cb and Cr have (w + 1) / 2 by (h + 1) / 2; 8 bits each.
 */

#include <stdint.h>

#include "base/isa.h"

/* The planes Y, Cb, Cr of a w by h image; strides in bytes. */
struct planes { int w, h; uint8_t *plane[3]; int stride[3]; };

/* A planar image that owns its memory.  Begin with all 0. */
struct plane_buffer { struct planes p; uint8_t *data; };

/*
 * plane_buffer_resize(b, w, h):
 * Size ${b} for ${w} by ${h} pixels; a change of size leaves them undefined.
 * Return &b->p, valid until the next change or plane_buffer_free.  The program
 * ends if memory is exhausted.
 */
struct planes *plane_buffer_resize(struct plane_buffer *b, int w, int h);

/* plane_buffer_free(b): free the memory of ${b} and set it to all 0. */
void plane_buffer_free(struct plane_buffer *b);

/*
 * The color space of a source: the weights of red and blue in luma, and the
 * range.  Full range uses 0 to 255.  Limited range uses 16 to 235 for Y and 16
 * to 240 for Cb and Cr.
 */
struct plane_color { double kr, kb; int full; };

/*
 * plane_is_jfif(c):
 * Return 1 if ${c} is that of JFIF: BT.601 weights, full range.
 */
int plane_is_jfif(struct plane_color c);

/*
 * plane_to_jfif(to, from, c):
 * Convert ${from}, in the color space ${c}, to JFIF's color space, into ${to}
 * of the same size.  With y, b, r the source's luma and chroma, centered at 0,
 * the result is
 *
 *	y' = y + p b + q r	b' = s b + t r		r' = u b + v r
 *
 * The coefficients follow from both definitions.  For full-range BT.709 they
 * are p 0.1016, q 0.1961, s 0.9898, t -0.1107, u -0.0725, v 0.9834.  One chroma
 * sample serves its two by two pixels without interpolation.  ${to} may be
 * ${from}.  The result has the same bits on every machine.
 */
void plane_to_jfif(struct planes *to, const struct planes *from,
    struct plane_color c);

/*
 * Turns a stored image upright: swap the axes, then mirror left to right, then
 * flip top to bottom, each if set.
 */
struct plane_turn { int swap, mirror, flip; };

/*
 * plane_turn(to, from, t):
 * Write ${from}, turned by ${t}, to ${to}, which has the size of the turned
 * image and must not overlap ${from}.
 */
void plane_turn(struct planes *to, const struct planes *from,
    struct plane_turn t);

/*
 * plane_turn_bytes(to, to_stride, w, h, from, from_stride, c, t):
 * Turn one image of ${c} interleaved bytes per pixel as plane_turn does.  ${w}
 * by ${h} is the size of the turned image; strides are in bytes.
 */
void plane_turn_bytes(uint8_t *to, int to_stride, int w, int h,
    const uint8_t *from, int from_stride, int c, struct plane_turn t);

/*
 * The coefficients of plane_to_jfif, in 1/8192.  ${y} and ${offset} expand the
 * range of luma: y' = y * Y + offset.
 */
struct plane_factors { int y, offset, p, q, s, t, u, v; };

/*
 * The two loops of plane_to_jfif, for each instruction set (plane.isa.c).
 * ${add} is the contribution of chroma to luma, one element per pixel, in
 * 1/8192.
 */
ISA_DECLARE(void, plane_luma_row, (uint8_t *to, const uint8_t *from,
    const int32_t *add, int n, const struct plane_factors *f));
ISA_DECLARE(void, plane_chroma_row, (uint8_t *to_b, uint8_t *to_r,
    const uint8_t *from_b, const uint8_t *from_r, int32_t *add, int n,
    const struct plane_factors *f));

#endif
