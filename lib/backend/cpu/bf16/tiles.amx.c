/*
 * GEMM and operands of weight gradients on AMX tiles (amx.h).  c += A B with 2
 * x 2 tiles of sums takes four loads for four products of tiles.  Tiles 0 to 3
 * are sums, 4 and 5 are A, 6 and 7 are B.
 */
#include <immintrin.h>

#include "backend/cpu/bf16/amx.h"

#define LANE(p) _mm_loadu_si128((const __m128i *)(p))

/*
 * A compiler barrier.  To gcc, the intrinsics for tile loads do not read
 * memory, so it could move earlier stores behind them.
 */
#define WRITTEN() __asm__ volatile ("" ::: "memory")

struct tiles_layout {
	uint8_t palette, start, reserved[14];
	uint16_t bytes[16];		/* of a row of tile i */
	uint8_t rows[16];
};

static void
tiles_open(int rows)
{
	int upper = rows < 16 ? rows : 16, lower = rows > 16 ? rows - 16 : 16;
	struct tiles_layout l = { .palette = 1 };

	for (int i = 0; i < 8; i++) {
		int of_a = i < 4 ? i / 2 : i - 4;	/* 0 upper rows, 1 lower
							 * rows */

		l.bytes[i] = 64;
		l.rows[i] = (uint8_t)(i >= 6 ? 16 : of_a ? lower : upper);
	}
	WRITTEN();
	_tile_loadconfig(&l);
	WRITTEN();
}

static void
tiles_close(void)
{
	_tile_release();
}

/* Call f for those tiles of sums that exist. */
#define SUMS(f, c, row, low, right) do { \
	f(0, (c), (row) * 4); \
	if (right) \
		f(1, (c) + 16, (row) * 4); \
	if (low) \
		f(2, (c) + 16 * (row), (row) * 4); \
	if ((low) && (right)) \
		f(3, (c) + 16 * (row) + 16, (row) * 4); \
} while (0)

/* c (+)= sum over runs of A B, for up to 32 rows and 32 columns */
static inline __attribute__((always_inline)) void
tiles_multiply_block(const struct amx_product *p, int low, int right)
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
			/* All loads first is 10 % faster. */
			_tile_loadd(4, a, a_row * 2);
			if (low)
				_tile_loadd(5, a + 16 * a_row, a_row * 2);
			_tile_loadd(6, b, b_row * 2);
			if (right)
				_tile_loadd(7, b + 32, b_row * 2);
			_tile_dpbf16ps(0, 4, 6);
			if (right)
				_tile_dpbf16ps(1, 4, 7);
			if (low)
				_tile_dpbf16ps(2, 5, 6);
			if (low && right)
				_tile_dpbf16ps(3, 5, 7);
			a += p->a_piece;
			b += p->b_piece;
		}
	}
	SUMS(_tile_stored, p->c, c_row, low, right);
	WRITTEN();
}

/* Compile each case with constants, so that its loop has no branches. */
static void
tiles_multiply(const struct amx_product *p)
{
	if (p->rows > 16 && p->columns > 16)
		tiles_multiply_block(p, 1, 1);
	else if (p->rows > 16)
		tiles_multiply_block(p, 1, 0);
	else if (p->columns > 16)
		tiles_multiply_block(p, 0, 1);
	else
		tiles_multiply_block(p, 0, 0);
}

/* ---- operands: positions become columns of A and rows of B ---- */

/*
 * to[c][j] = place[j][c], a transpose of 32 positions
 *
 * Eight channels at a time.  A 128-bit lane holds eight channels of a position,
 * and register j holds positions j, 8 + j, 16 + j and 24 + j.  No number then
 * leaves its lane, and the loads do half of the work.
 */
static void
tiles_turn(bf16 *to, size_t row, const bf16 *const place[AMX_TERMS], int c,
    size_t prefetch)
{
	for (int first = 0; first < c; first += 8) {
		__m512i v[8], two[8], four[8];

		for (int j = 0; j < 8; j++) {
			const bf16 *const *p = place + j;

			v[j] = _mm512_castsi128_si512(LANE(p[0] + first));
			v[j] = _mm512_inserti32x4(v[j], LANE(p[8] + first), 1);
			v[j] = _mm512_inserti32x4(v[j], LANE(p[16] + first), 2);
			v[j] = _mm512_inserti32x4(v[j], LANE(p[24] + first), 3);
		}
		for (int j = 0; first % 32 == 0 && j < AMX_TERMS; j++)
			_mm_prefetch(place[j] + first + prefetch, _MM_HINT_T0);
		/* channels 0 to 3 of two positions, then 4 to 7 */
		for (int j = 0; j < 8; j += 2) {
			two[j] = _mm512_unpacklo_epi16(v[j], v[j + 1]);
			two[j + 1] = _mm512_unpackhi_epi16(v[j], v[j + 1]);
		}
		/*
		 * channels 0 and 1, 2 and 3, 4 and 5, 6 and 7 of four positions
		 */
		for (int j = 0; j < 8; j += 4)
			for (int h = 0; h < 2; h++) {
				four[j + 2 * h] = _mm512_unpacklo_epi32(
				    two[j + h], two[j + 2 + h]);
				four[j + 2 * h + 1] = _mm512_unpackhi_epi32(
				    two[j + h], two[j + 2 + h]);
			}
		for (int i = 0; i < 4; i++, to += 2 * row) {
			_mm512_store_si512((void *)to, _mm512_unpacklo_epi64(
			    four[i], four[4 + i]));
			_mm512_store_si512((void *)(to + row),
			    _mm512_unpackhi_epi64(four[i], four[4 + i]));
		}
	}
}

/*
 * Load 32 numbers with their quarters permuted so that interleaving within
 * lanes gives the plain order.
 */
static inline __m512i
tiles_quarters(const bf16 *p, __mmask32 mask)
{
	return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3,
	    7), _mm512_maskz_loadu_epi16(mask, p));
}

/* to[c / 32][j / 2][c % 32][j % 2] = place[j][c], or 0 */
static void
tiles_pair(bf16 *to, size_t step, const bf16 *const place[AMX_TERMS],
    const uint32_t mask[AMX_TERMS], int c, size_t prefetch)
{
	for (int first = 0; first < c; first += 32, to += step) {
		uint32_t there = c - first >= 32 ? ~0u : (1u << (c - first)) -
		    1;

		for (int j = 0; j < AMX_TERMS; j += 2) {
			const bf16 *p = place[j] + first;
			const bf16 *q = place[j + 1] + first;
			__m512i a = tiles_quarters(p, mask[j] & there);
			__m512i b = tiles_quarters(q, mask[j + 1] & there);

			_mm_prefetch(p + prefetch, _MM_HINT_T0);
			_mm_prefetch(q + prefetch, _MM_HINT_T0);
			_mm512_store_si512((void *)(to + 32 * j),
			    _mm512_unpacklo_epi16(a, b));
			_mm512_store_si512((void *)(to + 32 * j + 32),
			    _mm512_unpackhi_epi16(a, b));
		}
	}
}

/* to[r to_row + at[c] + t tap_step] = sum over parts of from */
static void
tiles_put(const struct amx_put *p)
{
	for (int c = 0; c < p->columns; c += 16) {
		int left = p->columns - c, near = p->at[1] == p->at[0] + 1;
		__mmask16 mask = (__mmask16)(left >= 16 ? 0xffff :
		    (1u << left) - 1);
		__m512i at = _mm512_loadu_si512(p->at + c);

		for (int r = 0; r < p->rows; r++)
			for (int t = 0; t < p->taps; t++) {
				const float *from =
				    p->from + t * 1024 + r * 32 + c;
				float *to = p->to + (size_t)r * p->to_row +
				    (size_t)(t * p->tap_step);
				__m512 sum = _mm512_loadu_ps(from);

				for (int i = 1; i < p->parts; i++)
					sum +=
					    _mm512_loadu_ps(from + (size_t)i *
					    p->part_step);
				if (near)
					_mm512_mask_storeu_ps(to + p->at[c],
					    mask, sum);
				else
					_mm512_mask_i32scatter_ps(to, mask, at,
					    sum, sizeof(float));
			}
	}
}

const struct amx_kernels amx_kernels_amx = {
	.open = tiles_open, .close = tiles_close,
	.multiply = tiles_multiply, .transpose = tiles_turn,
	.pair = tiles_pair, .put = tiles_put,
};
