#ifndef BACKEND_CPU_GROUPED_KERNELS_H
#define BACKEND_CPU_GROUPED_KERNELS_H

/*
 * The loops of convolutions in groups, one copy for each instruction set
 * (grouped.isa.c): a row of places, with L lanes of a block of channels.
 */

#include "base/isa.h"

/*
 * A row of a kernel over w, between rows x[x_w][L] and y[y_w][L]; weights are
 * [k][each][L].  ${from}[each][L]: where the channels lie that each lane of
 * what is written meets, in numbers from where the row begins that is read;
 * NULL: one, in the lane itself.
 */
struct grouped_row { int k, s, p, x_w, y_w, each; const int *from; };

struct grouped_kernels {
	/* y += w x */
	void (*forward)(const struct grouped_row *r, const float *x,
	    const float *w, float *y);
	/* dx += w dy */
	void (*back)(const struct grouped_row *r, const float *dy,
	    const float *w, float *dx);
	/* dw += dy x */
	void (*gradient)(const struct grouped_row *r, const float *x,
	    const float *dy, float *dw);
};

extern const struct grouped_kernels grouped_kernels_base,
    grouped_kernels_avx2, grouped_kernels_avx512;

const struct grouped_kernels *grouped_kernels_pick(void) ISA_CONST;

#endif
