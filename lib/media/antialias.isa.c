/*
 * Antialiased resizing, horizontally first.  Each input row in use becomes a
 * line of bytes, stored as 16-bit words.  An output row is a weighted sum of
 * lines.  Both steps compute
 *
 *	to = [sum over j of k[j] from[at + j] / 2^22]
 *
 * where the bracket rounds halves up, as Pillow 9 does.  A weight has 23 bits.
 * Vectors split it as hi 2^11 + lo and add 16-bit products in 32 bits: 255
 * times the sum of the weights is below 2^30.
 */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "media/resize.h"

#define HALF ANTIALIAS_HALF
#define LOW ANTIALIAS_LOW

/* Compute positions ${i} to ${n} - 1 of a line; the scalar version. */
static void
antialias_across(int16_t *line, const uint8_t *from,
    const struct resize_axis *x, int i, int n)
{
	for (; i < n; i++) {
		const uint8_t *p = from + 3 * (size_t)x->at[i];
		const int32_t *k = x->k + (size_t)i * (size_t)x->max_taps;
		int32_t r = HALF, g = HALF, b = HALF;

		for (int j = 0; j < x->count[i]; j++, p += 3) {
			r += k[j] * p[0];
			g += k[j] * p[1];
			b += k[j] * p[2];
		}
		line[3 * i] = resize_byte(r);
		line[3 * i + 1] = resize_byte(g);
		line[3 * i + 2] = resize_byte(b);
	}
}

/*
 * Copy a row to a line, and a line to a row, where the axis needs no weights.
 */
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

/*
 * The input lines of one output row.  Lines are kept in a ring buffer, indexed
 * by the input row modulo ${max}.
 */
struct antialias_rows {
	const int16_t *ring;
	size_t words;			/* per line */
	int first, count, max;		/* slot of the first line; number of
					 * lines; slots */
	const int32_t *k;
};

static inline const int16_t *
antialias_row(const struct antialias_rows *r, int j)
{
	int i = r->first + j < r->max ? r->first + j : r->first + j - r->max;

	return r->ring + (size_t)i * r->words;
}

/* Compute bytes ${i} to ${n} - 1 of an output row; the scalar version. */
static void
antialias_down(uint8_t *to, const struct antialias_rows *r, int i, int n)
{
	for (; i < n; i++) {
		int32_t sum = HALF;

		for (int j = 0; j < r->count; j++)
			sum += r->k[j] * antialias_row(r, j)[i];
		to[i] = resize_byte(sum);
	}
}

#if defined(__AVX2__)

#define WIDE 1

/*
 * Return the sums of positions at[0] and at[2], one in each half of a register:
 * R, G, B, 0.
 */
static inline __m256i
antialias_across_two(const struct antialias_pack *p, const uint8_t *from,
    const int *at, int pairs)
{
	/* The R of two pixels as words, then G, then B, then zeros. */
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

/* Compute positions ${i} to ${end} - 1, four at a time. */
static inline void
antialias_across_pairs(int16_t *line, const struct antialias_pack *p,
    const uint8_t *from, const struct resize_axis *x, int i, int end, int pairs)
{
	/* Compact each half from R, G, B, 0, R, G, B, 0 to six words. */
	const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1,
	    2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1));

	for (; i < end; i += 4, p += 2 * pairs) {
		/* Packing works within halves: one half gets positions 0 and 1,
		 * the other 2 and 3. */
		__m256i v = _mm256_shuffle_epi8(_mm256_packs_epi32(
		    antialias_across_two(p, from, x->at + i, pairs),
		    antialias_across_two(p + pairs, from, x->at + i + 1,
		    pairs)), order);

		/* Each store writes two words too many; the next one overwrites
		 * them. */
		_mm_storeu_si128((__m128i *)(line + 3 * i),
		    _mm256_castsi256_si128(v));
		_mm_storeu_si128((__m128i *)(line + 3 * i + 6),
		    _mm256_extracti128_si256(v, 1));
	}
}

/* Copy pixels in mirrored order, four per load. */
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
	/* Enlarging needs one pair, shrinking by less than 3/2 two.  Constant
	 * counts let the compiler unroll. */
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

/* Two lines of the sum, and their weights. */
struct antialias_couple { const int16_t *a, *b; __m256i hi, lo; };

#define COUPLES 4		/* more are summed by the scalar version */

/*
 * Pair up the lines of ${r}.  Return the number of pairs; ${c} is set only if
 * it is at most COUPLES.
 */
static int
antialias_couples(struct antialias_couple *c, const struct antialias_rows *r)
{
	int n = (r->count + 1) / 2;

	for (int j = 0; j < n && n <= COUPLES; j++, c++) {
		/* An odd last line is paired with itself, with weight 0. */
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

/* Return 16 words of the result. */
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

/*
 * Compute as much of an output row as fills whole registers.  Return the number
 * of bytes.
 */
static inline int
antialias_down_couples(uint8_t *to, const struct antialias_couple *c,
    int couples, int n)
{
	int i = 0;

	for (; i + 32 <= n; i += 32) {
		__m256i v = _mm256_packus_epi16(antialias_down_16(c, couples,
		    i), antialias_down_16(c, couples, i + 16));

		/* Packing works within halves; restore the order. */
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

/* Without AVX2 the scalar versions compute everything. */
#define WIDE 0
#define antialias_across_wide(line, p, from, x, i, end) ((void)(p))
#define antialias_down_wide(to, r, n) 0

#endif

void
ISA(antialias_run)(const struct antialias_job *job)
{
	const struct resize_axis *x = job->x, *y = job->y;
	int n = 3 * x->n, low = WIDE ? job->low : 0, high = WIDE ? job->high :
	    0;
	size_t words = (size_t)n + RESIZE_SLACK;
	int made = 0;			/* next input row that becomes a line */

	for (int i = 0; i < y->n; i++) {
		struct antialias_rows r = { job->line, words,
		    y->at[i] % y->max_taps,
			y->count[i], y->max_taps, y->k + (size_t)i *
			(size_t)y->max_taps };
		uint8_t *to = job->to + (size_t)i * (size_t)n;

		if (made < y->at[i])
			made = y->at[i];
		for (; made < y->at[i] + y->count[i]; made++) {
			const uint8_t *from = job->from + 3 * (size_t)made *
			    (size_t)job->from_w;
			int16_t *line =
			    job->line + (size_t)(made % y->max_taps) * words;

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
