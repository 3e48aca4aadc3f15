/* GEMM of bf16 rows and weights on AMX tiles (gemm_kernels.h). */
#include <immintrin.h>
#include <string.h>

#include "backend/cpu/bf16/gemm_kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { A0 = 4, A1, B0, B1 };		/* tiles; the sums are in 0 to 3 */

/*
 * The memory format of _tile_loadconfig: rows and bytes per row of eight tiles.
 */
struct gemm_amx_layout {
	uint8_t palette, start, zero[14];
	uint16_t bytes[16];
	uint8_t rows[16];
};

/*
 * All tiles have 16 rows.  This is not a local variable, because gcc 12 assumes
 * that only its first 8 bytes are read.
 */
static const struct gemm_amx_layout layout = { 1, 0, { 0 },
    { 64, 64, 64, 64, 64, 64,
	64, 64 }, { 16, 16, 16, 16, 16, 16, 16, 16 } };

static void
gemm_amx_open_tiles(void)
{
	_tile_loadconfig(&layout);
}

static void
gemm_amx_close_tiles(void)
{
	_tile_release();
}

/* sum[2][2][16][16] = A B for 32 rows and 32 outputs */
INLINE void
gemm_amx_multiply(float *sum, const bf16 *a, size_t a_step, const bf16 *b,
    int steps)
{
	const bf16 *a1 = a + 16 * a_step;
	size_t bytes = a_step * sizeof(*a);

	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	for (int k = 0; k < steps; k++, a += 32, a1 += 32, b += 1024) {
		_tile_loadd(6, b, 64);
		_tile_loadd(4, a, bytes);
		_tile_loadd(7, b + 512, 64);
		_tile_dpbf16ps(0, 4, 6);
		_tile_loadd(5, a1, bytes);
		_tile_dpbf16ps(1, 4, 7);
		_tile_dpbf16ps(2, 5, 6);
		_tile_dpbf16ps(3, 5, 7);
	}
	_tile_stored(0, sum, 64);
	_tile_stored(1, sum + 256, 64);
	_tile_stored(2, sum + 512, 64);
	_tile_stored(3, sum + 768, 64);
}

INLINE __m512
gemm_amx_widen(__m256i h)
{
	return _mm512_castsi512_ps(_mm512_slli_epi32(
	    _mm512_cvtepu16_epi32(h), 16));
}

/* to[row][n] = round(sum + bias), plus to[row][n] if ${more} is not 0 */
INLINE void
gemm_amx_put(const struct gemm_tiles *p, bf16 *const *to, int rows,
    int at, int wide, const float *sum, int more)
{
	__m512 b0 = _mm512_setzero_ps(), b1 = b0;

	if (p->bias != NULL) {
		b0 = _mm512_loadu_ps(p->bias + at);
		if (wide)
			b1 = _mm512_loadu_ps(p->bias + at + 16);
	}
	for (int i = 0; i < rows; i++) {
		const float *from = sum + i / 16 * 512 + i % 16 * 16;
		__m512 v0 = _mm512_load_ps(from) + b0;
		__m512 v1 = _mm512_load_ps(from + 256) + b1;
		bf16 *y = to[i] + at;

		if (more) {
			v0 += gemm_amx_widen(_mm256_loadu_si256(
			    (const __m256i *)y));
			if (wide)
				v1 += gemm_amx_widen(_mm256_loadu_si256(
				    (const __m256i *)(y + 16)));
		}
		if (!wide)
			_mm256_storeu_si256((__m256i *)y,
			    (__m256i)_mm512_cvtneps_pbh(v0));
		else if (p->stream)
			_mm512_stream_si512((void *)y,
			    (__m512i)_mm512_cvtne2ps_pbh(v1, v0));
		else
			_mm512_storeu_si512((void *)y,
			    (__m512i)_mm512_cvtne2ps_pbh(v1, v0));
	}
}

/*
 * to[row][n] (+)= sum over k of a[row][k] b[k][n] + bias[n].  32 rows by 32
 * outputs at a time; meanwhile, prefetch p->next.
 */
static void
gemm_amx_run(const struct gemm_tiles *p)
{
	float sum[1024] __attribute__((aligned(64)));
	const char *next = p->next;
	size_t lines = (p->next_bytes + 63) / 64;
	int tiles = (p->rows + 31) / 32 * ((p->outputs + 31) / 32), done = 0;

	for (int n = 0; n < p->outputs; n += 32) {
		const bf16 *b = p->b + (size_t)(n / 32) * p->b_step;
		int wide = n + 32 <= p->outputs;

		for (int m = 0; m < p->rows; m += 32, done++) {
			int rows = p->rows - m < 32 ? p->rows - m : 32;

			for (size_t i = lines * done / tiles;
			    i < lines * (done + 1) / tiles; i++)
				_mm_prefetch(next + i * 64, _MM_HINT_T1);
			gemm_amx_multiply(sum, p->a + (size_t)m * p->a_step,
			    p->a_step, b, p->steps);
			if (p->more)
				gemm_amx_put(p, p->to + m, rows, n, wide,
				    sum, 1);
			else
				gemm_amx_put(p, p->to + m, rows, n, wide,
				    sum, 0);
		}
	}
	if (p->stream)
		_mm_sfence();
}

/* Round 16 numbers to bf16, in the lower half of each 32 bits. */
INLINE __m512i
gemm_amx_round16(__m512 v)
{
	return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(v));
}

/*
 * to[k / 2][n][k % 2] = w[n o_step + k t_step], rounded; 0 beyond outputs and
 * terms
 */
static void
gemm_amx_order(bf16 *to, const float *w, size_t o_step, size_t t_step,
    int outputs, int terms)
{
	const __m512i n = _mm512_mullo_epi32(_mm512_set1_epi32((int)o_step),
	    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	    15));
	const __mmask16 some = (__mmask16)((1 << outputs) - 1);
	const __m512 zero = _mm512_setzero_ps();

	for (int k = 0; k < 16; k += 2, to += 32, w += 2 * t_step) {
		__mmask16 m0 = k < terms ? some : 0;
		__mmask16 m1 = k + 1 < terms ? some : 0;
		__m512 v0, v1;

		if (o_step == 1) {
			v0 = _mm512_maskz_loadu_ps(m0, w);
			v1 = _mm512_maskz_loadu_ps(m1, w + t_step);
		} else {
			v0 = _mm512_mask_i32gather_ps(zero, m0, n, w, 4);
			v1 = _mm512_mask_i32gather_ps(zero, m1, n, w + t_step,
			    4);
		}
		_mm512_storeu_si512((void *)to,
		    _mm512_or_si512(gemm_amx_round16(v0),
		    _mm512_slli_epi32(gemm_amx_round16(v1), 16)));
	}
}

const struct gemm_kernels gemm_kernels_amx = {
	.open = gemm_amx_open_tiles, .close = gemm_amx_close_tiles,
	.run = gemm_amx_run, .order = gemm_amx_order,
};
