#ifndef BACKEND_CPU_HALF_PRODUCT_KERNELS_H
#define BACKEND_CPU_HALF_PRODUCT_KERNELS_H

/* The loops of convolutions as matrix products (product.h), on AMX's tiles. */

#include "backend/cpu/half/kernels.h"
#include "base/isa.h"

/*
 * to[row][n] (+)= sum over k of a[row][k] b[k][n], and a bias.  ${a} must be
 * readable for a multiple of 32 rows, what the last of them hold counts for
 * nothing; ${b} lies as [n / 32][k / 32][2][16][16][2]: 32 outputs, 32 terms,
 * half of the outputs, a pair of terms, output, term.
 */
struct product_tiles {
	const bf16 *a;
	size_t a_step;			/* numbers from row to row */
	const bf16 *b;
	size_t b_step;			/* numbers of 32 outputs */
	int steps;			/* of 32 terms */
	int rows, outputs;		/* outputs: a multiple of 16 */
	bf16 *const *to;		/* [rows] output 0 of each */
	const float *bias;		/* [outputs]; NULL: none */
	int more;			/* add to what is there */
	int stream;			/* past the caches; each to[] at a
					 * multiple of 64 bytes */
	const void *next;		/* what will be read after this */
	size_t next_bytes;
};

struct product_kernels {
	/* Lay out the thread's tiles, and let go of them. */
	void (*open)(void);
	void (*close)(void);
	void (*run)(const struct product_tiles *p);
	/*
	 * Weights of 16 outputs and 16 terms, [8][16][2]: of output n and term
	 * k ${w}[n o_step + k t_step]; 0 from ${outputs} and ${terms} on.
	 */
	void (*order)(bf16 *to, const float *w, size_t o_step, size_t t_step,
	    int outputs, int terms);
};

extern const struct product_kernels product_kernels_amx;

/* The table, or NULL where there is no AMX, or VT_ISA forbids it. */
const struct product_kernels *product_kernels_pick(void) ISA_CONST;

#endif
