#ifndef MEDIA_RESIZE_H
#define MEDIA_RESIZE_H

/*
 * Internal interface of image_resize.  resize.c and antialias.c plan weights;
 * resize.isa.c and antialias.isa.c compute pixels.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"
#include "media/resize_sums.h"
#include "media/image.h"

#define RESIZE_SLACK 16	/* words that a vector store may write past the end of a
			 * line */
#define RESIZE_ALIGN 64	/* alignment of vectors, in bytes */

/*
 * Key of the plan of an axis: ${n} output positions cover [start, start +
 * length).  They use input pixels ${first} to ${end} - 1 of ${total}.  All
 * frames of a clip have the same key, so the last plan is kept: planning takes
 * a tenth of the time of an antialiased frame.
 */
struct resize_span { double start, length; int n, first, end, total, flip; };

/* ---- bilinear ---- */

/* Weights of one output position: w[0] of input ${at}, w[1] of ${at} + 1. */
struct resize_tap { int at, w[2]; };

/*
 * The plan of four pixels, two in each half of a register.  A shuffle picks the
 * bytes of two pixels and their neighbors from 16 bytes at offset ${at}, which
 * are loaded at once; ${w} has the weights in the same order.
 */
struct resize_quad { int at[2]; uint8_t pick[2][16], w[2][16]; };

/* Arguments of resize_run: one bilinear resize. */
struct resize_job {
	uint8_t *to;			/* [to_h][to_w][3] */
	int to_w, to_h;
	const uint8_t *from;		/* [from_h][from_w][3] */
	int from_w, from_h;
	/* [to_w] and [to_h]; at + 1 is inside the image unless the axis has one
	 * pixel */
	const struct resize_tap *x;
	const struct resize_tap *y;
	int16_t *line;			/* [2][3 to_w + RESIZE_SLACK] */
	const struct resize_quad *quad;	/* plans of the first 4 ${quads}
					 * positions */
	int quads;			/* at most to_w / 4 */
};

/* resize_run(job): run ${job}.  The formula is in resize.isa.c. */
ISA_DECLARE(void, resize_run, (const struct resize_job *job));

/* ---- antialiased ---- */

/* One output axis: position i is the sum of k[i][j] times input at[i] + j. */
struct resize_axis {
	int n;
	int max_taps;			/* row length of ${k}: maximum taps per
					 * position */
	int pairs;			/* pairs of taps that cover every
					 * position */
	int copies;			/* 1: position i is pixel at[0] + i, of
					 * weight 1; -1: pixel at[0] - i; 0:
					 * neither */
	int *at, *count;		/* [n] */
	int32_t *k;			/* [n][max_taps], 0 from count[i] */
	size_t positions, taps;		/* capacity of ${at}, and of ${k} */
	struct resize_span of;		/* key of the plan; n is 0 without a
					 * plan */
};

/*
 * Weights of one pair of taps for positions i and i + 2, one position per half
 * of a register.  The order is that of the pixels: two weights for R, two for
 * G, two for B, then two zeros.  A weight is hi 2^11 + lo.
 */
struct antialias_pack { int16_t hi[16], lo[16]; };

#define ANTIALIAS_LOW 11

#define ANTIALIAS_QUADS 2	/* groups of four taps in antialias.vbmi.c */
#define ANTIALIAS_DIGITS 3	/* of a weight, the highest first */

/*
 * A weight k of 22 bits, and its word w of 15 bits.  For any two bytes p and q,
 * both give the same blend.  If no word does, w is -1.
 *
 *	[(q - p) w / 2^15] = [(q - p) k / 2^22]
 */
struct antialias_word { int32_t k, word; };

#define ANTIALIAS_WORDS 256	/* remembered words, a power of two */

/*
 * The plan of some bytes of a line: 16, or 32 with sums of two taps, or 48 that
 * copy input bytes.  Byte e has the taps pick[4 e] to pick[4 e + 3] of the 64
 * bytes at offset ${low}, and the same of those at ${low} + 12; or pick[2 e]
 * and pick[2 e + 1]; or pick[e].
 */
struct antialias_block {
	uint8_t pick[64];
	union {
		int8_t w[ANTIALIAS_QUADS][ANTIALIAS_DIGITS][64];
		int16_t blend[32];	/* words of the second of two taps, if
					 * all have one */
	};
	uint64_t inside[ANTIALIAS_QUADS];	/* bytes of both windows that
						 * are in the row */
	int low;
} __attribute__((aligned(RESIZE_ALIGN)));

/*
 * The plan of a row of the output: the weights of its 2, 4 or 8 taps.  Each
 * element of ${w} has a digit of four weights, or twice that of two.  ${blend}
 * is the word of the second of two taps, or -1.
 */
struct antialias_mix {
	int taps, blend;
	int32_t w[ANTIALIAS_QUADS][ANTIALIAS_DIGITS];
};

/* Arguments of antialias_run: one antialiased resize. */
struct antialias_job {
	uint8_t *to;			/* [y->n][x->n][3] */
	const uint8_t *from;		/* [..][from_w][3] */
	int from_w;
	const struct resize_axis *x, *y;
	int16_t *line;			/* [y->max_taps][3 x->n +
					 * RESIZE_SLACK] */
	/* Weights of the positions from ${low} to ${high} - 1, whose number is
	 * a multiple of four: [(high - low) / 2][x->pairs]. */
	const struct antialias_pack *pack;
	int low, high;
	/* of antialias_run_vbmi alone */
	uint8_t *lines;			/* [ring][3 x->n, rounded up to 64] */
	int ring;			/* a power of two above the taps of a
					 * row */
	const struct antialias_block *block;	/* all of a line */
	int taps, blends;		/* as in struct antialias */
	const struct antialias_mix *mix;	/* [y->n] */
};

/*
 * antialias_run(job), antialias_run_vbmi(job):
 * Run ${job}.  The formulas are in antialias.isa.c and antialias.vbmi.c.
 */
ISA_DECLARE(void, antialias_run, (const struct antialias_job *job));
void antialias_run_vbmi(const struct antialias_job *job);

/* The antialiased plan and its buffers, kept between calls. */
struct antialias {
	struct resize_axis x, y;
	struct antialias_pack *pack;
	int low, high;
	int16_t *line;
	size_t words, packs;		/* capacity of ${line}, and of
					 * ${pack} */
	struct antialias_block *block;	/* aligned, in ${blocks} */
	void *blocks;
	size_t block_bytes;		/* capacity of ${blocks} */
	struct antialias_mix *mix;	/* [y.n] */
	size_t mixes;			/* capacity of ${mix} */
	int taps;			/* taps in ${block} for each byte of a
					 * line: 1 copies it; 2, 4 or 8; 0: too
					 * many for antialias_run_vbmi */
	int blends;			/* 1: ${block} has words */
	/* Words found before, each at the hash of ${k}.  At first all have
	 * weight 0, whose word is 0. */
	struct antialias_word word[ANTIALIAS_WORDS];
	int planned;			/* plans made of ${x} and ${y} */
};

/* Plans that a copy of the code reads besides the axes. */
enum { ANTIALIAS_PACKS = 1, ANTIALIAS_BLOCKS = 2, ANTIALIAS_MIXES = 4 };

/* ---- both ---- */

/* See image.h.  Fields before ${antialias} belong to the bilinear plan. */
struct resizer {
	int w, h;			/* capacity */
	struct resize_tap *x, *y;	/* [w], [h] */
	struct resize_span across, down;	/* keys of ${x} and ${y} */
	struct resize_quad *quad;
	int quads;
	int16_t *line;
	struct antialias antialias;
};

/*
 * resize_inside(how, start, length, total, first, end):
 * Set ${*first} and ${*end} to the input range of the region [start, start +
 * length) of an axis of ${total} pixels: ${*first} to ${*end} - 1 may
 * contribute.  The range is never empty.  Without RESIZE_CUT in ${how} it has
 * all pixels.
 */
void resize_inside(int how, double start, double length, int total,
    int *first, int *end);

/* resize_spans(c, across, down): set the keys of both axes of the call ${c}. */
void resize_spans(const struct resize_call *c, struct resize_span *across,
    struct resize_span *down);

/*
 * resize_planned(was, of):
 * Return 1 if ${*was} equals ${*of}.  Otherwise set ${*was} to ${*of} and
 * return 0; the caller plans the axis.
 */
int resize_planned(struct resize_span *was, const struct resize_span *of);

/*
 * antialias_reserve(a, ...), antialias_free(a):
 * Do what resizer_reserve and resizer_free do, for the antialiased plan.
 */
void antialias_reserve(struct antialias *a, int w, int h, int from_w,
    int from_h);
void antialias_free(struct antialias *a);

/*
 * antialias_reserve_vbmi(a, w, h):
 * Allocate the plans of antialias_run_vbmi for results up to ${w} x ${h}.
 *
 * antialias_plan_vbmi(a, from_w):
 * Make these plans from the axes of ${a}, for rows of ${from_w} pixels, unless
 * they are made.  Return 1, or 0 if antialias_run_vbmi cannot run them.
 */
void antialias_reserve_vbmi(struct antialias *a, int w, int h);
int antialias_plan_vbmi(struct antialias *a, int from_w);

/* One copy of the code of both filters. */
struct resize_code {
	const char *name;
	void (*run)(const struct resize_job *job);
	void (*antialias)(const struct antialias_job *job);
	int vbmi;			/* 1: it is antialias_run_vbmi */
};

/*
 * resize_codes(n):
 * Return the copies that this processor can run, ${*n} of them, the fastest
 * last.  The result is static.
 *
 * resize_by(code, z, c), antialias_by(code, a, c):
 * Do the call ${c} with ${code}, one element of resize_codes, so that a test
 * can compare the copies.  If the copy cannot run the antialiased plan, use the
 * one before.
 */
const struct resize_code *resize_codes(int *n);
void resize_by(const struct resize_code *code, struct resizer *z,
    const struct resize_call *c);
void antialias_by(const struct resize_code *code, struct antialias *a,
    const struct resize_call *c);

#endif
