#ifndef MEDIA_RESIZE_H
#define MEDIA_RESIZE_H

/*
 * What the files of the two ways to resize share: resize.c and antialias.c
 * plan, resize.isa.c and antialias.isa.c do the work.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"
#include "media/image.h"

#define RESIZE_SLACK 16	/* words that a store may pass the end of a line by */

/* ---- bilinear ---- */

/* What the weights of a column and of a row add up to (resize.isa.c). */
#define RESIZE_ACROSS 255
#define RESIZE_DOWN 8224

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

/* ---- antialiased ---- */

#define ANTIALIAS_BITS 22	/* weights are in 2^-22, as Pillow's */
#define ANTIALIAS_PACK 64	/* bytes that two pairs of weights take */

/* One output axis: place i is the sum of k[i][j] of input at[i] + j. */
struct resize_axis {
	int n;
	int most;			/* taps that there is room for, a place */
	int pairs;			/* of taps that a place has, at most */
	int *at, *count;		/* [n] */
	int32_t *k;			/* [n][most], 0 beyond count */
	size_t places, taps;		/* there is room for */
};

struct antialias_job {
	uint8_t *to;			/* [y->n][x->n][3] */
	const uint8_t *from;		/* [..][from_w][3] */
	int from_w;
	const struct resize_axis *x, *y;
	int16_t *line;			/* [y->most][3 x->n + RESIZE_SLACK] */
	void *pack;			/* [x->n / 2][x->pairs][ANTIALIAS_PACK] */
};

ISA_DECLARE(void, antialias_run, (const struct antialias_job *job));

/* ---- both ---- */

struct resizer {
	int w, h;			/* bilinear: there is room for */
	struct resize_tap *x, *y;	/* [w], [h] */
	int16_t *line;
	void *quads;
	struct resize_axis across, down;
	int16_t *ring;			/* antialiased lines */
	void *pack;
	size_t ring_words, packs;	/* there is room for */
};

/* A call of image_resize. */
struct resize_call {
	int how;
	uint8_t *to;
	int to_w, to_h;
	const uint8_t *from;
	int from_w, from_h;
	struct region r;
	int flip;
};

/*
 * resize_inside(how, start, length, total, first, end):
 * The pixels from ${*first} to ${*end} - 1 of an axis of ${total} that may be
 * looked at for a region of it.
 */
void resize_inside(int how, double start, double length, int total,
    int *first, int *end);

/* antialias_reserve, antialias_free: the part of ${z} that is antialias.c's. */
void antialias_reserve(struct resizer *z, int w, int h, int from_w,
    int from_h);
void antialias_free(struct resizer *z);

/* image_resize by these copies, so that a test can compare them. */
void resize_by(void (*run)(const struct resize_job *job), struct resizer *z,
    const struct resize_call *c);
void antialias_by(void (*run)(const struct antialias_job *job),
    struct resizer *z, const struct resize_call *c);

#endif
