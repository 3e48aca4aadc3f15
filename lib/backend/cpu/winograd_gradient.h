#ifndef BACKEND_CPU_WINOGRAD_GRADIENT_H
#define BACKEND_CPU_WINOGRAD_GRADIENT_H

/*
 * Weight gradients of convolutions 3x3 of stride 1 by Winograd's algorithm, on
 * activations as in winograd.h.  They are the adjoint of F(4x4, 3x3), where *
 * is the elementwise product:
 *
 *	dw = G' [ sum over tiles of (A dy A') * (B' x B) ] G
 *
 * A job has a range of input and a range of output channels.  It transforms its
 * own tiles and adds up products in sums that stay in its cache.  If there are
 * few ranges, the tiles are split into parts too.  The shape alone fixes the
 * parts, and their sums are added in their order.
 *
 * The shape is that of the forward pass; the steps of weights are not used.
 * Threads may call all functions at the same time, on different jobs.
 */

#include "backend/cpu/winograd.h"

/*
 * winograd_gradient_scratch(g), winograd_gradient_bytes(g):
 * Return the bytes of the scratch of a thread, and of the sums of all parts, 0
 * if there is one part.
 */
size_t winograd_gradient_scratch(const struct winograd *g);
size_t winograd_gradient_bytes(const struct winograd *g);

/*
 * winograd_gradient_jobs(g), winograd_gradient_run(g, job, o):
 * Run job ${job} of winograd_gradient_jobs(g).  With one part, write its range
 * of ${o}->out[out][in][3][3].  With several, write its sums to ${o}->parts;
 * winograd_gradient_add must follow.
 *
 * winograd_gradient_sums(g), winograd_gradient_add(g, job, dw, parts):
 * Run job ${job} of winograd_gradient_sums(g), 0 if there is one part: add up
 * the parts and write them to ${dw}.
 */
int winograd_gradient_jobs(const struct winograd *g);
void winograd_gradient_run(const struct winograd *g, int job,
    const struct conv_buffers *o);
int winograd_gradient_sums(const struct winograd *g);
void winograd_gradient_add(const struct winograd *g, int job,
    float *dw, float *parts);

#endif
