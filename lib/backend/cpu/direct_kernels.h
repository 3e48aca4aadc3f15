#ifndef BACKEND_CPU_DIRECT_KERNELS_H
#define BACKEND_CPU_DIRECT_KERNELS_H

/*
 * The loops of direct convolutions, one copy for each instruction set
 * (direct.isa.c); direct.h says what they are for.  With L lanes of a block of
 * channels, a tile is ${rows} places of the result, and its input
 *
 *	x [units][rows][L]	the places that one tap finds in one block
 *	w [units][L][2 L]	from each channel of it to 2 L of the result,
 *				or to L
 */

#include <stddef.h>

#include "base/isa.h"

enum { DIRECT_ROWS_MAX = 14 };

/* How sums begin, and where they go: added to what there is, and past the
 * caches, until streamed() is called. */
enum direct_how { DIRECT_MORE = 1, DIRECT_STREAM = 2 };

struct direct_kernels {
	int rows;
	/*
	 * Sums over ${units} of x w for a tile, to ${to}[n] + ${at} and, where
	 * ${wide} is 2, to ${next} further on.  They begin with what is there,
	 * ${how} having DIRECT_MORE, or with ${start} [wide][L].  ${step} from
	 * one unit of ${x} to the next; ${then}: the x of the call after this
	 * one, to be fetched meanwhile.
	 */
	void (*product)(float *const *to, size_t at, int n, size_t next, int wide,
	    const float *x, size_t step, const float *then, const float *w, int units,
	    const float *start, int how);
	void (*streamed)(void);
	/* L rows of as many weights, ${step} apart, turned: to columns. */
	void (*turn)(float *to, size_t to_step, const float *from, size_t step);
	/* Blocks of ${n} places at ${from}, zeros where NULL, to
	 * [blocks][rows][L]; ${plane} from one block to the next. */
	void (*gather)(float *tile, const float *const *from, int n,
	    size_t plane, int blocks);
};

extern const struct direct_kernels direct_kernels_base, direct_kernels_avx2,
    direct_kernels_avx512;

const struct direct_kernels *direct_kernels_pick(void) ISA_CONST;

#endif
