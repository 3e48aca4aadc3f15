#ifndef BACKEND_CPU_HALF_NORM_ROWS_H
#define BACKEND_CPU_HALF_NORM_ROWS_H

/*
 * The rows of a normalisation in bf16: where each lies, also in a shifted
 * activation, and the sums and factors that a pass keeps for its channels.
 *
 * A shift takes a few ranges of each place's channels.  Where these begin at
 * multiples of 32, rows are read from and written to where the shifted
 * activation has them, range by range, and those that it drops at the ends of
 * a clip are kept beside it.  Others are made in the cache and copied.
 */

#include "backend/cpu/half/half.h"
#include "backend/cpu/half/norm_kernels.h"
#include "backend/cpu/norm.h"

enum { HALF_WINDOWS = 16 };		/* of a row, at most */

/* An activation: plain, or as its shift has it, with what that drops. */
struct half_lies {
	const void *x;
	const struct task *shift;	/* NULL: plain */
	bf16 *side;			/* [clips][hw][moved] */
	int ranges, moved;		/* moved: channels */
	struct half_range range[HALF_WINDOWS / 2];
};

/* What all pieces of a pass share. */
struct half_pass {
	const struct norm *n;
	struct task *bn;
	const struct dims *d;
	const struct half_norm_kernels *k;
	int again;			/* only what is remade is written */
	int row, images;
	int cuts;			/* pieces of an image */
	int windows;			/* the shift's ranges are worked on where
					 * they lie */
	int stream;			/* stores go past the caches */
	size_t hw, rows;		/* places: of an image, of a piece */
	size_t chunk;			/* and of a chunk */
	float *mean, *rstd;		/* [row], half_channel's order; of a
					 * frozen norm 0 and none */
	uint16_t *mask;			/* [images][hw][row / 16]; or NULL */
	struct half_lies shifted;	/* what the task's shift gives */
	struct half_lies res;		/* the shortcut */
	float *p, *q;			/* [pieces][row] */
	float *scale, *offset;		/* [row]: y = x scale + offset */
	float *a, *b, *c;		/* [row]: dx = v a + x b + c */
	double *told;			/* [2][channels], with peers */
	bf16 *zeros;			/* [row] */
	bf16 *work;			/* [threads][chunk][row] */
};

/* Some rows of an image. */
struct half_rows { int image; size_t first, rows; };

/* As struct op_impl. */
size_t half_norm_saved(const struct task *t);
size_t half_norm_scratch(const struct task *t);

struct half_pass half_norm_open(struct task *t);

/* half_piece(s, i): piece ${i} of s->images s->cuts. */
struct half_rows half_piece(const struct half_pass *s, int i);

/* The next part of ${whole} that is a chunk; 0: no more. */
int half_next_chunk(const struct half_pass *s, const struct half_rows *whole,
    struct half_rows *p);

/* Where a plain activation has ${p}; what the relu let through there. */
bf16 *half_rows_at(const struct half_pass *s, const void *x,
    const struct half_rows *p);
uint16_t *half_mask_at(const struct half_pass *s, const struct half_rows *p);
bf16 *half_work(const struct half_pass *s, int thread);

/*
 * half_window(s, l, p, c, row, end): where ${l} has channels ${c} to ${*end} of
 * ${p}, how far it is to the next ${*row}; ${*end} is only ever lowered.  NULL:
 * dropped, and kept nowhere.
 */
bf16 *half_window(const struct half_pass *s, const struct half_lies *l,
    const struct half_rows *p, int c, size_t *row, int *end);

/* Clear what nothing comes to of ${p}'s clip, where ${p}'s are dropped. */
void half_clear_ends(const struct half_pass *s, const struct half_rows *p);

/* Rows ${y} to where the shifted activation has them, and a gradient back. */
void half_scatter(const struct half_pass *s, const struct half_rows *p,
    const bf16 *y);
void half_gather(const struct half_pass *s, const struct half_rows *p,
    bf16 *to);

#endif
