#ifndef MEDIA_RESIZE_H
#define MEDIA_RESIZE_H

/* Between resize.c, which plans, and resize.isa.c, which does the work. */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"
#include "media/image.h"

/*
 * One place of an output axis: it shows w[0] of input ${at} and w[1] of the
 * next one.  Rows count in 1/256, columns in 1/16384.
 */
struct resize_tap { int at, w[2]; };

struct resize_job {
	uint8_t *to;			/* [to_h][to_w][3] */
	int to_w, to_h;
	const uint8_t *from;		/* the first column in use; [..][3] */
	size_t stride;			/* bytes between input rows */
	int columns;			/* in use */
	int last_row;			/* of the input */
	const struct resize_tap *x;	/* [to_w], at counts from ${from} */
	const struct resize_tap *y;	/* [to_h] */
};

ISA_DECLARE(void, resize_run, (const struct resize_job *job));

/* image_resize by the copy ${run}, so that a test can compare the copies. */
void resize_by(void (*run)(const struct resize_job *job), uint8_t *to,
    int to_w, int to_h, const uint8_t *from, int from_w, int from_h,
    struct region r, int flip);

#endif
