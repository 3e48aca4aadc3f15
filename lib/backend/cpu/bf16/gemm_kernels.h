#ifndef BACKEND_CPU_BF16_GEMM_KERNELS_H
#define BACKEND_CPU_BF16_GEMM_KERNELS_H

/* Kernels of convolutions as GEMMs (gemm.h), on AMX tiles. */

#include "backend/cpu/bf16/kernels.h"
#include "base/isa.h"

/*
 * to[row][n] (+)= sum over k of a[row][k] b[k][n] + bias[n]
 *
 * ${a} must be readable for a multiple of 32 rows; excess rows are ignored.
 * ${b} is [n / 32][k / 32][2][16][16][2]: 32 outputs, 32 terms, half of the
 * outputs, a pair of terms, output, term.
 */
struct gemm_tiles {
	const bf16 *a;
	size_t a_step;			/* numbers from row to row */
	const bf16 *b;
	size_t b_step;			/* numbers of 32 outputs */
	int steps;			/* steps of 32 terms */
	int rows, outputs;		/* outputs: a multiple of 16 */
	bf16 *const *to;		/* [rows]: output 0 of each row */
	const float *bias;		/* [outputs] or NULL */
	int more;			/* add to ${to} */
	int stream;			/* store past the caches; each to[] is
					 * then a multiple of 64 bytes */
	const void *next;		/* memory to prefetch for the next
					 * call */
	size_t next_bytes;
};

struct gemm_kernels {
	/* Configure the tiles of this thread, and release them. */
	void (*open)(void);
	void (*close)(void);
	/* See struct gemm_tiles; between open and close. */
	void (*run)(const struct gemm_tiles *p);
	/*
	 * Pack the weights from 16 terms to 16 outputs, to[8][16][2], in bf16:
	 *
	 *	to[k / 2][n][k % 2] = w[n o_step + k t_step]
	 *
	 * and 0 for n >= ${outputs} or k >= ${terms}.
	 */
	void (*order)(bf16 *to, const float *w, size_t o_step, size_t t_step,
	    int outputs, int terms);
};

extern const struct gemm_kernels gemm_kernels_amx;

/*
 * gemm_kernels_pick():
 * Return the kernels, or NULL without AMX or if VT_ISA forbids it.
 */
const struct gemm_kernels *gemm_kernels_pick(void) ISA_CONST;

#endif
