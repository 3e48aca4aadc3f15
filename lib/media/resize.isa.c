/*
 * Bilinear resizing, horizontally first.  Each input row in use becomes a line
 * of 16-bit words, and an output row blends two lines.
 *
 *	line[i][c] = (from[at][c] - 128) v0 + (from[at+1][c] - 128) v1
 *	to[k] = [([line[k] w0 / 2^15] + [next[k] w1 / 2^15]) / 2^6] + 128
 *
 * Brackets round to nearest.  v0 + v1 is 255: the weights are bytes, and a line
 * just fits 16 bits.  w0 + w1 is 8224, which is 2^15 2^6 / 255 rounded, so that
 * constant areas keep their value.  The first formula and the inner brackets
 * are single x86 instructions; every copy gives the same bits.
 */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "media/resize.h"

/*
 * Compute pixels ${i} to ${n} - 1 of a line.  The right neighbor is ${next}
 * bytes ahead.
 */
static void
resize_stretch(int16_t *restrict line, const uint8_t *restrict from,
    const struct resize_tap *restrict x, int i, int n, int next)
{
	for (; i < n; i++) {
		const uint8_t *p = from + 3 * (size_t)x[i].at;

		for (int c = 0; c < 3; c++)
			line[3 * i + c] = resize_across(p[c], p[c + next],
			    x[i].w[0], x[i].w[1]);
	}
}

/* Compute bytes ${k} to ${n} - 1 of an output row. */
static void
resize_blend(uint8_t *restrict to, const int16_t *restrict a,
    const int16_t *restrict b, const int w[2], int k, int n)
{
	int16_t w0 = (int16_t)w[0], w1 = (int16_t)w[1];

	for (; k < n; k++)
		to[k] = resize_down(a[k], b[k], w0, w1);
}

#if defined(__AVX2__)

static inline void
resize_quad_stretch(int16_t *line, const struct resize_quad *q,
    const uint8_t *from)
{
	__m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(
	    _mm_loadu_si128((const __m128i *)(from + q->at[0]))),
	    _mm_loadu_si128((const __m128i *)(from + q->at[1])), 1);

	v = _mm256_xor_si256(v, _mm256_set1_epi8(-128));	/* - 128 */
	v = _mm256_shuffle_epi8(v,
	    _mm256_loadu_si256((const __m256i *)q->pick));
	v = _mm256_maddubs_epi16(_mm256_loadu_si256((const __m256i *)q->w), v);
	/* Each half has 6 words; the next store overwrites the other 2. */
	_mm_storeu_si128((__m128i *)line, _mm256_castsi256_si128(v));
	_mm_storeu_si128((__m128i *)(line + 6), _mm256_extracti128_si256(v, 1));
}

/* Compute as much of a line as has quads.  Return the number of pixels. */
static int
resize_stretch_wide(int16_t *line, const struct resize_job *job,
    const uint8_t *from)
{
	for (int q = 0; q < job->quads; q++)
		resize_quad_stretch(line + 12 * q, &job->quad[q], from);
	return 4 * job->quads;
}

/* Return the blend of 16 words. */
static inline __m256i
resize_blend_16(const int16_t *a, const int16_t *b, const int w[2])
{
	__m256i u = _mm256_mulhrs_epi16(_mm256_loadu_si256((const __m256i *)a),
	    _mm256_set1_epi16((int16_t)w[0]));
	__m256i v = _mm256_mulhrs_epi16(_mm256_loadu_si256((const __m256i *)b),
	    _mm256_set1_epi16((int16_t)w[1]));

	u = _mm256_add_epi16(_mm256_add_epi16(u, v), _mm256_set1_epi16(32));
	return _mm256_srai_epi16(u, 6);
}

/*
 * Compute as much of an output row as fills whole registers.  Return the number
 * of bytes.
 */
static int
resize_blend_wide(uint8_t *to, const int16_t *a, const int16_t *b,
    const int w[2], int n)
{
	int k = 0;

	for (; k + 32 <= n; k += 32) {
		__m256i v = _mm256_packs_epi16(resize_blend_16(a + k, b + k, w),
		    resize_blend_16(a + k + 16, b + k + 16, w));

		/* Packing works within halves; restore the order. */
		v = _mm256_permute4x64_epi64(v, 0xd8);
		v = _mm256_xor_si256(v, _mm256_set1_epi8(-128));
		_mm256_storeu_si256((__m256i *)(to + k), v);
	}
	return k;
}

#else

/* Without AVX2 the scalar versions compute everything. */
#define resize_stretch_wide(line, job, from) 0
#define resize_blend_wide(to, a, b, w, n) 0

#endif

void
ISA(resize_run)(const struct resize_job *job)
{
	int w = job->to_w, next = job->from_w > 1 ? 3 : 0;
	size_t words = 3 * (size_t)w + RESIZE_SLACK;
	int held[2] = { -1, -1 };

	for (int i = 0; i < job->to_h; i++) {
		const struct resize_tap *y = &job->y[i];
		uint8_t *to = job->to + 3 * (size_t)i * (size_t)w;
		int16_t *two[2];
		int done;

		/* Two lines alternate by the parity of the input row; most rows
		 * are already there. */
		for (int s = 0; s < 2; s++) {
			int r = y->at + s < job->from_h ? y->at + s : y->at;
			const uint8_t *from = job->from +
			    3 * (size_t)r * (size_t)job->from_w;

			two[s] = job->line + (size_t)(r % 2) * words;
			if (held[r % 2] == r)
				continue;
			held[r % 2] = r;
			done = resize_stretch_wide(two[s], job, from);
			resize_stretch(two[s], from, job->x, done, w, next);
		}
		done = resize_blend_wide(to, two[0], two[1], y->w, 3 * w);
		resize_blend(to, two[0], two[1], y->w, done, 3 * w);
	}
}
