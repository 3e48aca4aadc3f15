#ifndef MEDIA_RESIZE_H
#define MEDIA_RESIZE_H

/*
 * What the files of the two ways to resize share: resize.c and antialias.c
 * plan, resize.isa.c and antialias.isa.c do the work.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"
#include "base/resize_sums.h"
#include "media/image.h"

#define RESIZE_SLACK 16	/* words that a store may pass the end of a line by */

/*
 * What an axis is planned for: ${n} places over [start, start + length) of the
 * pixels ${first} to ${end} - 1 of ${total}.  All frames of a clip have the same
 * plan, so the last one is kept and made anew only for another span: planning
 * takes a tenth of the time of an antialiased frame.
 */
struct resize_span { double start, length; int n, first, end, total, flip; };

/* ---- bilinear ---- */

/* One place of an output axis: w[0] of input ${at} and w[1] of ${at} + 1. */
struct resize_tap { int at, w[2]; };

/*
 * The plan of four pixels, two in each half of a register: the bytes of two and
 * of their neighbours are picked from 16 that are loaded at once.
 */
struct resize_quad { int at[2]; uint8_t pick[2][16], w[2][16]; };

struct resize_job {
	uint8_t *to;			/* [to_h][to_w][3] */
	int to_w, to_h;
	const uint8_t *from;		/* [from_h][from_w][3] */
	int from_w, from_h;
	const struct resize_tap *x;	/* [to_w]; at + 1 is in the image, */
	const struct resize_tap *y;	/* [to_h]    unless it has but 1 */
	int16_t *line;			/* [2][3 to_w + RESIZE_SLACK] */
	const struct resize_quad *quad;	/* [quads] of the first places, at most */
	int quads;			/*    to_w / 4 */
};

ISA_DECLARE(void, resize_run, (const struct resize_job *job));

/* ---- antialiased ---- */

/* One output axis: place i is the sum of k[i][j] of input at[i] + j. */
struct resize_axis {
	int n;
	int most;			/* taps that there is room for, a place */
	int pairs;			/* of taps that a place has, at most */
	int copies;			/* 1: place i is pixel at[0] + i, */
					/* -1: at[0] - i; 0: neither */
	int *at, *count;		/* [n] */
	int32_t *k;			/* [n][most], 0 beyond count */
	size_t places, taps;		/* there is room for */
	struct resize_span of;		/* what is planned; n = 0: nothing */
};

/*
 * The weights of a pair of taps of places i and i + 2, in halves of a register,
 * as the pixels are put: for R two, for G, for B, and two that are 0.  A weight
 * is hi 2^11 + lo.
 */
struct antialias_pack { int16_t hi[16], lo[16]; };

#define ANTIALIAS_LOW 11

struct antialias_job {
	uint8_t *to;			/* [y->n][x->n][3] */
	const uint8_t *from;		/* [..][from_w][3] */
	int from_w;
	const struct resize_axis *x, *y;
	int16_t *line;			/* [y->most][3 x->n + RESIZE_SLACK] */
	/* Of the places from ${low} to ${high} - 1, which are four times some
	 * number: [(high - low) / 2][x->pairs]. */
	const struct antialias_pack *pack;
	int low, high;
};

ISA_DECLARE(void, antialias_run, (const struct antialias_job *job));

/* What is kept from frame to frame. */
struct antialias {
	struct resize_axis x, y;
	struct antialias_pack *pack;
	int low, high;
	int16_t *line;
	size_t words, packs;		/* there is room for */
};

/* ---- both ---- */

struct resizer {
	int w, h;			/* bilinear: there is room for */
	struct resize_tap *x, *y;	/* [w], [h] */
	struct resize_span across, down;	/* that they are planned for */
	struct resize_quad *quad;
	int quads;
	int16_t *line;
	struct antialias antialias;
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

/*
 * resize_spans(c, across, down): what the axes of a call are planned for.
 * resize_planned(was, of): 1 if ${*was} is the same; otherwise it becomes so,
 * and the caller plans.
 */
void resize_spans(const struct resize_call *c, struct resize_span *across,
    struct resize_span *down);
int resize_planned(struct resize_span *was, const struct resize_span *of);

/* resize_plan, antialias_plan: the axes of a call, as either way has them. */
void resize_plan(struct resizer *z, const struct resize_call *c);
void antialias_plan(struct antialias *a, const struct resize_call *c);

/* antialias_reserve, antialias_free: for resizer_reserve and resizer_free. */
void antialias_reserve(struct antialias *a, int w, int h, int from_w,
    int from_h);
void antialias_free(struct antialias *a);

/* image_resize by these copies, so that a test can compare them. */
void resize_by(void (*run)(const struct resize_job *job), struct resizer *z,
    const struct resize_call *c);
void antialias_by(void (*run)(const struct antialias_job *job),
    struct resizer *z, const struct resize_call *c);

#endif
