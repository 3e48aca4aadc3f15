#ifndef BACKEND_CPU_HALF_PRODUCT_H
#define BACKEND_CPU_HALF_PRODUCT_H

/*
 * Convolutions over h and w as products of matrices on AMX's tiles: the
 * forward pass, and the gradient of the input, which is the same from the other
 * side.  A row is a place of the side that is written, its terms are what the
 * taps read there.  Of a gradient with strides, the places that the same taps
 * reach are a product of their own; what no tap reaches is 0.
 *
 * An output's terms are added up in one order, in fp32, and rounded once: its
 * bits do not depend on the cut into jobs, nor on other places or images.
 */

#include "backend/cpu/half/kernels.h"

struct product_shape {
	int images;
	int in, out;			/* channels */
	int in_row, out_row;		/* as they lie; multiples of 16 */
	int in_h, in_w, out_h, out_w;
	int k[2], s[2], p[2];		/* h, w */
	int back;			/* the gradient of the input */
};

struct product;

/* product_new(s, threads): for as many threads as that, where there is AMX. */
struct product *product_new(const struct product_shape *s, int threads);
void product_free(struct product *p);

/* Bytes of the weights in order; of scratch of a thread. */
size_t product_weights(const struct product *p);
size_t product_scratch(const struct product *p);

/*
 * product_order(p, slice, w, inner):
 * Slice ${slice} of product_slices() of the weights as the graph has them,
 * ${w}[out][in][kh][kw], into order.  Threads may do one each.
 */
int product_slices(const struct product *p);
void product_order(const struct product *p, int slice, const float *w,
    void *inner);

/*
 * product_run(p, job, x, w, bias, y, more, scratch):
 * Job ${job} of product_jobs(): read ${x}, write ${y}, of all images: forward
 * the input and the output, back the output's gradient and the input's.
 * ${bias}: [out], filled up, or NULL.  ${more}: add to what is there.
 */
int product_jobs(const struct product *p);
void product_run(const struct product *p, int job, const bf16 *x,
    const void *w, const float *bias, bf16 *y, int more, void *scratch);

#endif
