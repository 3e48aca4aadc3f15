#ifndef BACKEND_CPU_KERNELS_H
#define BACKEND_CPU_KERNELS_H

/*
 * The loops of the cpu back end outside convolutions, one copy for each
 * instruction set (kernels.isa.c).  A plane is the h * w places of one image
 * and one block of channels, [hw][lanes].  No sum depends on the instruction
 * set or on threads: lanes are channels, or sixteen fixed partial sums.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/isa.h"

enum { LANES_MAX = 16 };

/* A pooling window over one plane. */
struct window { int in_h, in_w, out_h, out_w, k[2], s[2], p[2]; };

struct kernels {
	int lanes;
	/* sum[lanes] over a plane. */
	void (*plane_sum)(const float *x, size_t hw, float *sum);
	/* dx (+)= v[lanes] everywhere. */
	void (*plane_fill)(float *dx, size_t hw, const float *v, int more);
	/*
	 * The first maximum of each window, or its last NaN, and the number of
	 * its tap.  The first tap of this plane has number ${tap0}.  If ${more}
	 * is set, compare with the maximum that ${y} and ${tap} already hold.
	 */
	void (*maxpool)(float *y, uint8_t *tap, const float *x,
	    const struct window *v, int tap0, int more);
	/* dx (+)= dy at the taps; ${more} 0 clears dx first. */
	void (*maxpool_back)(float *dx, const float *dy, const uint8_t *tap,
	    const struct window *v, int tap0, int more);
	/* y (+)= a times the sum of each window, or with ${cut} its mean. */
	void (*avgpool)(float *y, const float *x, const struct window *v,
	    float a, int cut, int more);
	/* dx (+)= a times, or with ${cut} over its places, dy of each window. */
	void (*avgpool_back)(float *dx, const float *dy, const struct window *v,
	    float a, int cut, int more);
	void (*relu)(float *y, const float *x, size_t n);
	void (*relu_back)(float *dx, const float *dy, const float *y, size_t n,
	    int more);
	void (*relu6)(float *y, const float *x, size_t n);
	void (*relu6_back)(float *dx, const float *dy, const float *y, size_t n,
	    int more);
	/* y (+)= a b, by place; ${step} 0: one b[lanes] for all places. */
	void (*mul)(float *y, const float *a, const float *b, size_t places,
	    size_t step, int more);
	/* sum[places or 1][lanes] += a b */
	void (*mul_sum)(double *sum, const float *a, const float *b,
	    size_t places, size_t step);
	void (*add)(float *y, const float *a, const float *b, size_t n);
	/* y (+)= a x. */
	void (*scale)(float *y, float a, const float *x, size_t n, int more);
	double (*dot)(const float *a, const float *b, size_t n);
	/* As struct update of backend.h. */
	void (*sgd)(float *w, float *m, const float *g, size_t n, float lr,
	    float momentum, float decay, float scale, int nesterov);
	void (*descend)(float *w, const float *g, size_t n, float lr,
	    float decay, float scale);
	void (*moments)(const struct moments *m);
	/* w += rate (x scale - w), in double. */
	void (*track)(float *w, const float *x, size_t n, double rate,
	    double scale);
};

extern const struct kernels kernels_base, kernels_avx2, kernels_avx512;

const struct kernels *kernels_pick(void) ISA_CONST;

#endif
