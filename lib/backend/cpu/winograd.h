#ifndef BACKEND_CPU_WINOGRAD_H
#define BACKEND_CPU_WINOGRAD_H

/*
 * Convolutions 3x3 of stride 1 by Winograd's F(4x4, 3x3), on blocked fp32
 * activations or rows of bf16 (half/half.h); sums are fp32.  Forward, and as data gradients, which are convolutions with the
 * taps turned round.  Tiles depend on nothing but their own part of the input,
 * so that they may be shared out in any way; weights are transformed once for
 * all calls.  oneDNN 2.6 has this algorithm too, with AVX-512 alone, for whole
 * images, and transforms the weights in each call.  Weight gradients are in
 * winograd_gradient.h.
 */

#include <stddef.h>

struct winograd {
	int bf16;			/* activations; weights are fp32 */
	int images, in, out;		/* channels */
	int in_h, in_w, out_h, out_w;
	int p[2];			/* padding, h and w */
	int turned;			/* the data gradient: taps turned round */
	int out_step, in_step;		/* between channels of the weights as
					 * they lie outside, in numbers */
};

/* winograd_tiles(g): of all images. */
int winograd_tiles(const struct winograd *g);

/* winograd_call_tiles(g, threads): how many a call should get. */
int winograd_call_tiles(const struct winograd *g, int threads);

/* Bytes of the weights inside, and of scratch for calls of ${tiles}. */
size_t winograd_weights(const struct winograd *g);
size_t winograd_scratch(const struct winograd *g, int tiles);

/*
 * winograd_order(g, slice, outer, inner):
 * Slice ${slice} of winograd_slices() of the weights into their inner form;
 * slices lie apart.
 */
int winograd_slices(const struct winograd *g);
void winograd_order(const struct winograd *g, int slice, const float *outer,
    void *inner);

/*
 * winograd_run(g, from, to, x, w, bias, y, more, scratch):
 * Tiles ${from} to ${to}; ${bias} may be NULL, and is as long as there are
 * channels; ${more}: add to what ${y} has.
 */
void winograd_run(const struct winograd *g, int from, int to, const void *x,
    const void *w, const float *bias, void *y, int more, void *scratch);

#endif
