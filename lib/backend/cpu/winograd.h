#ifndef BACKEND_CPU_WINOGRAD_H
#define BACKEND_CPU_WINOGRAD_H

/*
 * Convolutions 3x3 of stride 1 by Winograd's algorithm F(4x4, 3x3).
 * Activations are blocked fp32 or rows of bf16 (bf16/bf16.h); sums are fp32.
 * They compute forward passes and data gradients; the latter are convolutions
 * with the taps rotated by 180 degrees.  winograd_gradient.h has weight
 * gradients.
 *
 * A tile depends only on its own part of the input, so tiles can be split among
 * calls in any way.  Weights are transformed once for all calls.  oneDNN 2.6
 * has the algorithm too, but only with AVX-512 and for whole images, and it
 * transforms the weights in each call.
 *
 * Threads may call all functions at the same time, on different slices or
 * tiles.
 */

#include "backend/cpu/cpu.h"

struct winograd {
	int bf16;			/* activations are bf16; weights are
					 * fp32 */
	int images, in, out;		/* in, out: channels */
	int in_h, in_w, out_h, out_w;
	int p[2];			/* h, w */
	int rotated;			/* data gradient: rotate the taps */
	int out_step, in_step;		/* floats between channels of the
					 * graph's weights, whose 9 taps are
					 * contiguous */
};

/*
 * Blocks of channels of an activation, and how they are transformed: ${rows}
 * tiles lie from one block to the next, and ${step} floats from one element to
 * the next.
 */
struct winograd_input {
	const void *x;
	int is_dy;			/* an output gradient */
	int block, blocks;
	size_t rows, step;
};

struct winograd_tiles;

/*
 * winograd_transform(g, t, x, v): transform the tiles ${t} of ${x} to ${v}
 * (winograd_kernels.h).
 */
void winograd_transform(const struct winograd *g,
    const struct winograd_tiles *t, const struct winograd_input *x, float *v);

/* winograd_tiles(g): return the tiles of 4 x 4 outputs of all images. */
int winograd_tiles(const struct winograd *g);

/*
 * winograd_call_tiles(g, threads):
 * Return how many tiles each call of winograd_run should get, at most
 * WINOGRAD_TILES_MAX.
 */
int winograd_call_tiles(const struct winograd *g, int threads);

/*
 * winograd_weights(g), winograd_scratch(g, tiles):
 * Return the bytes of the transformed weights, and of the scratch of a call
 * with ${tiles} tiles.
 */
size_t winograd_weights(const struct winograd *g);
size_t winograd_scratch(const struct winograd *g, int tiles);

/*
 * winograd_slices(g), winograd_transform_weights(g, slice, outer, inner):
 * Transform slice ${slice} of winograd_slices(g) of the weights ${outer}, in
 * the order of the graph, into ${inner}, winograd_weights(g) bytes.  Slices do
 * not overlap.
 */
int winograd_slices(const struct winograd *g);
void winograd_transform_weights(const struct winograd *g, int slice,
    const float *outer, void *inner);

/*
 * winograd_run(g, from, to, o):
 * Compute tiles [${from}, ${to}), at most WINOGRAD_TILES_MAX.  The scratch of
 * ${o} has winograd_scratch() bytes.
 */
void winograd_run(const struct winograd *g, int from, int to,
    const struct conv_buffers *o);

#endif
