#ifndef BACKEND_CPU_WINOGRAD_GRADIENT_H
#define BACKEND_CPU_WINOGRAD_GRADIENT_H

/*
 * Weight gradients of convolutions 3x3 of stride 1 by Winograd's algorithm, on
 * activations as winograd.h has them: the adjoint of F(4x4, 3x3),
 *
 *	dw = G' [ sum over tiles of (A dy A') * (B' x B) ] G
 *
 * A job has a window of input and one of output channels, transforms its own
 * tiles, and adds up sums that stay in its cache.  Few windows are cut into
 * parts of the tiles as well, a function of the shape, added in their order.
 */

#include <stddef.h>

struct winograd_gradient {
	int bf16;			/* activations; sums are fp32 */
	int images, in, out;		/* channels */
	int in_h, in_w, out_h, out_w;
	int p[2];			/* padding, h and w */
};

/* Bytes: scratch of a thread, and of all parts together, 0 if there is but
 * one. */
size_t winograd_gradient_scratch(const struct winograd_gradient *g);
size_t winograd_gradient_bytes(const struct winograd_gradient *g);

/*
 * winograd_gradient_run(g, job, x, y, dw, parts, scratch):
 * Job ${job} of winograd_gradient_jobs(); it writes its window of ${dw}
 * [out][in][3][3], or where there are several parts to ${parts}: then
 * winograd_gradient_add, of winograd_gradient_sums() jobs, must follow.
 */
int winograd_gradient_jobs(const struct winograd_gradient *g);
void winograd_gradient_run(const struct winograd_gradient *g, int job,
    const void *x, const void *y, float *dw, float *parts, void *scratch);
int winograd_gradient_sums(const struct winograd_gradient *g);
void winograd_gradient_add(const struct winograd_gradient *g, int job,
    float *dw, float *parts);

#endif
