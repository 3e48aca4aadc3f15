#ifndef BACKEND_CPU_BF16_AMX_H
#define BACKEND_CPU_BF16_AMX_H

/*
 * Products of bf16 matrices with fp32 sums on the tiles of AMX. *.amx.c are
 * compiled on x86-64 and run on processors that have AMX.
 *
 * A tile is 16 rows of 64 bytes: 16 x 32 numbers of A, 16 x 16 sums of C, or 32
 * x 16 numbers of B.  In B, the numbers of two rows alternate: [row /
 * 2][column][2].
 *
 * Tiles are registers of a thread.  Each call of oneDNN configures them for
 * itself, so configure and use them between open and close, without oneDNN in
 * between.
 */

#include "backend/cpu/bf16/kernels.h"
#include "base/isa.h"

enum { AMX_ROWS = 32, AMX_COLUMNS = 32, AMX_TERMS = 32 };

/*
 * c[rows][columns] (+)= sum over i of A_i B_i for ${runs} matrices of A and B.
 *
 * A_i is [rows][depth * AMX_TERMS] at ${a}[i], of any alignment, in ${depth}
 * pieces of AMX_TERMS terms that are ${a_piece} numbers apart.  The B_i follow
 * one another as [terms / 2][columns][2], in pieces that are ${b_piece} numbers
 * apart.
 */
struct amx_product {
	float *c;
	size_t c_row;			/* numbers from row to row */
	int more;			/* += rather than = */
	int rows;			/* rows of open */
	int columns;			/* 16 or 32 */
	const bf16 *const *a;
	size_t a_row, a_piece;
	const bf16 *b;
	size_t b_row, b_piece;
	int runs, depth;
};

/*
 * For blocks of 32 x 32 sums, one after the other for each tap:
 *
 *	to[r to_row + at[c] + t tap_step] =
 *	    sum over i of from[i part_step + t 1024 + r 32 + c]
 *
 * The ${parts} parts i are added in their order.
 */
struct amx_put {
	float *to;
	size_t to_row;
	const int *at;			/* [32] offsets of the columns */
	int tap_step;
	const float *from;
	size_t part_step;
	int parts, taps, rows, columns;
};

struct amx_kernels {
	/*
	 * Configure the tiles of this thread for ${rows} rows of A and C, at
	 * most 32.
	 */
	void (*open)(int rows);
	/* Release the tiles. */
	void (*close)(void);
	/* See struct amx_product. */
	void (*multiply)(const struct amx_product *p);
	/*
	 * to[c][j] = place[j][c] for AMX_TERMS positions j: a piece of A,
	 * whose rows are ${row} numbers apart, a multiple of 32.  ${to} is
	 * aligned to 64 bytes, and ${c} is a multiple of 8.  Prefetch what
	 * lies ${ahead} numbers after each position.
	 */
	void (*transpose)(bf16 *to, size_t row,
	    const bf16 *const place[AMX_TERMS], int c, size_t ahead);
	/*
	 * to[c / 32][j / 2][c % 32][j % 2] = place[j][c]: pieces of B, ${step}
	 * numbers apart.  ${to} is aligned to 64 bytes.  Columns beyond ${c}
	 * in the last piece become 0.  ${mask}[j] has a bit for each number of
	 * a group of 32 at position j; 0 means that the number counts as 0 and
	 * is not read.  Prefetch as in turn.
	 */
	void (*pair)(bf16 *to, size_t step, const bf16 *const place[AMX_TERMS],
	    const uint32_t mask[AMX_TERMS], int c, size_t ahead);
	/* See struct amx_put. */
	void (*put)(const struct amx_put *p);
};

extern const struct amx_kernels amx_kernels_amx;

/*
 * amx_kernels_pick():
 * Return the kernels, or NULL without AMX or if VT_ISA forbids it.
 */
const struct amx_kernels *amx_kernels_pick(void) ISA_CONST;

#endif
