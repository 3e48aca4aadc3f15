#ifndef MEDIA_RESIZE_H
#define MEDIA_RESIZE_H

/* Between resize.c, which plans, and resize.isa.c, which does the work. */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"
#include "media/image.h"

/* What the weights of a column and of a row add up to (resize.isa.c). */
#define RESIZE_ACROSS 255
#define RESIZE_DOWN 8224

#define RESIZE_SLACK 8	/* words that a store may pass the end of a line by */
#define RESIZE_QUAD 72	/* bytes of the plan of four pixels */

/* One place of an output axis: w[0] of input ${at} and w[1] of ${at} + 1. */
struct resize_tap { int at, w[2]; };

struct resize_job {
	uint8_t *to;			/* [to_h][to_w][3] */
	int to_w, to_h;
	const uint8_t *from;		/* [from_h][from_w][3] */
	int from_w, from_h;
	const struct resize_tap *x;	/* [to_w]; at + 1 is in the image, */
	const struct resize_tap *y;	/* [to_h]    unless it has but 1 */
	int16_t *line;			/* [2][3 to_w + RESIZE_SLACK] */
	void *quads;			/* [to_w / 4 + 1][RESIZE_QUAD bytes] */
};

ISA_DECLARE(void, resize_run, (const struct resize_job *job));

/* image_resize by the copy ${run}, so that a test can compare the copies. */
void resize_by(void (*run)(const struct resize_job *job), struct resizer *z,
    uint8_t *to, int to_w, int to_h, const uint8_t *from, int from_w,
    int from_h, struct region r, int flip);

#endif
