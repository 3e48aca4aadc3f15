#ifndef BACKEND_CPU_HALF_AMX_H
#define BACKEND_CPU_HALF_AMX_H

/*
 * Products of bf16 matrices with fp32 sums on AMX's tiles, in *.amx.c, which
 * are compiled where there may be such a processor and run where there is.
 *
 * A tile is 16 rows of 64 bytes: 16 x 32 numbers of A, 16 x 16 sums, or of B
 * 32 x 16, where numbers of two rows lie side by side, [row / 2][column][2].
 * Tiles are a thread's own, and oneDNN lays them out anew for each of its
 * calls, so that who multiplies does so between open and close.
 */

#include "backend/cpu/half/kernels.h"

enum { AMX_ROWS = 32, AMX_COLUMNS = 32, AMX_TERMS = 32 };

/*
 * c[rows][columns] (+)= sum over ${runs} of A and B:  A is [rows][terms], run
 * after run at ${a}[i] of any alignment, in each ${depth} pieces of AMX_TERMS,
 * ${a_piece} numbers apart.  B, [terms / 2][columns][2], goes on from run to
 * run, in pieces ${b_piece} numbers apart.
 */
struct amx_product {
	float *c;
	size_t c_row;			/* numbers from row to row */
	int more;			/* += rather than = */
	int rows;			/* as opened */
	int columns;			/* 16 or 32 */
	const bf16 *const *a;
	size_t a_row, a_piece;
	const bf16 *b;
	size_t b_row, b_piece;
	int runs, depth;
};

struct amx_kernels {
	/* Lay out the thread's tiles for up to 32 ${rows} of A and C. */
	void (*open)(int rows);
	void (*close)(void);
	void (*multiply)(const struct amx_product *p);
};

extern const struct amx_kernels amx_kernels_amx;

/* The table, or NULL where there is no AMX, or VT_ISA forbids it. */
const struct amx_kernels *amx_kernels_pick(void);

#endif
