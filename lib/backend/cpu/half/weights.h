#ifndef BACKEND_CPU_HALF_WEIGHTS_H
#define BACKEND_CPU_HALF_WEIGHTS_H

/*
 * Weight gradients of convolutions in bf16 on AMX tiles, with fp32 sums:
 *
 *	dw[o][i][tap] = sum over positions p of dy[p][o] x[p s - pad + tap][i]
 *
 * The sum is split into parts by the shape alone, and the parts are added in
 * their order.  Within a part the order is that of the positions.  No bit
 * depends on the number of threads or jobs.
 *
 * Threads may call all functions of a struct weights at the same time, on
 * different jobs or blocks, except weights_new and weights_free.
 */

#include "backend/cpu/half/places.h"

struct weights;

/*
 * weights_new(s, threads), weights_free(w):
 * Plan the gradient of ${s} for ${threads} threads; places_can(${s}) must hold,
 * and the processor must have AMX.  weights_new never returns NULL.  The caller
 * frees ${w}; NULL is allowed.
 */
struct weights *weights_new(const struct product_shape *s, int threads);
void weights_free(struct weights *w);

/*
 * weights_scratch(w), weights_sums(w):
 * Return the bytes of the scratch of a thread, and of the sums that all share.
 */
size_t weights_scratch(const struct weights *w);
size_t weights_sums(const struct weights *w);

/*
 * weights_jobs(w), weights_run(w, job, x, dy, dw, sums, scratch),
 * weights_blocks(w), weights_add(w, block, dw, sums):
 * Run the jobs weights_jobs(w) on the input ${x} and the output gradient ${dy}.
 * After all of them, run weights_add for the blocks weights_blocks(w), 0 if
 * there is one part.  Then ${dw}[out][in][kh][kw] is the gradient.
 */
int weights_jobs(const struct weights *w);
void weights_run(const struct weights *w, int job, const bf16 *x,
    const bf16 *dy, float *dw, float *sums, void *scratch);
int weights_blocks(const struct weights *w);
void weights_add(const struct weights *w, int block, float *dw,
    const float *sums);

#endif
