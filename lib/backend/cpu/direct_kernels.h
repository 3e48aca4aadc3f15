#ifndef BACKEND_CPU_DIRECT_KERNELS_H
#define BACKEND_CPU_DIRECT_KERNELS_H

/*
 * Kernels of direct convolutions (direct.h); direct.isa.c is compiled once per
 * instruction set.  L is cpu_lanes().  A tile is ${rows} output positions.  A
 * unit is one tap and one block of input channels.  The operands of a tile are
 *
 *	x [units][rows][L]	input at the positions that a tap reads
 *	w [units][L][2 L]	weights to two blocks of outputs; to one block
 *				[units][L][L]
 */

#include <stddef.h>

#include "base/isa.h"

enum { DIRECT_ROWS_MAX = 14 };

/*
 * How sums begin and end: DIRECT_MORE adds to the output, and DIRECT_STREAM
 * stores past the caches.  Streamed stores are visible to others after
 * streamed().
 */
enum direct_how { DIRECT_MORE = 1, DIRECT_STREAM = 2 };

struct direct_kernels {
	int rows;
	/*
	 * For each of the ${n} positions r of a tile and its outputs o:
	 *
	 *	to[r][at + o] = start[o] +
	 *	    sum over units, c of x[unit][r][c] w[unit][c][o]
	 *
	 * If ${wide} is 2, the second block of outputs is ${next} floats
	 * further on.  With DIRECT_MORE the sums start from ${to} instead of
	 * ${start}[wide][L].  Units of ${x} are ${step} floats apart.  ${then}
	 * is the x of the next call: it is prefetched.
	 */
	/* output positions of a tile, at most DIRECT_ROWS_MAX */
	void (*product)(float *const *to, size_t at, int n, size_t next,
	    int wide, const float *x, size_t step, const float *then,
	    const float *w, int units, const float *start, int how);
	/* Order the streamed stores of this thread before its later stores. */
	void (*streamed)(void);
	/* Transpose L x L floats: to[i to_step + j] = from[j step + i] */
	void (*transpose)(float *to, size_t to_step, const float *from,
	    size_t step);
	/*
	 * tile[block][r] = L floats at from[r] + block plane, or zeros if
	 * ${from}[r] is NULL, for r < ${n}; ${tile} is [blocks][rows][L]
	 */
	void (*gather)(float *tile, const float *const *from, int n,
	    size_t plane, int blocks);
};

extern const struct direct_kernels direct_kernels_base, direct_kernels_avx2,
    direct_kernels_avx512;

/* direct_kernels_pick(): return the kernels for this processor (base/isa.h). */
const struct direct_kernels *direct_kernels_pick(void) ISA_CONST;

#endif
