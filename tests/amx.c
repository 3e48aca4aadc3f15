/* Products of tiles against plain sums: every edge, small whole numbers. */
#include <stdint.h>

#include "backend/cpu/half/amx.h"
#include "base/mem.h"
#include "base/rng.h"

#include "tap.h"

enum { MOST = 8 };			/* pieces of terms */

static bf16
whole(uint32_t i, uint32_t stream)
{
	return bf16_of((float)(int)(4 * rng_normal(1, stream, i)));
}

/* Everything around what is asked for, and in C before, is NaN or a mark. */
static void
test_product(const struct amx_kernels *k, int rows, int columns, int runs,
    int depth, int more)
{
	static bf16 a[3][33 * (MOST * 32 + 5)], b[3 * MOST * 16 * 96];
	static float c[33 * 40];
	const bf16 *at[3] = { a[0] + 1, a[1], a[2] + 7 };
	int pieces = runs * depth, bad = 0;
	size_t row = (size_t)depth * 32 + 5;
	struct amx_product p = { .c = c, .c_row = 40, .more = more,
		.rows = rows, .columns = columns, .a = at, .a_row = row,
		.a_piece = 32, .b = b, .b_row = 96, .b_piece = 16 * 96,
		.runs = runs, .depth = depth };

	memset(a, 0xff, sizeof(a));
	memset(b, 0xff, sizeof(b));
	for (int r = 0; r < runs; r++)
		for (int m = 0; m < rows; m++)
			for (int t = 0; t < depth * 32; t++)
				((bf16 *)at[r])[(size_t)m * row + (size_t)t] =
				    whole((uint32_t)((r * 33 + m) * 999 + t), 2);
	for (int t = 0; t < pieces * 32; t++)
		for (int n = 0; n < columns; n++)
			b[t / 2 * 96 + 2 * n + t % 2] =
			    whole((uint32_t)(t * 32 + n), 3);
	for (int i = 0; i < 33 * 40; i++)
		c[i] = (float)i;
	k->open(rows);
	k->multiply(&p);
	k->close();
	for (int i = 0; i < 33 * 40; i++) {
		int m = i / 40, n = i % 40;
		float want = (float)i;

		if (m < rows && n < columns) {
			want = more ? want : 0;
			for (int t = 0; t < pieces * 32; t++)
				want += bf16_wide(at[t / 32 / depth][(size_t)m *
				    row + (size_t)(t % (depth * 32))]) *
				    bf16_wide(b[t / 2 * 96 + 2 * n + t % 2]);
		}
		bad += c[i] != want;
	}
	is(bad, 0, "the product of tiles, and nothing else, is written");
}

int
main(void)
{
	static const int rows[] = { 32, 16, 17, 31, 15, 1 };
	const struct amx_kernels *k = amx_kernels_pick();

	if (k == NULL) {
		skip("products of tiles", "no AMX here");
		return done();
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int columns = 16; columns <= 32; columns += 16) {
			test_product(k, rows[i], columns, 1, 1, 0);
			test_product(k, rows[i], columns, 1, 3, 1);
			test_product(k, rows[i], columns, 3, MOST, 1);
		}
	return done();
}
