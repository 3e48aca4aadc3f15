#ifndef BACKEND_CPU_WINOGRAD_H
#define BACKEND_CPU_WINOGRAD_H

/*
 * Convolutions 3x3 of stride 1 by Winograd's algorithm F(4x4, 3x3).
 * Activations are blocked fp32 or rows of bf16 (bf16/bf16.h); sums are fp32.
 * They compute forward passes and data gradients; the latter are convolutions
 * with the taps rotated by 180 degrees.
 *
 * A tile depends only on its own part of the input, so tiles can be split among
 * calls in any way.  Weights are transformed once for all calls.  oneDNN 2.6
 * has the algorithm too, but only with AVX-512 and for whole images, and it
 * transforms the weights in each call.
 *
 * Weight gradients are the adjoint of F(4x4, 3x3), where * is the elementwise
 * product:
 *
 *	dw = G' [ sum over tiles of (A dy A') * (B' x B) ] G
 *
 * A job of them has a range of input and a range of output channels.  It
 * transforms its own tiles and adds up products in sums that stay in its cache.
 * If there are few ranges, the tiles are split into parts too.  The shape alone
 * fixes the parts, and their sums are added in their order.  The shape is that
 * of the forward pass; the steps of weights are not used.
 *
 * Threads may call all functions at the same time, on different slices or jobs.
 * ${state} is a struct winograd.
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
	int tiles;			/* of a job, winograd_call_tiles; not of
					 * a weight gradient */
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
 * Return how many tiles each job of winograd_run should have, at most
 * WINOGRAD_TILES_MAX.
 */
int winograd_call_tiles(const struct winograd *g, int threads);

/*
 * winograd_weights(g), winograd_scratch(g):
 * Return the bytes of the transformed weights, and of the scratch of a job of
 * ${g}->tiles tiles.
 */
size_t winograd_weights(const struct winograd *g);
size_t winograd_scratch(const struct winograd *g);

/*
 * winograd_slices(g), winograd_pack(state, slice, o):
 * Transform slice ${slice} of winograd_slices(g) of ${o}->weights into
 * ${o}->w, winograd_weights(g) bytes.  Slices do not overlap.
 */
int winograd_slices(const struct winograd *g);
void winograd_pack(const void *state, int slice, const struct conv_buffers *o);

/*
 * winograd_run(state, job, o):
 * Compute the tiles of job ${job}.  The scratch of ${o} has winograd_scratch()
 * bytes.
 */
void winograd_run(const void *state, int job, const struct conv_buffers *o);

/*
 * winograd_gradient_scratch(g), winograd_gradient_bytes(g):
 * Return the bytes of the scratch of a thread, and of the sums of all parts, 0
 * if there is one part.
 */
size_t winograd_gradient_scratch(const struct winograd *g);
size_t winograd_gradient_bytes(const struct winograd *g);

/*
 * winograd_gradient_jobs(g), winograd_gradient_run(state, job, o):
 * Run job ${job} of winograd_gradient_jobs(g).  With one part, write its range
 * of ${o}->out[out][in][3][3].  With several, write its sums to ${o}->parts;
 * winograd_gradient_add must follow.
 *
 * winograd_gradient_sums(g), winograd_gradient_add(state, job, o):
 * Run job ${job} of winograd_gradient_sums(g), 0 if there is one part: add up
 * the parts and write them to ${o}->out.
 */
int winograd_gradient_jobs(const struct winograd *g);
void winograd_gradient_run(const void *state, int job,
    const struct conv_buffers *o);
int winograd_gradient_sums(const struct winograd *g);
void winograd_gradient_add(const void *state, int job,
    const struct conv_buffers *o);

#endif
