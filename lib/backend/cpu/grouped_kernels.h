#ifndef BACKEND_CPU_GROUPED_KERNELS_H
#define BACKEND_CPU_GROUPED_KERNELS_H

/*
 * Kernels of convolutions in groups (grouped.h), over one row of positions and
 * the L lanes of a block of output channels; L is cpu_lanes().  grouped.isa.c
 * is compiled once per instruction set.
 */

#include "base/isa.h"

/*
 * A row of a kernel over w, between rows x[x_w][L] and y[y_w][L].  Weights are
 * [k][each][L], where ${each} is the input channels per output channel.
 * ${from}[each][L] is the offset of the input channel of each lane, in floats
 * from the start of the row that is read.  NULL means a depthwise kernel:
 * ${each} is 1, and the input channel is in the same lane.
 */
struct grouped_row { int k, s, p, x_w, y_w, each; const int *from; };

struct grouped_kernels {
	/* y[p] += sum over tap, j of w[tap][j] x[p s - pad + tap][j] */
	void (*forward)(const struct grouped_row *r, const float *x,
	    const float *w, float *y);
	/* dx[p s - pad + tap] += sum over j of w[tap][j] dy[p][j] */
	void (*back)(const struct grouped_row *r, const float *dy,
	    const float *w, float *dx);
	/* dw[tap][j] += sum over p of dy[p] x[p s - pad + tap][j] */
	void (*gradient)(const struct grouped_row *r, const float *x,
	    const float *dy, float *dw);
};

extern const struct grouped_kernels grouped_kernels_base,
    grouped_kernels_avx2, grouped_kernels_avx512;

/*
 * grouped_kernels_pick(): return the kernels for this processor (base/isa.h).
 */
const struct grouped_kernels *grouped_kernels_pick(void) ISA_CONST;

#endif
