#ifndef MEDIA_IMAGE_H
#define MEDIA_IMAGE_H

/*
 * Images as bytes: 8 bits a channel, [h][w][c], c = 3 for RGB and 1 for
 * grey, rows without gaps.
 */

#include <stddef.h>
#include <stdint.h>

struct image {
	int w, h, c;
	uint8_t *data;
	size_t room;		/* bytes of ${data}, where it may grow */
};

/* A rectangle of an image, in pixels; edges may be fractional. */
struct region { double x, y, w, h; };

/* image_new(w, h, c): a black image, for image_free; dies without memory. */
struct image *image_new(int w, int h, int c);
void image_free(struct image *m);

/*
 * image_reshape(m, w, h, c):
 * Make ${m}, which is image_new's or all 0, of that size; what it shows is
 * undefined then.  It grows, and never shrinks: free ${m}->data in the end.
 */
void image_reshape(struct image *m, int w, int h, int c);

/*
 * What resizing writes down meanwhile, kept so that frames of a size that was
 * there before allocate nothing; a thread's own.
 */
struct resizer;

struct resizer *resizer_new(void);
void resizer_free(struct resizer *z);

/*
 * resizer_reserve(z, w, h, from_w, from_h): have room for results up to
 * ${w} x ${h} of images up to ${from_w} x ${from_h}.
 */
void resizer_reserve(struct resizer *z, int w, int h, int from_w, int from_h);

/*
 * How to resize: one of the two rules, and whether the region was cut out
 * first, so that nothing outside of it is looked at.
 * RESIZE_BILINEAR: without a filter for shrinking, as PySlowFast resizes
 * (torch.nn.functional.interpolate, align_corners=False).  Pixel centres lie at
 * half: output pixel i samples input coordinate r.x + (i + 0.5) * r.w / to_w -
 * 0.5, clamped.  Weights are in 1/255 across and 1/8224 down, which leaves each
 * byte within 1 of the exact value, and exact where output pixels lie on input
 * pixels.
 * RESIZE_ANTIALIAS: as Pillow's BILINEAR, which TSM uses: where an axis
 * shrinks, the triangle of weights is as much wider, so that every pixel counts.
 * The bytes of Pillow 9, and within 1 of those of later ones.
 */
enum { RESIZE_BILINEAR = 0, RESIZE_ANTIALIAS = 1, RESIZE_CUT = 2 };

/*
 * image_resize(z, how, to, to_w, to_h, from, from_w, from_h, r, flip):
 * Write region ${r} of the RGB image ${from} to ${to} as ${to_w} x ${to_h}
 * pixels, mirrored left to right if ${flip}; ${how}: a rule, | RESIZE_CUT if
 * so.  Of pixels that a cut divides those are inside whose centre is.  The same
 * bits on every machine.  ${to} and ${from} must not overlap.
 */
void image_resize(struct resizer *z, int how, uint8_t *to, int to_w, int to_h,
    const uint8_t *from, int from_w, int from_h, struct region r, int flip);

#endif
