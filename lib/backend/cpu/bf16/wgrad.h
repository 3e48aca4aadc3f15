#ifndef BACKEND_CPU_BF16_WGRAD_H
#define BACKEND_CPU_BF16_WGRAD_H

/*
 * Weight gradients of convolutions in bf16 on AMX tiles, with fp32 sums:
 *
 *	dw[o][i][tap] = sum over positions p of dy[p][o] x[p s - pad + tap][i]
 *
 * The sum is split into parts by the shape alone, and the parts are added in
 * their order.  Within a part the order is that of the positions.  No bit
 * depends on the number of threads or jobs.
 *
 * Threads may call all functions of a struct wgrad at the same time, on
 * different jobs or blocks, except wgrad_new and wgrad_free.
 */

#include "backend/cpu/bf16/conv_grid.h"

struct wgrad;

/*
 * wgrad_new(s, threads), wgrad_free(w):
 * Plan the gradient of ${s} for ${threads} threads; conv_grid_supports(${s})
 * must hold, and the processor must have AMX. wgrad_new never returns NULL. The
 * caller frees ${w}; NULL is allowed.
 */
struct wgrad *wgrad_new(const struct gemm_conv *s, int threads);
void wgrad_free(struct wgrad *w);

/*
 * wgrad_scratch(w), wgrad_sums(w):
 * Return the bytes of the scratch of a thread, and of the sums that all share.
 */
size_t wgrad_scratch(const struct wgrad *w);
size_t wgrad_sums(const struct wgrad *w);

/*
 * wgrad_jobs(w), wgrad_run(state, job, o),
 * wgrad_blocks(w), wgrad_add(state, block, o):
 * Run the jobs wgrad_jobs(w).  After all of them, run wgrad_add for the blocks
 * wgrad_blocks(w), 0 if there is one part.  Then ${o}->out[out][in][kh][kw] is
 * the gradient.  ${state} is the struct wgrad.
 */
int wgrad_jobs(const struct wgrad *w);
void wgrad_run(const void *state, int job, const struct conv_buffers *o);
int wgrad_blocks(const struct wgrad *w);
void wgrad_add(const void *state, int block, const struct conv_buffers *o);

#endif
