/*
 * Antialiased resizing, rows first: each input row in use becomes a line of
 * bytes (kept as words), and an output row is a sum of such lines.  Both are
 *
 *	to = [sum over j of k[j] from[at + j] / 2^22]
 *
 * with a bracket that rounds halves up, which are the numbers of Pillow 9.  A
 * weight has 23 bits, so vectors take it as hi 2^11 + lo, with products of 16
 * bits added in 32: 255 times the sum of the weights is below 2^30.
 */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "media/resize.h"

#define HALF ANTIALIAS_HALF
#define LOW ANTIALIAS_LOW

/* Places ${i} to ${n} - 1 of a line. */
static void
antialias_across(int16_t *line, const uint8_t *from,
    const struct resize_axis *x, int i, int n)
{
	for (; i < n; i++) {
		const uint8_t *p = from + 3 * (size_t)x->at[i];
		const int32_t *k = x->k + (size_t)i * (size_t)x->most;
		int32_t r = HALF, g = HALF, b = HALF;

		for (int j = 0; j < x->count[i]; j++, p += 3) {
			r += k[j] * p[0];
			g += k[j] * p[1];
			b += k[j] * p[2];
		}
		line[3 * i] = antialias_byte(r);
		line[3 * i + 1] = antialias_byte(g);
		line[3 * i + 2] = antialias_byte(b);
	}
}

/* A line whose places are pixels as they are, and a row that is a line. */
static void
antialias_widen(int16_t *restrict line, const uint8_t *restrict from, int n)
{
	for (int i = 0; i < n; i++)
		line[i] = from[i];
}

static void
antialias_narrow(uint8_t *restrict to, const int16_t *restrict line, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = (uint8_t)line[i];
}

/* The lines of the ring that a row is the sum of. */
struct antialias_rows {
	const int16_t *ring;
	size_t words;			/* of a line */
	int first, count, most;		/* which is first, of ${most} */
	const int32_t *k;
};

static inline const int16_t *
antialias_row(const struct antialias_rows *r, int j)
{
	int i = r->first + j < r->most ? r->first + j : r->first + j - r->most;

	return r->ring + (size_t)i * r->words;
}

/* Bytes ${i} to ${n} - 1 of an output row. */
static void
antialias_down(uint8_t *to, const struct antialias_rows *r, int i, int n)
{
	for (; i < n; i++) {
		int32_t sum = HALF;

		for (int j = 0; j < r->count; j++)
			sum += r->k[j] * antialias_row(r, j)[i];
		to[i] = antialias_byte(sum);
	}
}

#if defined(__AVX2__)

#define WIDE 1

/*
 * The sums of places at[0] and at[2], in halves of a register: R, G, B,
 * nothing.
 */
static inline __m256i
antialias_across_two(const struct antialias_pack *p, const uint8_t *from,
    const int *at, int pairs)
{
	/* Two pixels' R, as words, their G, their B, and nothing. */
	const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -1,
	    3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
	const uint8_t *one = from + 3 * (size_t)at[0];
	const uint8_t *two = from + 3 * (size_t)at[2];
	__m256i hi = _mm256_setzero_si256(), lo = _mm256_set1_epi32(HALF);

	for (int g = 0; g < pairs; g++, p++, one += 6, two += 6) {
		__m256i v = _mm256_shuffle_epi8(_mm256_inserti128_si256(
		    _mm256_castsi128_si256(_mm_loadu_si128(
		    (const __m128i *)one)), _mm_loadu_si128(
		    (const __m128i *)two), 1), order);

		hi = _mm256_add_epi32(hi, _mm256_madd_epi16(v,
		    _mm256_loadu_si256((const __m256i *)p->hi)));
		lo = _mm256_add_epi32(lo, _mm256_madd_epi16(v,
		    _mm256_loadu_si256((const __m256i *)p->lo)));
	}
	return _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(hi, LOW),
	    lo), ANTIALIAS_BITS);
}

/* Places ${i} up to ${end}, four at a time. */
static inline void
antialias_across_pairs(int16_t *line, const struct antialias_pack *p,
    const uint8_t *from, const struct resize_axis *x, int i, int end, int pairs)
{
	/* In each half: R, G, B, nothing, R, G, B, nothing, to six words. */
	const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1,
	    2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1));

	for (; i < end; i += 4, p += 2 * pairs) {
		/* Places 0 and 1, and 2 and 3: packing works in halves. */
		__m256i v = _mm256_shuffle_epi8(_mm256_packs_epi32(
		    antialias_across_two(p, from, x->at + i, pairs),
		    antialias_across_two(p + pairs, from, x->at + i + 1,
		    pairs)), order);

		/* The two words beyond are written over later. */
		_mm_storeu_si128((__m128i *)(line + 3 * i),
		    _mm256_castsi256_si128(v));
		_mm_storeu_si128((__m128i *)(line + 3 * i + 6),
		    _mm256_extracti128_si256(v, 1));
	}
}

/* Places that are pixels as they are, mirrored; four are read at once. */
static void
antialias_across_mirrored(int16_t *line, const uint8_t *from, const int *at,
    int i, int end)
{
	const __m128i right = _mm_setr_epi8(9, -1, 10, -1, 11, -1, 6, -1, 7, -1,
	    8, -1, -1, -1, -1, -1);
	const __m128i left = _mm_setr_epi8(3, -1, 4, -1, 5, -1, 0, -1, 1, -1,
	    2, -1, -1, -1, -1, -1);

	for (; i < end; i += 4) {
		__m128i v = _mm_loadu_si128((const __m128i *)(from +
		    3 * (size_t)at[i + 3]));

		_mm_storeu_si128((__m128i *)(line + 3 * i),
		    _mm_shuffle_epi8(v, right));
		_mm_storeu_si128((__m128i *)(line + 3 * i + 6),
		    _mm_shuffle_epi8(v, left));
	}
}

static void
antialias_across_wide(int16_t *line, const struct antialias_pack *p,
    const uint8_t *from, const struct resize_axis *x, int i, int end)
{
	if (x->copies < 0) {
		antialias_across_mirrored(line, from, x->at, i, end);
		return;
	}
	/* Enlarging takes one pair, shrinking by less than 3/2 two. */
	switch (x->pairs) {
	case 1:
		antialias_across_pairs(line, p, from, x, i, end, 1);
		break;
	case 2:
		antialias_across_pairs(line, p, from, x, i, end, 2);
		break;
	case 3:
		antialias_across_pairs(line, p, from, x, i, end, 3);
		break;
	default:
		antialias_across_pairs(line, p, from, x, i, end, x->pairs);
	}
}

/* Two lines that a row is the sum of, and their weights. */
struct antialias_couple { const int16_t *a, *b; __m256i hi, lo; };

#define COUPLES 4		/* more are summed by the plain version */

static int
antialias_couples(struct antialias_couple *c, const struct antialias_rows *r)
{
	int n = (r->count + 1) / 2;

	for (int j = 0; j < n && n <= COUPLES; j++, c++) {
		/* An odd last line is its own partner, of weight 0. */
		int other = 2 * j + 1 < r->count;
		int32_t k0 = r->k[2 * j], k1 = other ? r->k[2 * j + 1] : 0;

		c->a = antialias_row(r, 2 * j);
		c->b = antialias_row(r, 2 * j + other);
		c->hi = _mm256_set1_epi32(k0 >> LOW | k1 >> LOW << 16);
		c->lo = _mm256_set1_epi32((k0 & ((1 << LOW) - 1)) |
		    (k1 & ((1 << LOW) - 1)) << 16);
	}
	return n;
}

/* 16 words of the result. */
static inline __m256i
antialias_down_16(const struct antialias_couple *c, int n, int i)
{
	const __m256i half = _mm256_set1_epi32(HALF);
	__m256i hi[2] = { _mm256_setzero_si256(), _mm256_setzero_si256() };
	__m256i lo[2] = { half, half };

	for (int j = 0; j < n; j++, c++) {
		__m256i a = _mm256_loadu_si256((const __m256i *)(c->a + i));
		__m256i b = _mm256_loadu_si256((const __m256i *)(c->b + i));
		__m256i u = _mm256_unpacklo_epi16(a, b);
		__m256i v = _mm256_unpackhi_epi16(a, b);

		hi[0] = _mm256_add_epi32(hi[0], _mm256_madd_epi16(u, c->hi));
		hi[1] = _mm256_add_epi32(hi[1], _mm256_madd_epi16(v, c->hi));
		lo[0] = _mm256_add_epi32(lo[0], _mm256_madd_epi16(u, c->lo));
		lo[1] = _mm256_add_epi32(lo[1], _mm256_madd_epi16(v, c->lo));
	}
	for (int k = 0; k < 2; k++)
		lo[k] = _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(
		    hi[k], LOW), lo[k]), ANTIALIAS_BITS);
	return _mm256_packs_epi32(lo[0], lo[1]);
}

/* The beginning of an output row, in whole registers; how many bytes. */
static inline int
antialias_down_couples(uint8_t *to, const struct antialias_couple *c,
    int couples, int n)
{
	int i = 0;

	for (; i + 32 <= n; i += 32) {
		__m256i v = _mm256_packus_epi16(antialias_down_16(c, couples,
		    i), antialias_down_16(c, couples, i + 16));

		/* Packing works in halves of a register; put it in order. */
		_mm256_storeu_si256((__m256i *)(to + i),
		    _mm256_permute4x64_epi64(v, 0xd8));
	}
	return i;
}

static int
antialias_down_wide(uint8_t *to, const struct antialias_rows *r, int n)
{
	struct antialias_couple c[COUPLES];

	switch (antialias_couples(c, r)) {
	case 1:
		return antialias_down_couples(to, c, 1, n);
	case 2:
		return antialias_down_couples(to, c, 2, n);
	case 3:
		return antialias_down_couples(to, c, 3, n);
	case 4:
		return antialias_down_couples(to, c, 4, n);
	}
	return 0;
}

#else

/* The plain versions do all of it. */
#define WIDE 0
#define antialias_across_wide(line, p, from, x, i, end) ((void)(p))
#define antialias_down_wide(to, r, n) 0

#endif

void
ISA(antialias_run)(const struct antialias_job *job)
{
	const struct resize_axis *x = job->x, *y = job->y;
	int n = 3 * x->n, low = WIDE ? job->low : 0, high = WIDE ? job->high : 0;
	size_t words = (size_t)n + RESIZE_SLACK;
	int made = 0;			/* input rows below it were lines */

	for (int i = 0; i < y->n; i++) {
		struct antialias_rows r = { job->line, words,
		    y->at[i] % y->most,
			y->count[i], y->most, y->k + (size_t)i *
			(size_t)y->most };
		uint8_t *to = job->to + (size_t)i * (size_t)n;

		if (made < y->at[i])
			made = y->at[i];
		for (; made < y->at[i] + y->count[i]; made++) {
			const uint8_t *from = job->from + 3 * (size_t)made *
			    (size_t)job->from_w;
			int16_t *line = job->line + (size_t)(made % y->most) *
			    words;

			if (x->copies > 0) {
				antialias_widen(line,
				    from + 3 * (size_t)x->at[0], n);
				continue;
			}
			antialias_across_wide(line, job->pack, from, x, low,
			    high);
			antialias_across(line, from, x, 0, low);
			antialias_across(line, from, x, high, x->n);
		}
		if (y->copies)
			antialias_narrow(to, antialias_row(&r, 0), n);
		else
			antialias_down(to, &r, antialias_down_wide(to, &r, n),
			    n);
	}
}
