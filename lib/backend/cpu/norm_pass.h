#ifndef BACKEND_CPU_NORM_PASS_H
#define BACKEND_CPU_NORM_PASS_H

/*
 * The state of one pass of a normalization: forward, backward or recomputing.
 * Its functions locate numbers in unshifted and shifted activations.  norm.c
 * runs the pass.
 *
 * A piece is what one job does: a block of channels of an image in fp32, some
 * positions of an image in bf16.  A row is the channels of a piece at one
 * position.
 *
 * A shift moves a few ranges of the channels of a position.  If these begin at
 * whole vectors, a pass reads and writes rows directly in the shifted
 * activation, range by range.  Rows that the shift drops at the ends of a clip
 * are saved next to it.  Otherwise the pass copies rows in the cache: in bf16
 * its results, in fp32 what it reads.
 */

#include "backend/cpu/bf16/bf16.h"
#include "backend/cpu/norm.h"
#include "backend/cpu/norm_kernels.h"

enum { NORM_WINDOWS = 16 };		/* windows of a row, at most */

/*
 * An activation: unshifted, or as stored by its shift together with the rows
 * that the shift drops.
 */
struct norm_source {
	const void *x;
	const struct task *shift;	/* NULL: unshifted */
	void *dropped;			/* dropped rows, laid out as an
					 * activation [clips][hw][moved] */
	int ranges, moved;		/* channels that move, the first ones */
	struct cpu_shift_range range[NORM_WINDOWS / 2];
};

struct norm_pass {
	const struct norm *n;
	struct task *bn;
	const struct dims *d;
	const struct norm_kernels *k;
	int recompute;			/* recompute: write recomputed outputs
					 * only */
	int half;			/* 1: bf16, 0: fp32 */
	size_t size;			/* bytes of a number */
	int lanes;			/* channels of a vector */
	int whole;			/* channels that a shift must move
					 * together, to be done in place */
	int row, images;		/* row: channels, padded */
	int blocks, width;		/* blocks of channels, their channels */
	int cuts;			/* pieces of a block of an image */
	int pieces;
	int stream;			/* store past the caches */
	size_t hw, rows;		/* positions of an image, of a piece */
	size_t chunk;			/* positions computed before they are
					 * copied */
	float *mean, *rstd;		/* [row], storage order; frozen norm:
					 * mean is zeros and rstd NULL */
	uint16_t *mask;			/* one bit per number of y; NULL if the
					 * chain saves none */
	struct norm_source shifted;	/* output of the fused shift */
	struct norm_source res;		/* shortcut */
	float *p, *q;			/* [images * cuts][row]: the two sums of
					 * each piece */
	float *scale, *offset;		/* [row]: y = x scale + offset */
	float *a, *b, *c;		/* [row]: dx = v a + x b + c, v the
					 * gradient of y */
	double *sync;			/* [2][channels], with peers: sums here,
					 * then those over all ranks */
	char *zeros;			/* a row of zeros */
	char *work;			/* [threads][2][chunk][width] */
};

/*
 * Positions [first, first + rows) and channels [from, to) of an image.  The
 * sums of a piece are at index ${sums} of p and q.
 */
struct norm_rows { int image; size_t first, rows; int from, to; size_t sums; };

/*
 * norm_saved(t), norm_scratch(t):
 * The functions saved and scratch of struct op_impl, in bytes.
 */
size_t norm_saved(const struct task *t);
size_t norm_scratch(const struct task *t);

/*
 * norm_open(t):
 * Return the state of a pass of ${t}.  Its arrays point into the saved and the
 * scratch memory of ${t}.  This function clears what is per channel in scratch.
 */
struct norm_pass norm_open(struct task *t);

/*
 * norm_piece(s, i), norm_last_piece(s, i):
 * Return piece ${i} of the s->pieces pieces, and of those of its block counted
 * from the last one.
 */
struct norm_rows norm_piece(const struct norm_pass *s, int i);
struct norm_rows norm_last_piece(const struct norm_pass *s, int i);

/*
 * norm_next_chunk(s, whole, p):
 * Advance ${p} to the next chunk of ${whole}; a zeroed ${p} gets the first.
 * Return 0 if there is none.
 */
int norm_next_chunk(const struct norm_pass *s, const struct norm_rows *whole,
    struct norm_rows *p);

/*
 * norm_rows_at(s, x, p), norm_mask_at(s, p), norm_work(s, thread):
 * Return the rows ${p} of the unshifted activation ${x}; their mask, or NULL if
 * there is none; and the buffer for two chunks of a thread.
 */
void *norm_rows_at(const struct norm_pass *s, const void *x,
    const struct norm_rows *p);
uint16_t *norm_mask_at(const struct norm_pass *s, const struct norm_rows *p);
void *norm_work(const struct norm_pass *s, int thread);

/*
 * norm_in_place(s, p):
 * Return 1 if the shift of the pass moves whole vectors of the channels of
 * ${p}.
 */
int norm_in_place(const struct norm_pass *s, const struct norm_rows *p);

/*
 * norm_window(s, l, p, c, row, end):
 * Return channel ${c} of the first of the rows ${p} in ${l}.  Set ${*row} to
 * the numbers from one row to the next.  Lower ${*end} to the end of the range
 * of channels that ${l} stores together.  Return NULL if the shift drops these
 * rows and they are not saved.
 */
void *norm_window(const struct norm_pass *s, const struct norm_source *l,
    const struct norm_rows *p, int c, size_t *row, int *end);

/*
 * norm_scatter(s, p, y):
 * Copy the rows ${y} of ${p} into the shifted activation, unless ${y} is NULL.
 * Clear the rows at the other end of the clip where it drops rows of ${p}.
 *
 * norm_gather(s, p, l, sign, to):
 * Copy from ${l} into ${to} the rows to which the shift moves those of ${p}, or
 * from which it does if ${sign} is -1.  Channels that it drops become 0.
 * Return, in fp32, one bit per lane, 0 if it is dropped.
 */
void norm_scatter(const struct norm_pass *s, const struct norm_rows *p,
    const void *y);
unsigned norm_gather(const struct norm_pass *s, const struct norm_rows *p,
    const struct norm_source *l, int sign, void *to);

/*
 * The parts of a pass for vector ${b} of the channels, to run after the sums of
 * all pieces; ${thread} is not used.
 *
 * norm_combine_part	combine the statistics of the pieces.  With peers, pack
 *			them into s->sync for the sum over ranks
 * norm_unpack_part	unpack the statistics of all ranks
 * norm_running_part	take the running statistics
 * norm_scale_part	set s->scale and s->offset from the microbatch or, for a
 *			frozen norm, from the running statistics
 * norm_factors_part	compute the parameter gradients and s->a, b, c
 * norm_unpack_factors_part
 *			unpack the sums of all ranks, then compute s->a, b, c
 *
 * norm_measures(bn): return 1 if mean and variance come from the microbatch.
 * norm_is_synced(bn): return 1 if they are summed over its peers, too.
 */
int norm_measures(const struct task *bn);
int norm_is_synced(const struct task *bn);
void norm_combine_part(const struct norm_pass *s, int b, int thread);
void norm_unpack_part(const struct norm_pass *s, int b, int thread);
void norm_running_part(const struct norm_pass *s, int b, int thread);
void norm_scale_part(const struct norm_pass *s, int b, int thread);
void norm_factors_part(const struct norm_pass *s, int b, int thread);
void norm_unpack_factors_part(const struct norm_pass *s, int b, int thread);

#endif
