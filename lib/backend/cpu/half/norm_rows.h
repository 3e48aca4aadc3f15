#ifndef BACKEND_CPU_HALF_NORM_ROWS_H
#define BACKEND_CPU_HALF_NORM_ROWS_H

/*
 * The state of one pass of a bf16 normalization over its rows.  Its functions
 * locate rows in unshifted and shifted activations.  norm.c runs the pass.
 *
 * A shift moves a few ranges of the channels of a position.  If these begin at
 * multiples of 32, the pass reads and writes rows directly in the shifted
 * activation, range by range.  Rows that the shift drops at the ends of a clip
 * are saved next to it.  Otherwise the pass computes rows in the cache and
 * copies them.
 */

#include "backend/cpu/half/half.h"
#include "backend/cpu/half/norm_kernels.h"
#include "backend/cpu/norm.h"

enum { HALF_WINDOWS = 16 };		/* windows of a row, at most */

/*
 * An activation: unshifted, or as stored by its shift together with the rows
 * that the shift drops.
 */
struct half_lies {
	const void *x;
	const struct task *shift;	/* NULL: unshifted */
	bf16 *side;			/* [clips][hw][moved]: dropped rows */
	int ranges, moved;		/* channels that move */
	struct half_range range[HALF_WINDOWS / 2];
};

/*
 * A pass.  A piece is some rows of an image; a chunk is some rows of a piece.
 */
struct half_pass {
	const struct norm *n;
	struct task *bn;
	const struct dims *d;
	const struct half_norm_kernels *k;
	int again;			/* recompute: write recomputed outputs
					 * only */
	int row, images;
	int cuts;			/* pieces of an image */
	int windows;			/* process the ranges of the shift in
					 * place */
	int stream;			/* store past the caches */
	size_t hw, rows;		/* positions of an image, of a piece */
	size_t chunk;			/* and of a chunk */
	float *mean, *rstd;		/* [row], storage order; frozen norm:
					 * mean is zeros and rstd NULL */
	uint16_t *mask;			/* [images][hw][row / 16] or NULL */
	struct half_lies shifted;	/* output of the fused shift */
	struct half_lies res;		/* shortcut */
	float *p, *q;			/* [pieces][row]: the two sums */
	float *scale, *offset;		/* [row]: y = x scale + offset */
	float *a, *b, *c;		/* [row]: dx = v a + x b + c, v the
					 * gradient of y */
	double *told;			/* [2][channels], with peers: sums here,
					 * then those over all ranks */
	bf16 *zeros;			/* [row] */
	bf16 *work;			/* [threads][chunk][row] */
};

/* Rows [first, first + rows) of an image. */
struct half_rows { int image; size_t first, rows; };

/*
 * half_norm_saved(t), half_norm_scratch(t):
 * The functions saved and scratch of struct op_impl, in bytes.
 */
size_t half_norm_saved(const struct task *t);
size_t half_norm_scratch(const struct task *t);

/*
 * half_norm_open(t):
 * Return the state of a pass of ${t}.  Its arrays point into the saved and the
 * scratch memory of ${t}, which this function does not initialize.
 */
struct half_pass half_norm_open(struct task *t);

/* half_piece(s, i): return piece ${i} of the s->images * s->cuts pieces. */
struct half_rows half_piece(const struct half_pass *s, int i);

/*
 * half_next_chunk(s, whole, p):
 * Advance ${p} to the next chunk of ${whole}; a zeroed ${p} gets the first.
 * Return 0 if there is none.
 */
int half_next_chunk(const struct half_pass *s, const struct half_rows *whole,
    struct half_rows *p);

/*
 * half_rows_at(s, x, p), half_mask_at(s, p), half_work(s, thread):
 * Return the rows ${p} of the unshifted activation ${x}; their mask, or NULL if
 * there is none; and the buffer for one chunk of a thread.
 */
bf16 *half_rows_at(const struct half_pass *s, const void *x,
    const struct half_rows *p);
uint16_t *half_mask_at(const struct half_pass *s, const struct half_rows *p);
bf16 *half_work(const struct half_pass *s, int thread);

/*
 * half_window(s, l, p, c, row, end):
 * Return channel ${c} of the first of the rows ${p} in ${l}.  Set ${*row} to
 * the numbers from one row to the next.  Lower ${*end} to the end of the range
 * of channels that ${l} stores together.  Return NULL if the shift drops these
 * rows and they are not saved.
 */
bf16 *half_window(const struct half_pass *s, const struct half_lies *l,
    const struct half_rows *p, int c, size_t *row, int *end);

/*
 * half_clear_ends(s, p):
 * Where the shift drops the rows ${p}, clear the rows at the other end of the
 * clip, to which nothing moves.
 */
void half_clear_ends(const struct half_pass *s, const struct half_rows *p);

/*
 * half_scatter(s, p, y), half_gather(s, p, to):
 * Copy the rows ${y} of ${p} into the shifted activation and clear its ends;
 * and copy their gradient from it into ${to}, 0 for dropped channels.
 */
void half_scatter(const struct half_pass *s, const struct half_rows *p,
    const bf16 *y);
void half_gather(const struct half_pass *s, const struct half_rows *p,
    bf16 *to);

#endif
