/*
 * c += A B by 2 x 2 tiles of sums: four loads from memory for four products
 * of tiles.  Tiles 0 to 3 are the sums, 4 and 5 of A, 6 and 7 of B.
 */
#include <immintrin.h>

#include "backend/cpu/half/amx.h"

/* What is compiled in gives tiles' loads as commands that nothing is known to
 * go into: what was written before must have been. */
#define WRITTEN() __asm__ volatile ("" ::: "memory")

struct layout {
	uint8_t palette, start, reserved[14];
	uint16_t bytes[16];		/* of a row of tile i */
	uint8_t rows[16];
};

static void
open_tiles(int rows)
{
	int upper = rows < 16 ? rows : 16, lower = rows > 16 ? rows - 16 : 16;
	struct layout l = { .palette = 1 };

	for (int i = 0; i < 8; i++) {
		int of_a = i < 4 ? i / 2 : i - 4;	/* which rows */

		l.bytes[i] = 64;
		l.rows[i] = (uint8_t)(i >= 6 ? 16 : of_a ? lower : upper);
	}
	WRITTEN();
	_tile_loadconfig(&l);
	WRITTEN();
}

static void
close_tiles(void)
{
	_tile_release();
}

/* f of the sums' tiles that there are. */
#define SUMS(f, c, row, low, right) do { \
	f(0, (c), (row) * 4); \
	if (right) \
		f(1, (c) + 16, (row) * 4); \
	if (low) \
		f(2, (c) + 16 * (row), (row) * 4); \
	if ((low) && (right)) \
		f(3, (c) + 16 * (row) + 16, (row) * 4); \
} while (0)

static inline __attribute__((always_inline)) void
multiply_tiles(const struct amx_product *p, int low, int right)
{
	const size_t a_row = p->a_row, b_row = p->b_row, c_row = p->c_row;
	const bf16 *b = p->b;

	WRITTEN();
	if (p->more) {
		SUMS(_tile_loadd, p->c, c_row, low, right);
	} else {
		_tile_zero(0);
		_tile_zero(1);
		_tile_zero(2);
		_tile_zero(3);
	}
	for (int i = 0; i < p->runs; i++) {
		const bf16 *a = p->a[i];

		for (int d = 0; d < p->depth; d++) {
			_tile_loadd(6, b, b_row * 2);
			_tile_loadd(4, a, a_row * 2);
			_tile_dpbf16ps(0, 4, 6);
			if (right) {
				_tile_loadd(7, b + 32, b_row * 2);
				_tile_dpbf16ps(1, 4, 7);
			}
			if (low) {
				_tile_loadd(5, a + 16 * a_row, a_row * 2);
				_tile_dpbf16ps(2, 5, 6);
			}
			if (low && right)
				_tile_dpbf16ps(3, 5, 7);
			a += p->a_piece;
			b += p->b_piece;
		}
	}
	SUMS(_tile_stored, p->c, c_row, low, right);
	WRITTEN();
}

static void
multiply(const struct amx_product *p)
{
	if (p->rows > 16 && p->columns > 16)
		multiply_tiles(p, 1, 1);
	else if (p->rows > 16)
		multiply_tiles(p, 1, 0);
	else if (p->columns > 16)
		multiply_tiles(p, 0, 1);
	else
		multiply_tiles(p, 0, 0);
}

const struct amx_kernels amx_kernels_amx = {
	.open = open_tiles, .close = close_tiles, .multiply = multiply,
};
