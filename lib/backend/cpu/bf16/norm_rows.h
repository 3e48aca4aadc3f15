#ifndef BACKEND_CPU_BF16_NORM_ROWS_H
#define BACKEND_CPU_BF16_NORM_ROWS_H

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

#include "backend/cpu/bf16/bf16.h"
#include "backend/cpu/bf16/norm_kernels.h"
#include "backend/cpu/norm.h"

enum { HALF_WINDOWS = 16 };		/* windows of a row, at most */

/*
 * An activation: unshifted, or as stored by its shift together with the rows
 * that the shift drops.
 */
struct bf16_source {
	const void *x;
	const struct task *shift;	/* NULL: unshifted */
	bf16 *dropped;			/* [clips][hw][moved]: dropped rows */
	int ranges, moved;		/* channels that move */
	struct bf16_range range[HALF_WINDOWS / 2];
};

/*
 * A pass.  A piece is some rows of an image; a chunk is some rows of a piece.
 */
struct bf16_pass {
	const struct norm *n;
	struct task *bn;
	const struct dims *d;
	const struct bf16_norm_kernels *k;
	int recompute;			/* recompute: write recomputed outputs
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
	struct bf16_source shifted;	/* output of the fused shift */
	struct bf16_source res;		/* shortcut */
	float *p, *q;			/* [pieces][row]: the two sums */
	float *scale, *offset;		/* [row]: y = x scale + offset */
	float *a, *b, *c;		/* [row]: dx = v a + x b + c, v the
					 * gradient of y */
	double *sync;			/* [2][channels], with peers: sums here,
					 * then those over all ranks */
	bf16 *zeros;			/* [row] */
	bf16 *work;			/* [threads][chunk][row] */
};

/* Rows [first, first + rows) of an image. */
struct bf16_rows { int image; size_t first, rows; };

/*
 * bf16_norm_saved(t), bf16_norm_scratch(t):
 * The functions saved and scratch of struct op_impl, in bytes.
 */
size_t bf16_norm_saved(const struct task *t);
size_t bf16_norm_scratch(const struct task *t);

/*
 * bf16_norm_open(t):
 * Return the state of a pass of ${t}.  Its arrays point into the saved and the
 * scratch memory of ${t}, which this function does not initialize.
 */
struct bf16_pass bf16_norm_open(struct task *t);

/* bf16_piece(s, i): return piece ${i} of the s->images * s->cuts pieces. */
struct bf16_rows bf16_piece(const struct bf16_pass *s, int i);

/*
 * bf16_next_chunk(s, whole, p):
 * Advance ${p} to the next chunk of ${whole}; a zeroed ${p} gets the first.
 * Return 0 if there is none.
 */
int bf16_next_chunk(const struct bf16_pass *s, const struct bf16_rows *whole,
    struct bf16_rows *p);

/*
 * bf16_rows_at(s, x, p), bf16_mask_at(s, p), bf16_work(s, thread):
 * Return the rows ${p} of the unshifted activation ${x}; their mask, or NULL if
 * there is none; and the buffer for one chunk of a thread.
 */
bf16 *bf16_rows_at(const struct bf16_pass *s, const void *x,
    const struct bf16_rows *p);
uint16_t *bf16_mask_at(const struct bf16_pass *s, const struct bf16_rows *p);
bf16 *bf16_work(const struct bf16_pass *s, int thread);

/*
 * bf16_window(s, l, p, c, row, end):
 * Return channel ${c} of the first of the rows ${p} in ${l}.  Set ${*row} to
 * the numbers from one row to the next.  Lower ${*end} to the end of the range
 * of channels that ${l} stores together.  Return NULL if the shift drops these
 * rows and they are not saved.
 */
bf16 *bf16_window(const struct bf16_pass *s, const struct bf16_source *l,
    const struct bf16_rows *p, int c, size_t *row, int *end);

/*
 * bf16_clear_ends(s, p):
 * Where the shift drops the rows ${p}, clear the rows at the other end of the
 * clip, to which nothing moves.
 */
void bf16_clear_ends(const struct bf16_pass *s, const struct bf16_rows *p);

/*
 * bf16_scatter(s, p, y), bf16_gather(s, p, to):
 * Copy the rows ${y} of ${p} into the shifted activation and clear its ends;
 * and copy their gradient from it into ${to}, 0 for dropped channels.
 */
void bf16_scatter(const struct bf16_pass *s, const struct bf16_rows *p,
    const bf16 *y);
void bf16_gather(const struct bf16_pass *s, const struct bf16_rows *p,
    bf16 *to);

#endif
