#ifndef BACKEND_CUDA_ARGS_H
#define BACKEND_CUDA_ARGS_H

/*
 * What each kernel is given.  Pointers are the device's: to numbers of the type
 * that is stored where they are void, else as they say.  ${accumulate}: what is
 * made is added to what is there.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "backend/cuda/driver.h"

/* Threads of a block, and how many vectors (stored.h) each of them takes at once
 * of numbers that are taken as they lie, and of those of rows. */
enum { THREADS = 256, FLAT = 4, ROWS = 4 };

/* ---- numbers as they lie ---- */

enum { CURVE_PASS, CURVE_RELU, CURVE_RELU6, CURVE_SIGMOID, CURVE_SWISH,
	CURVE_SCALE };

/*
 * to = f(from) of each of ${n} numbers; or, where there is a ${dy}, a gradient:
 * dy times the slope of f, which ${from}, its input or its output, tells.
 */
struct curve {
	const void *from, *dy;
	void *to;
	size_t n;
	int accumulate;
	const float *by;		/* scale: by this; NULL: by ${factor} */
	float factor;
};

/* to = the sum of ${count} arrays */
struct add {
	const void *from[OP_INPUTS];
	void *to;
	size_t n;
	int count;
};

/*
 * y = (byte / 255 - mean) / sd, of ${channels}, the last axis, in doubles to the
 * bits of ref: a pixel that comes to 0 must be 0, where a relu follows.  Of up
 * to INPUT_TABLE channels a block computes all 256 values first.
 */
enum { INPUT_TABLE = 8 };
struct input {
	const uint8_t *from;
	void *to;
	size_t n;
	int channels;
	double mean[OP_STREAM], sd[OP_STREAM];
};

/*
 * Frames of clips that are raw (media/raw.h), clip i at at[i] from ${from} on, to
 * [clip][t][side][side][3] at ${to}: a pixel each thread.
 */
enum { RESIZE_CLIPS = 64 };
struct resize {
	const uint8_t *from;
	uint8_t *to;
	unsigned t, side, pieces;	/* blocks of a frame */
	size_t at[RESIZE_CLIPS];
};

/* Dropout of clips of ${per} values each.  The draws are those of rng_dropout
 * (base/rng.h). */
struct dropout {
	const void *from;
	void *to;
	const uint64_t *clip;
	size_t n, per;
	const struct feed_values *values;	/* the seed */
	uint32_t index;
	double rate;
	float factor;			/* 1 / (1 - rate) */
	int accumulate;
};

/* Floats to what is stored, or back; floats times ${scale}. */
struct cast {
	const void *from;
	void *to;
	size_t n;
	float scale;
};

/* ---- rows ---- */

/*
 * A walk over [groups][m][c]: a block has a part of the rows of one group, and
 * of their columns a tile of ${across} vectors; its threads beyond those take
 * further rows.  Rows.h makes them.
 *
 * Where c is not a multiple of a vector, several rows are taken for one, so that
 * column j is of channel j % period; or a vector is one number.
 *
 * Where what is summed is not one axis, or several next to one another, a group
 * is (outer, inner) and a row (outer, inner) too: [groups / inner_g][m / inner_m]
 * [inner_g][inner_m][c].
 */
struct rows {
	unsigned parts, tiles;		/* of a group's rows; of the columns */
	unsigned m, per;		/* rows of a group, and of a part */
	size_t c;			/* columns */
	size_t n;			/* numbers in all; the last row may be
					 * cut short */
	unsigned period;
	int single;			/* a vector is one number */
	int across;			/* threads side by side */
	unsigned inner_g, inner_m;	/* 1 and m: there is no such thing */
};

/* For each group and channel: the sum of x, or of x y where there is one. */
struct sums {
	struct rows rows;
	const void *x, *y;
	double *part;			/* [groups][parts][c]; NULL: one part,
					 * and one column a channel: */
	void *to;			/* [groups][period] = or += share sum */
	double share;
	int accumulate, floats;		/* to is floats, whatever is stored */
};

/* The parts of a sum: ${entries} for each group, [period] each. */
struct total {
	const double *part;
	void *to;
	unsigned entries, period, tiles;
	double share;
	int accumulate, floats;
};

/* to[g][m][c] = share from[g][m][c] by[g][channel], from NULL: 1 */
struct spread {
	struct rows rows;
	const void *from, *by;
	void *to;
	float share;
	int accumulate;
};

/*
 * Row after row, the channels of ${count} inputs beside one another: those of
 * input j are first[j] to first[j + 1] - 1.  ${back}: from there to the inputs,
 * but for those that are NULL.
 */
struct concat {
	struct rows rows;
	void *part[OP_INPUTS];
	void *whole;
	unsigned first[OP_INPUTS + 1];
	int count, back;
	int accumulate[OP_INPUTS];
};

/* to = from + bias[channel] */
struct bias {
	struct rows rows;
	const void *from;
	void *to;
	const float *bias;
};

/* ---- batch normalisation ---- */

/* A divisor that the host knows (divisor_of).  The quotient of n below 2^31 is
 * n * ${times} >> ${shift}. */
struct divisor { uint32_t times; int shift; };

/* Rows whose sums are floats; beyond that they are doubles. */
enum { NORM_ROWS = 8 };

/*
 * What a temporal shift moves: the first ${fold} channels by[0] frames on, as many
 * behind them by[1], of rows [t][plane] of a clip.  fold 0: there is none.
 */
struct moved {
	unsigned fold, t, plane;
	int by[2];
	struct divisor plane_of, t_of;
};

/*
 * Forward, sums of d = x - pivot and of its square, of each column, where the
 * pivot is the first value of the channel: so a variance does not suffer from a
 * mean that is large.  Backward, of g = dy, or 0 where the relu was shut, and of
 * g (x - mean).  What comes through a shift is in ${dy_moved}; either may be NULL.
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

/* Where a relu was shut: it was not there; told by x; by a bit of a mask. */
enum { SHUT_NEVER, SHUT_X, SHUT_MASK, SHUTS };

/*
 * The two sums of each channel, of parts or of peers, become statistics.
 * ${told}, [2][channels], is what peers are told (peers.h), before: written, and
 * no more is done; after: read.  In the place of parts there may be ${sums},
 * [2][period], of x itself and of its squares, which a convolution left.
 */
struct norm_finish {
	const double *part;		/* [parts][2][folds][period] */
	const float *sums;		/* NULL: parts */
	unsigned parts, folds, period;
	const void *x;			/* for the pivot */
	double count, all;		/* values here, and of all peers */
	double eps;
	double *told;
	int hears;
	float *mean, *rstd;		/* [period], written */
	float *to_mean, *to_var, *to_between;
	const float *running;		/* mean, for to_between */
	const float *scale, *offset;	/* for factors */
	void *factors;			/* [2][period], as stored: y is x times
					 * the first and more by the second;
					 * NULL: not wanted */
};

/* mean and rstd of running statistics; where told so, they stay the same */
struct norm_running {
	const float *mean_in, *var_in;
	float *mean, *rstd;
	float *to_mean, *to_var;	/* NULL: not wanted */
	unsigned period;
	double eps;
};

/*
 * y = (x - mean) rstd scale + offset, + res, max(., 0), mask; and the shift of
 * that.  Either may be NULL.  Where finish.sums is not NULL, the kernel makes mean
 * and rstd of them first.
 */
struct norm_apply {
	struct norm_finish finish;
	struct rows rows;
	struct moved moved;
	const void *x, *res;
	const float *mean, *rstd, *scale, *offset;
	void *y, *y_moved;
	uint8_t *mask;
	int relu;
};

/*
 * The sums of the backward pass become gradients of scale and offset, and the
 * factors of dx = k[0] g + k[1] (x - mean) + k[2], [3][period].  In the place of
 * parts there may be ${sums}, [2][period]: those gradients.
 */
struct norm_finish_back {
	const double *part;
	const float *sums;		/* NULL: parts */
	unsigned parts, folds, period;
	double all;			/* INFINITY: statistics are fixed */
	double *told;
	int hears;
	const float *rstd, *scale;
	float *dscale, *doffset;
	float *k;			/* NULL: not wanted */
};

/* k NULL: dx = scale rstd g, and x is not read but for SHUT_X.  Where finish.sums is
 * not NULL, the kernel makes k of them first. */
struct norm_apply_back {
	struct norm_finish_back finish;
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

/* A block has a piece of an image [h][w][c], of FLAT vectors for each thread;
 * or, in pools, one. */
struct image {
	unsigned pieces;		/* of an image */
	unsigned plane;			/* vectors of an image */
	int single;			/* a vector is one number */
};

/* Of the frames before and after, by channels: op_shift() times ${sign}. */
struct shift {
	struct image image;
	const void *from;
	void *to;
	unsigned t, c, fold;
	int past, sign, accumulate;
};

/* Frame i of the few is number op_frame() of all. */
struct frames {
	struct image image;
	const void *from;
	void *to;
	unsigned few, all;
	int step, first, spread;
	int back;			/* from the few to all */
	int accumulate;
};

struct window { int in[3], out[3], k[3], s[3], p[3]; };

/* The number of a tap of a window in ${which}: one byte, or four where a window
 * has more than 256. */
struct maxpool {
	struct image image;		/* of y, backward of dx */
	struct window window;
	unsigned c;
	const void *from;		/* x, backward dy */
	void *to;
	void *which;
	int large, accumulate;
};

struct avgpool {
	struct image image;
	struct window window;
	unsigned c;
	const void *from;
	void *to;
	int cut, accumulate;
};

/* ---- stems ---- */

/*
 * What stem_body.h makes.  ${c} channels of ${in} rows and columns become ${depth},
 * pixels of each patch and then zeroes, of ${width} columns; those of the image
 * begin ${pad} further on.
 */
struct stem {
	struct image image;		/* of patches: a vector each thread */
	const void *from;
	void *to;
	unsigned c, depth, width;
	int in[2], pad[2];
};

/* Weights [out][in][k[0]][k[1]][k[2]], floats, and those of patches, ${n} of
 * [out][k[0]][patches[0]][patches[1]][depth] as they are stored. */
struct stem_weights {
	const void *from;
	void *to;
	size_t n;
	unsigned in, depth;
	int k[3], patches[2];
};

/* ---- convolutions of each channel by itself ---- */

/* Outputs beside one another that a thread has, and the columns that their windows
 * have at most of those three wide; threads of a block that sums. */
enum { DEPTH_STRIP = 4, DEPTH_COLUMNS = (DEPTH_STRIP - 1) * 2 + 3,
	DEPTH_THREADS = 128 };

/* y = x * w, or its gradient; ${width} channels a vector. */
struct depth {
	struct image image;		/* of places */
	struct window window;
	int places[3];			/* of y; in a row: strips */
	unsigned c;
	int width;			/* LANES, 2 or 1 */
	const void *x, *w;		/* backward dy */
	void *y;
	int turned, accumulate;
};

/*
 * The weights' gradient: a block has of ${items} strips of dy, ${strips} a row,
 * the ${per} of its part, of the channels a tile, and of the taps a set: nine, or
 * one.  Sets lie next to one another, so that they find in the caches what they
 * all read.
 */
struct depth_sums {
	struct window window;
	unsigned c, tiles, sets;
	unsigned items, strips, per;
	int across, width, nine;
	const void *x, *dy;
	double *part;			/* [parts][c][taps] */
};

/* ---- softmax and losses ---- */

/*
 * Groups whose ${members} are summed.  A number is at the sum of its group's
 * place in up to three axes and of its place in the group in up to two, the
 * last of which runs fastest.  Threads of a group are ${lanes}, a power of two,
 * side by side where ${near}, else apart.
 */
struct softmax {
	const void *x, *y, *dy;
	void *to;
	size_t groups;
	unsigned members;
	unsigned group_size[2];		/* of the last two axes */
	size_t group_stride[3];
	unsigned member_size;		/* of the last axis */
	size_t member_stride[2];
	int lanes, near, accumulate;
};

struct loss {
	const void *x;
	void *y, *dx;
	const int *label;		/* TARGET_CLASS */
	const float *share;		/* else */
	const float *weight;		/* NULL: all are 1 */
	enum target_kind target;
	enum loss_kind kind;
	unsigned clips, classes;
	double smooth;
	double factor;			/* of gradients: the op's weight, */
	const struct feed_values *values;	/* and this scale */
	double *value;			/* [clips] */
	int *rank;			/* [clips] */
	struct outcome *outcome;
	int accumulate;
};

/* ---- parameters: floats, as they lie ---- */

struct floats_add {
	float *sum;
	const float *x;
	size_t n;
};

/*
 * What a kernel over portions is about: block first[i] and on have portion i;
 * where there is no list, ${one}.  Nothing is done against a verdict.
 */
struct over {
	const struct portion *portion;	/* NULL: none */
	const size_t *first;		/* [portions + 1] */
	size_t portions;
	struct portion one;
	const struct verdict *verdict;	/* NULL: none */
};

struct tracking { struct track track; struct over over; };
struct clamping { struct clamp clamp; struct over over; };
struct stepping { struct update update; struct over over; };
struct directing { struct moments moments; struct over over; };

/* Part i in pieces of SQUARES, from number first[i] on; first NULL: each is one
 * piece, and ${piece} is what is wanted. */
enum { SQUARES = 8192 };
struct squares {
	const float *x;			/* from element ${from} on */
	size_t from;
	const struct interval *part;
	const size_t *first;
	size_t parts;
	double *piece, *sum;
};

/* Of parameter i, a block each: of[i] = sum[first[i]] and on, in order. */
struct squares_add {
	const double *sum;
	const size_t *first;
	double *of;
};

/* One block: what struct judgement says, of sums that were made before. */
struct judge {
	const double *of;		/* [params] */
	const char *kind;
	size_t params, outcomes;
	double scale, clip;
	const struct outcome *outcome;
	double most;			/* of a loss */
	const float *lost;		/* NULL: none */
	struct verdict *verdict;
};

/* One thread: to = 1 if a loss is no number up to ${most}, or for another reason;
 * else 0. */
struct lost {
	const struct outcome *outcome;
	size_t outcomes;
	double most;
	int other;
	float *to;
};

/* struct ratios, of sums that were made before; a parameter each thread. */
struct rating {
	const double *w, *d;		/* [params] */
	const struct layer *layer;
	size_t params;
	struct ratio_rule rule;
	double lr, decay, scale;
	double *ratio;
	const struct verdict *verdict;
};

/*
 * Weights of ${out} times [in][taps] floats, and what is kept of them for
 * convolutions, [taps][in]; or gradients the other way.  A block has ${some} of
 * the inputs of one output; ${some} 0: a number each thread.
 */
enum { WEIGHTS = 2048 };
struct weights {
	const void *from;
	void *to;
	unsigned out, in, taps, some, pieces;
};

/* Those of several convolutions: row i has the blocks from first[i] on. */
enum { WEIGHTS_ROWS = SPANS };
struct weights_table {
	struct weights row[WEIGHTS_ROWS];
	unsigned rows, first[WEIGHTS_ROWS + 1];
};

#endif
