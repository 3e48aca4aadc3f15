#ifndef BACKEND_CUDA_ARGS_H
#define BACKEND_CUDA_ARGS_H

/*
 * The argument structures of the kernels.  Pointers are device pointers.  A
 * void pointer is to the storage type, other pointers to the type shown.
 * ${accumulate}: add the result to ${to} instead of storing it.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "backend/cuda/driver.h"

/*
 * Threads of a block.  A vector is 16 bytes (stored.h).  A thread loads FLAT
 * vectors at once from a flat array, or ROWS vectors from successive rows.
 */
enum { THREADS = 256, FLAT = 4, ROWS = 4 };

/* ---- flat arrays: elementwise ---- */

enum { CURVE_PASS, CURVE_RELU, CURVE_RELU6, CURVE_SIGMOID, CURVE_SWISH,
	CURVE_SCALE };

/*
 * to[i] = f(from[i]) for ${n} elements.  If ${dy} is not NULL, to[i] = dy[i]
 * f'(x).  ${from} is then the input x, or the output f(x) if f' can be computed
 * from it.  A position has ${c} channels, ${pitch} with padding, for which a
 * sigmoid gives 0.
 */
struct pointwise {
	const void *from, *dy;
	void *to;
	size_t n;
	unsigned c, pitch;
	int accumulate;
	const float *by;		/* CURVE_SCALE: the factor; NULL: use
					 * ${factor} */
	float factor;
};

/* to[i] = sum over j < ${count} of from[j][i] */
struct add {
	const void *from[OP_INPUTS];
	void *to;
	size_t n;
	int count;
};

/*
 * y = (byte / 255 - mean[c]) / sd[c], where the ${channels} are the last axis.
 * It is computed in double, to the bits of ref: a pixel that gives 0 must give
 * exactly 0, because a relu may follow.  For at most INPUT_TABLE channels a
 * block first computes the results for all 256 bytes.
 */
enum { INPUT_TABLE = 8 };
struct input {
	const uint8_t *from;		/* [pixels][channels] */
	void *to;
	size_t pixels;
	unsigned channels, vectors;	/* of a pixel at ${to} */
	double mean[OP_STREAM], sd[OP_STREAM];
};

/*
 * Dropout: to = from factor, or 0 if the element's draw is below ${rate}.  A
 * clip has ${positions} of ${c} channels, ${vectors} with padding.  The draws
 * are those of rng_dropout (base/rng.h), which counts elements without padding.
 */
struct dropout {
	const void *from;
	void *to;
	/* [clips] global clip numbers */
	const uint64_t *clip;
	size_t n, positions;
	unsigned c, vectors;
	const struct feed_values *values;	/* the seed for the draws */
	uint32_t index;
	double rate;
	float factor;			/* 1 / (1 - rate) */
	int accumulate;
};

/* to = from ${scale}, from floats to the storage type or back. */
struct cast {
	const void *from;
	void *to;
	size_t n;
	float scale;
};

/* ---- rows ---- */

/*
 * How the threads of a grid iterate over an array [groups][m][c] (rows.h
 * creates it); c is a multiple of eight.  A block has a range of the rows of
 * one group, and a tile of the columns, ${across} vectors wide.  ${across}
 * threads take the vectors of one row, and the other threads take further rows.
 *
 * If the axes of a reduction are not adjacent, a group is a pair (outer,
 * inner), and so is a row.  The array is then [groups / inner_g][m /
 * inner_m][inner_g][inner_m][c].
 */
struct rows {
	unsigned parts, tiles;		/* row ranges of a group; column
					 * tiles */
	unsigned m, per;		/* rows of a group, and of a row
					 * range */
	unsigned c;			/* columns */
	int across;			/* threads that share a row */
	unsigned inner_g, inner_m;	/* 1 and m: axes are adjacent */
};

/*
 * For each group and column: the sum of x, or of x y if ${y} is not NULL, over
 * m.
 */
struct row_sums {
	struct rows rows;
	const void *x, *y;
	double *part;			/* [groups][parts][c] partial sums.
					 * NULL: one row range; store to
					 * ${to} */
	void *to;			/* [groups][c] = or += share sum */
	double share;
	int accumulate, floats;		/* ${to} is float, always stored */
};

/*
 * Add up partial sums: to[group][c] = or += share times the sum of ${entries}
 * values part[group][entry][c], c < ${period}.
 */
struct total {
	const double *part;
	void *to;
	unsigned entries, period, tiles;
	double share;
	int accumulate, floats;
};

/* to[g][m][c] = or += share from[g][m][c] by[g][c].  ${from} NULL: 1. */
struct broadcast {
	struct rows rows;
	const void *from, *by;
	void *to;
	float share;
	int accumulate;
};

/*
 * Copy channels: to[m][c] = or += from[j][m][c - first[j] + skip], where input
 * j has the channels first[j] to first[j + 1] - 1, and ${pitch}[j] elements a
 * row.  The channels behind the last input become 0.
 */
struct concat {
	struct rows rows;
	const void *from[OP_INPUTS];
	void *to;
	unsigned first[OP_INPUTS + 1], pitch[OP_INPUTS], skip;
	int count, accumulate;
};

/* x[m][c] += bias[c] */
struct bias {
	struct rows rows;
	void *x;
	const float *bias;
};

/* ---- batch normalization ---- */

/*
 * A divisor and its precomputed reciprocal (rows_divisor_of).  For n below 2^31
 * the quotient is n * ${times} >> ${shift}.
 */
struct divisor { uint32_t times; int shift; };

/* Rows that a thread sums in float before it adds to a double. */
enum { NORM_ROWS = 8 };

/*
 * A temporal shift of rows [t][plane] of a clip.  The first ${fold} channels
 * move by[0] frames forward, the next ${fold} channels by[1].  fold 0: no
 * shift.
 */
struct moved {
	unsigned fold, t, plane;
	int by[2];
	struct divisor plane_of, t_of;
};

/*
 * Forward: for each column, the sums of d and of d^2, where d = x - pivot.  The
 * pivot is the first value of the channel.  It avoids cancellation in the
 * variance if the mean is large.
 * Backward: the sums of g and of g (x - mean), where g is dy, or 0 where the
 * relu was 0.  ${dy_moved} is the gradient that comes through a fused shift.
 * One of dy and dy_moved may be NULL.
 */
struct norm_sums {
	struct rows rows;
	struct moved moved;
	const void *x, *dy, *dy_moved;
	const float *mean, *rstd, *scale, *offset;
	const uint8_t *mask;
	int shut;			/* SHUT_* */
	double *part;			/* [parts][2][c] */
};

/*
 * How a kernel decides where the relu was 0: there is no relu; from x; from a
 * bit mask.
 */
enum { SHUT_NEVER, SHUT_X, SHUT_MASK, SHUTS };

/*
 * Compute the statistics of each channel from the partial sums of its two
 * sums.
 *
 * With sync BN the kernel runs twice.  First it packs the sums of this rank
 * into ${packed}[2][channels] (peers.h) and ends.  After the sum over the ranks
 * it runs with ${unpacks} and unpacks them.
 */
struct norm_finish {
	const double *part;		/* [parts][2][c] partial sums */
	unsigned parts, c, channels;	/* with and without padding */
	const void *x;			/* its first row is the pivot */
	double count, all;		/* values per channel: this rank, all
					 * ranks */
	double eps;
	double *packed;
	int unpacks;
	float *mean, *rstd;		/* [c], output */
	float *to_mean, *to_var, *to_between;
	const float *running;		/* running mean, for ${to_between} */
};

/*
 * mean and rstd = 1 / sqrt(var + eps) of running statistics.  If ${to_mean} is
 * not NULL, also store the mean and variance unchanged.
 */
struct norm_running {
	const float *mean_in, *var_in;
	float *mean, *rstd;
	float *to_mean, *to_var;	/* NULL: not wanted */
	unsigned c;
	double eps;
};

/*
 * y = relu((x - mean) rstd scale + offset + res).  ${y_moved} is the temporal
 * shift of y; one of y and y_moved may be NULL.
 */
struct norm_apply {
	struct rows rows;
	struct moved moved;
	const void *x, *res;
	const float *mean, *rstd, *scale, *offset;
	void *y, *y_moved;
	uint8_t *mask;
	int relu;
};

/*
 * Compute the gradients of scale and offset from the two sums of the backward
 * pass.  Also compute k[3][c], the factors of
 *
 *	dx = k[0] g + k[1] (x - mean) + k[2]
 *
 * ${packed} and ${unpacks} are as in struct norm_finish.
 */
struct norm_finish_back {
	const double *part;
	unsigned parts, c, channels;
	double all;			/* values per channel over all ranks */
	double *packed;
	int unpacks;
	const float *rstd, *scale;
	float *dscale, *doffset;
	float *k;			/* NULL: not wanted */
};

/*
 * dx = k[0] g + k[1] (x - mean) + k[2].  k NULL: dx = scale rstd g, and x is
 * read only for SHUT_X.  ${dres}, the gradient of the residual input, is g.
 */
struct norm_apply_back {
	struct rows rows;
	struct moved moved;
	const void *x, *dy, *dy_moved;
	const float *mean, *rstd, *scale, *offset, *k;
	const uint8_t *mask;
	int shut;
	void *dx, *dres;		/* NULL: not wanted */
	int accumulate, accumulate_res;
};

/* ---- images ---- */

/*
 * A block has a chunk of an image [h][w][c].  Each of its threads has FLAT
 * vectors, or one in pools and convolutions.
 */
struct image_grid {
	unsigned pieces;		/* chunks of an image */
	unsigned plane;			/* vectors of an image */
};

/* Temporal shift: to[t] = from[t + sign op_shift(c)], or 0 outside the clip. */
struct shift {
	struct image_grid image;
	const void *from;
	void *to;
	unsigned t, c, fold;
	int past, sign, accumulate;
};

/* Select ${few} of ${all} frames: frame i is frame op_frame() of all. */
struct frames {
	struct image_grid image;
	const void *from;
	void *to;
	unsigned few, all;
	int step, first, spread;
	int back;			/* gradient: from the few frames to
					 * all */
	int accumulate;
};

struct pool_window { int in[3], out[3], k[3], s[3], p[3]; };

/*
 * Max pooling, and average pooling.  ${which} holds the tap of the maximum: one
 * byte, or four if a window has more than 256 taps.  ${cut}: divide by the
 * number of taps inside the image instead of all taps.
 */
struct pooling {
	struct image_grid image;	/* of y; backward: of dx */
	struct pool_window window;
	unsigned c;
	const void *from;		/* x; backward: dy */
	void *to;
	void *which;			/* average: NULL */
	int large, cut, accumulate;
};

/* ---- depthwise convolutions ---- */

/*
 * DEPTH_STRIP: adjacent outputs of a row per thread.  DEPTH_COLUMNS: input
 * columns that the windows of a strip cover at most, if windows are three wide.
 * DEPTH_THREADS: threads of a block that computes weight gradients.
 */
enum { DEPTH_STRIP = 4, DEPTH_COLUMNS = (DEPTH_STRIP - 1) * 2 + 3,
	DEPTH_THREADS = 128 };

/* y = x * w, or its input gradient. */
struct depth {
	struct image_grid image;	/* of strips */
	struct pool_window window;
	int positions[3];		/* extents of y, the last in strips */
	unsigned c;			/* with padding */
	const void *x, *w;		/* backward: x is dy */
	void *y;
	/* ${turned}: flip the weights along each axis */
	int turned, accumulate;
};

/*
 * Weight gradient.  dy has ${items} strips, ${strips} in a row.  A block sums
 * over ${per} strips, for one tile of the channels and one set of taps: nine
 * taps, or one.  Blocks of different tap sets are adjacent in the grid, because
 * they read the same memory, which is then in the caches.
 */
struct depth_sums {
	struct pool_window window;
	unsigned c, channels;		/* with and without padding */
	unsigned tiles, sets;
	unsigned items, strips, per;
	int across, nine;
	const void *x, *dy;
	double *part;			/* [parts][channels][taps] */
};

/* ---- softmax and losses ---- */

/*
 * to = exp(x - max) / sum of exp(x - max) over the ${members} of each group.
 * Backward: to = y (dy - sum of y dy).
 *
 * The offset of an element is that of its group plus its offset in the group.
 * Both have up to three axes, the last one varying fastest.  ${lanes} threads,
 * a power of two, share a group.  They are adjacent in the block if ${near}.
 */
struct softmax {
	const void *from, *y;		/* x, NULL; backward: dy, y */
	void *to;
	size_t groups;
	unsigned members;
	/* extents of the last two axes, and strides of all */
	unsigned group_size[2], member_size[2];
	size_t group_stride[3], member_stride[3];
	int lanes, near, accumulate;
};

struct loss {
	const void *x;
	void *y, *dx;
	const int *label;		/* [clips]; TARGET_CLASS */
	const float *share;		/* [clips][classes]; other targets */
	const float *weight;		/* [clips]; NULL: all are 1 */
	const float *class_weight;	/* [classes]; NULL: all are 1 */
	enum target_kind target;
	enum loss_kind kind;
	unsigned clips, classes, pitch;	/* ${pitch}: classes with padding */
	double smooth, gamma;
	double factor;			/* weight of the loss, */
	const struct feed_values *values;	/* times the loss scale */
	double *value;			/* [clips] */
	int *rank;			/* [clips] */
	struct outcome *outcome;	/* NULL: not wanted */
	int accumulate;
};

/* sum[j] = row[0][j] + row[1][j] + ..., in order of rows. */
struct sum_rows {
	double *sum;
	const double *row;		/* [rows][n] */
	int rows;
	size_t n;
};

/* ---- parameters: flat arrays of floats ---- */

struct floats_add {
	float *sum;
	const float *x;
	size_t n;
};

/*
 * The owned shards that a kernel updates.  Shard i has the blocks from number
 * first[i] to first[i + 1] - 1.  Without a list, ${one} is the only shard.  If
 * ${check} is not NULL and not STEP_CHECK_STEP, the kernel changes nothing.
 */
struct over {
	const struct owned_shard *shard;	/* NULL: use ${one} */
	const size_t *first;		/* [shards + 1] */
	size_t shards;
	struct owned_shard one;
	const struct step_check *check;	/* NULL: no check */
};

struct tracking { struct track track; struct over over; };
struct clamping { struct clamp clamp; struct over over; };
struct stepping { struct update update; struct over over; };
struct directing { struct moments moments; struct over over; };

/*
 * Sums of squares of intervals.  Interval i is split into chunks of SQUARES
 * elements; its first chunk has number first[i].  first NULL: each interval is
 * one chunk, and ${piece} is the result.
 */
enum { SQUARES = 8192 };
struct squares {
	const float *x;			/* begins with element ${from} */
	size_t from;
	const struct interval *part;
	const size_t *first;
	size_t parts;
	double *piece, *sum;		/* [chunks]; [parts] */
};

/*
 * One block per parameter: of[i] = sum[first[i]] + ... + sum[first[i + 1] - 1],
 * added in this order.
 */
struct squares_add {
	const double *sum;
	const size_t *first;
	double *of;
};

/*
 * One block: formula_step_check_of (backend/formulas.h) of the sums of squares
 * of the parameters.
 */
struct step_checked {
	const double *of;		/* [params] */
	const char *kind;
	size_t params, outcomes;
	double scale, clip;
	const struct outcome *outcome;
	double max;			/* largest loss */
	const float *lost;		/* or NULL */
	struct step_check *check;
};

/*
 * One thread: ${to} = 1 if the absolute value of a loss is above ${max} or the
 * loss is NaN, or if ${other} is set; otherwise 0.
 */
struct flag_losses {
	const struct outcome *outcome;
	size_t outcomes;
	double max;
	int other;
	float *to;
};

/*
 * The layer ratios of struct ratios, from sums of squares; one parameter per
 * thread.
 */
struct rating {
	const double *w, *d;		/* [params] */
	const struct layer *layer;
	size_t params;
	struct ratio_rule rule;
	double lr, decay, scale;
	double *ratio;
	const struct step_check *check;
};

/*
 * Convert float weights [out][in][taps] to packed weights [][taps][pitch] of
 * the storage type, or gradients back.  Output o has its inputs from number o /
 * ${each} * ${in} on; the other packed weights are 0.  A block has ${some}
 * packed inputs of one output, or, if ${some} is 0, one element per thread.
 */
enum { WEIGHTS = 2048 };
struct weights_packing {
	const void *from;
	void *to;
	unsigned out, in, taps, each, pitch, some, pieces;
};

/*
 * The weights of several convolutions.  Row i has the blocks from first[i] to
 * first[i + 1] - 1.
 */
enum { WEIGHTS_ROWS = SPANS };
struct weights_table {
	struct weights_packing row[WEIGHTS_ROWS];
	unsigned rows, first[WEIGHTS_ROWS + 1];
};

#endif
