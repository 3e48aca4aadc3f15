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
#include "base/isa.h"

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

/*
 * Sums in blocks of 32 x 32, for each tap one after the other, the same of
 * ${parts} added in their order:  to[row to_row + at[column] + tap tap_step].
 */
struct amx_put {
	float *to;
	size_t to_row;
	const int *at;			/* [32] */
	int tap_step;
	const float *from;
	size_t part_step;
	int parts, taps, rows, columns;
};

struct amx_kernels {
	/* Lay out the thread's tiles for up to 32 ${rows} of A and C. */
	void (*open)(int rows);
	void (*close)(void);
	void (*multiply)(const struct amx_product *p);
	/*
	 * AMX_TERMS places, each a row of ${c} numbers, become columns:
	 * to[c][row], a piece of A.  ${c} is a multiple of 8.  Rows ${ahead}
	 * numbers further on will be wanted soon.
	 */
	void (*turn)(bf16 *to, size_t row, const bf16 *const place[AMX_TERMS],
	    int c, size_t ahead);
	/*
	 * Pairs of them side by side: [c / 32][AMX_TERMS / 2][32][2], pieces of
	 * B ${step} numbers apart, the last one's columns beyond ${c} zeros;
	 * ${mask} has the bits of a place's first 32 numbers that count, the
	 * others are not read, and with none of them no number is.
	 */
	void (*pair)(bf16 *to, size_t step, const bf16 *const place[AMX_TERMS],
	    const uint32_t mask[AMX_TERMS], int c, size_t ahead);
	void (*put)(const struct amx_put *p);
};

extern const struct amx_kernels amx_kernels_amx;

/* The table, or NULL where there is no AMX, or VT_ISA forbids it. */
const struct amx_kernels *amx_kernels_pick(void) ISA_CONST;

#endif
