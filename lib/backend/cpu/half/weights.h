#ifndef BACKEND_CPU_HALF_WEIGHTS_H
#define BACKEND_CPU_HALF_WEIGHTS_H

/*
 * Gradients of a convolution's weights in bf16 on AMX's tiles:
 *
 *	dW[o][i][tap] = sum over places p of dy[p][o] x[s p - pad + tap][i]
 *
 * in fp32.  The sum is cut into parts, a function of the shape alone, which
 * are added in their order; within a part the order is that of the places.  So
 * bits depend neither on threads nor on jobs.
 */

#include "backend/cpu/half/places.h"

struct weights;

/* weights_new(s, threads): for as many threads as that, where there is AMX and
 * places_can. */
struct weights *weights_new(const struct product_shape *s, int threads);
void weights_free(struct weights *w);

/* Bytes of scratch: of a thread, and of the sums that all share. */
size_t weights_scratch(const struct weights *w);
size_t weights_sums(const struct weights *w);

/*
 * weights_run(w, job, x, dy, dw, sums, scratch): one of weights_jobs().
 * weights_add(w, block, dw, sums): after all of them, one of weights_blocks(),
 * which may be none.  Then ${dw}[out][in][kh][kw] is the gradient.
 */
int weights_jobs(const struct weights *w);
void weights_run(const struct weights *w, int job, const bf16 *x,
    const bf16 *dy, float *dw, float *sums, void *scratch);
int weights_blocks(const struct weights *w);
void weights_add(const struct weights *w, int block, float *dw,
    const float *sums);

#endif
