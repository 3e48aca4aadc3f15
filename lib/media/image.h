#ifndef MEDIA_IMAGE_H
#define MEDIA_IMAGE_H

/*
 * Images as bytes: 8 bits per channel, [h][w][c], c = 3 for RGB and 1 for gray,
 * rows without padding.
 */

#include <stddef.h>
#include <stdint.h>

/* An image.  One that is all 0 is empty and can be passed to image_reshape. */
struct image {
	int w, h, c;
	uint8_t *data;
	size_t capacity;		/* capacity of ${data} in bytes; 0 if
					 * others own it */
};

/* A rectangle of an image, in pixels; edges may be fractional. */
struct region { double x, y, w, h; };

/*
 * image_new(w, h, c):
 * Return a black image of ${w} x ${h} pixels and ${c} channels, 1 or 3.  The
 * caller frees it with image_free.  The program ends if memory is exhausted.
 */
struct image *image_new(int w, int h, int c);

/* image_free(m): free ${m} and its pixels, or do nothing if it is NULL. */
void image_free(struct image *m);

/*
 * image_reshape(m, w, h, c):
 * Set the size of ${m}, which comes from image_new or is all 0.  Its pixels
 * become undefined.  Its memory grows as needed and never shrinks.  If ${m}
 * began as all 0, the caller frees ${m}->data.  The program ends if memory is
 * exhausted.
 */
void image_reshape(struct image *m, int w, int h, int c);

/*
 * Plans and buffers of image_resize.  They are kept between calls, so that a
 * repeated size allocates nothing.  A resizer belongs to one thread at a time.
 */
struct resizer;

/*
 * resizer_new():
 * Return a resizer.  The caller frees it with resizer_free.  resizer_free(NULL)
 * does nothing.
 */
struct resizer *resizer_new(void);
void resizer_free(struct resizer *z);

/*
 * resizer_reserve(z, w, h, from_w, from_h):
 * Allocate for results up to ${w} x ${h} of images up to ${from_w} x ${from_h}.
 * Later calls of image_resize up to these sizes allocate nothing.
 */
void resizer_reserve(struct resizer *z, int w, int h, int from_w, int from_h);

/*
 * How to resize: a filter, combined by | with RESIZE_CUT if the region counts
 * as cut out first, so that no pixel outside it contributes.
 *
 * RESIZE_BILINEAR: no low-pass filter, as PySlowFast resizes
 * (torch.nn.functional.interpolate, align_corners=False).  Pixel centers lie at
 * half integers: output pixel i samples input coordinate r.x + (i + 0.5) * r.w
 * / to_w - 0.5, clamped.  Weights are multiples of 1/255 horizontally and of
 * 1/8224 vertically.  Each byte is within 1 of the exact value, and exact where
 * output pixels coincide with input pixels.
 *
 * RESIZE_ANTIALIAS: as Pillow's BILINEAR, which TSM uses.  If an axis shrinks,
 * the triangle of weights widens by the same factor, so that every input pixel
 * contributes.  The bytes equal those of Pillow 9, and are within 1 of those of
 * later versions.
 *
 * RESIZE_CUT: a pixel that the region's edge divides is inside if its center
 * is.
 */
enum { RESIZE_BILINEAR = 0, RESIZE_ANTIALIAS = 1, RESIZE_CUT = 2 };

/* One resize of RGB images. */
struct resize_call {
	int how;			/* a filter, with RESIZE_CUT or
					 * without */
	uint8_t *to;			/* [to_h][to_w][3] */
	int to_w, to_h;
	const uint8_t *from;		/* [from_h][from_w][3] */
	int from_w, from_h;
	struct region r;		/* of ${from} */
	int flip;			/* 1: mirror left to right */
};

/*
 * image_resize(z, c):
 * Resize a region as ${c} says.  The result has the same bits on every machine.
 * c->to and c->from must not overlap.
 */
void image_resize(struct resizer *z, const struct resize_call *c);

#endif
