#ifndef BACKEND_CPU_CONV_WINOGRAD_H
#define BACKEND_CPU_CONV_WINOGRAD_H

/*
 * A pass of a convolution by Winograd's algorithm, in fp32 or bf16: when it is
 * worthwhile, what memory it needs, and its jobs.  In bf16 the products are
 * fp32, too: they take a quarter of the multiplications, where bf16 has twice
 * the rate.
 */

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"
#include "backend/cpu/winograd.h"
#include "backend/cpu/winograd_gradient.h"

struct conv_winograd {
	struct winograd g;		/* forward or data, */
	int tiles;			/* of a job; */
	struct winograd_gradient gradient;	/* or weights */
	size_t weights;		/* bytes in order, or of the gradient's parts */
	size_t scratch;		/* bytes of a thread */
};

/* conv_winograd_fits(t, pass): whether it is the fastest of the algorithms that
 * multiply in fp32, or by avx512_bf16. */
int conv_winograd_fits(const struct task *t, enum conv_pass pass);

void conv_winograd_make(struct conv_winograd *w, const struct task *t,
    enum conv_pass pass, int bf16);

/* conv_winograd_order(w, t, inner): the task's weights into their inner form. */
void conv_winograd_order(const struct conv_winograd *w, const struct task *t,
    void *inner);

/*
 * conv_winograd_run(w, t, from, to, inner, more, scratch, step):
 * The whole pass, forward or data: read ${from}, write ${to}, or add to it with
 * ${more}.  Thread i has its scratch at ${scratch} + i ${step} bytes.
 */
void conv_winograd_run(const struct conv_winograd *w, const struct task *t,
    const void *from, void *to, const void *inner, int more, char *scratch,
    size_t step);

/* conv_winograd_gradient(w, t, parts, scratch, step): the gradient of the
 * weights; w->weights bytes at ${parts}. */
void conv_winograd_gradient(const struct conv_winograd *w,
    const struct task *t, float *parts, char *scratch, size_t step);

#endif
