/*
 * Antialiased resizing as in antialias.isa.c, to the same bits, for processors
 * with VBMI and VNNI.  One permutation picks any bytes of a window of 64.  A
 * byte p of the result is [sum of k p / 2^22], and the weights k are split into
 * digits that multiply bytes.
 *
 * Up to two taps, in words.  The digits are unsigned, and q = p - 128:
 *
 *	k = T 2^14 + M 2^7 + L, with the sum of all k = 2^22
 *	to = [(sum T q + (sum M q + (sum L q) / 2^7) / 2^7) / 2^8] + 128
 *
 * The inner divisions round down, which changes nothing: a quotient of
 * quotients is the quotient by the product.  M and L are at most 127, T at most
 * 255 and the sum of T at most 256, so each sum fits 16 bits.
 *
 * Two taps whose second weight has a word w (media/resize.h), in words:
 *
 *	to = p + [(q - p) w / 2^15]
 *
 * This takes 0.6 of the time.  The default rule crops 3/4, 6/7 or all of the
 * result's size from frames of short side 256, and all weights have words.
 *
 * Up to eight taps, in double words.  The digits are signed:
 *
 *	k = T 2^16 + M 2^8 + L
 *	to = [(((sum T p) 2^8 + sum M p) 2^8 + sum L p) / 2^22]
 *
 * A weight is at most 2^22, so T is at most 64 and no sum exceeds 2^30.
 *
 * Vectors hold 64 bytes of a line; a line and a row may end in part of one.
 */
#include <immintrin.h>
#include <string.h>

#include "base/number.h"
#include "media/resize.h"

#define QUADS ANTIALIAS_QUADS
#define DIGITS ANTIALIAS_DIGITS
#define AHEAD 6			/* rows between fetching and writing one */

/* Return the mask of the first ${n} bytes of a vector. */
static inline __mmask64
antialias_first(int n)
{
	return n >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
}

/*
 * Return 16 bytes of the result as double words.  Byte e has the taps v[q][4 e]
 * to v[q][4 e + 3], with digit d of their weights in w[q][d].
 */
static inline __m512i
antialias_dwords(const __m512i *v, __m512i w[QUADS][DIGITS], int quads)
{
	__m512i sum = _mm512_set1_epi32(ANTIALIAS_HALF >> 16);

	for (int d = 0; d < DIGITS; d++) {
		sum = d > 0 ? _mm512_slli_epi32(sum, 8) : sum;
		for (int q = 0; q < quads; q++)
			sum = _mm512_dpbusd_epi32(sum, v[q], w[q][d]);
	}
	return _mm512_srai_epi32(sum, ANTIALIAS_BITS);
}

/*
 * Return 32 bytes of the result as words, minus 128.  Byte e has the taps v[2
 * e] and v[2 e + 1], minus 128, with digit d of their weights in w[d].
 */
static inline __m512i
antialias_words(__m512i v, const __m512i w[DIGITS])
{
	__m512i sum = _mm512_maddubs_epi16(w[2], v);

	sum = _mm512_add_epi16(_mm512_maddubs_epi16(w[1], v),
	    _mm512_srai_epi16(sum, 7));
	sum = _mm512_add_epi16(_mm512_maddubs_epi16(w[0], v),
	    _mm512_srai_epi16(sum, 7));
	/* Divide by 2^8 and round halves up. */
	return _mm512_mulhrs_epi16(sum, _mm512_set1_epi16(1 << 7));
}

/*
 * Return 32 bytes of the result as words.  Byte e has the taps v[2 e] and
 * v[2 e + 1], and w[e] is the word of the weight of the second.
 */
static inline __m512i
antialias_blends(__m512i v, __m512i w)
{
	__m512i less = _mm512_maddubs_epi16(v, _mm512_set1_epi16(0x01ff));

	return _mm512_add_epi16(_mm512_and_si512(v, _mm512_set1_epi16(0xff)),
	    _mm512_mulhrs_epi16(less, w));
}

/* Add 128 to bytes, or subtract it. */
static inline __m512i
antialias_turn(__m512i v)
{
	return _mm512_xor_si512(v, _mm512_set1_epi8(-128));
}

/* ---- across ---- */

/* Two lines, and the rows that they are made from; or one of each, twice. */
struct antialias_pair { uint8_t *to[2]; const uint8_t *from[2]; };

/* Return a window of row ${r}, with its bytes in the order of the taps. */
static inline __m512i
antialias_pick(const struct antialias_pair *r, int k,
    const struct antialias_block *b, int q)
{
	return _mm512_permutexvar_epi8(_mm512_load_si512(b->pick),
	    _mm512_maskz_loadu_epi8(b->inside[q], r->from[k] + b->low +
	    12 * q));
}

/* Store bytes ${i} to ${n} - 1 of both lines, at most 64. */
static inline void
antialias_store(const struct antialias_pair *r, int i, int n,
    const __m512i v[2])
{
	for (int k = 0; k < 2; k++)
		_mm512_mask_storeu_epi8(r->to[k] + i, antialias_first(n - i),
		    v[k]);
}

/* Make ${n} bytes of lines that copy pixels in mirrored order. */
static void
antialias_across_copies(const struct antialias_pair *r,
    const struct antialias_block *b, int n)
{
	for (int i = 0; i < n; i += 48, b++) {
		const __m512i v[2] = { antialias_pick(r, 0, b, 0),
			antialias_pick(r, 1, b, 0) };

		/* The next store overwrites the last 16 bytes. */
		antialias_store(r, i, n, v);
	}
}

static inline __m512i
antialias_across_32(const struct antialias_pair *r, int k,
    const struct antialias_block *b)
{
	__m512i w[DIGITS];

	for (int d = 0; d < DIGITS; d++)
		w[d] = _mm512_load_si512(b->w[0][d]);
	return antialias_words(antialias_turn(antialias_pick(r, k, b, 0)), w);
}

/* Make ${n} bytes of lines from two taps each. */
static void
antialias_across_two(const struct antialias_pair *r,
    const struct antialias_block *b, int n)
{
	/* Packing works within quarters; restore the order. */
	const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);

	for (int i = 0; i < n; i += 64, b += 2) {
		__m512i v[2];

		for (int k = 0; k < 2; k++) {
			v[k] = _mm512_packs_epi16(
			    antialias_across_32(r, k, b),
			    antialias_across_32(r, k, b + 1));
			v[k] = antialias_turn(
			    _mm512_permutexvar_epi64(order, v[k]));
		}
		antialias_store(r, i, n, v);
	}
}

/* The same for weights that have words. */
static void
antialias_across_blends(const struct antialias_pair *r,
    const struct antialias_block *b, int n)
{
	const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);

	for (int i = 0; i < n; i += 64, b += 2) {
		__m512i v[2];

		for (int k = 0; k < 2; k++)
			v[k] = _mm512_permutexvar_epi64(order,
			    _mm512_packus_epi16(
			    antialias_blends(antialias_pick(r, k, b, 0),
			    _mm512_loadu_si512(b[0].blend)),
			    antialias_blends(antialias_pick(r, k, b + 1, 0),
			    _mm512_loadu_si512(b[1].blend))));
		antialias_store(r, i, n, v);
	}
}

static inline __m512i
antialias_across_16(const struct antialias_pair *r, int k,
    const struct antialias_block *b, int quads)
{
	__m512i v[QUADS], w[QUADS][DIGITS];

	for (int q = 0; q < quads; q++) {
		v[q] = antialias_pick(r, k, b, q);
		for (int d = 0; d < DIGITS; d++)
			w[q][d] = _mm512_load_si512(b->w[q][d]);
	}
	return antialias_dwords(v, w, quads);
}

/* Make ${n} bytes of lines from ${quads} times four taps each. */
static inline void
antialias_across_quads(const struct antialias_pair *r,
    const struct antialias_block *b, int n, int quads)
{
	const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6,
	    10, 14, 3, 7, 11, 15);

	for (int i = 0; i < n; i += 64, b += 4) {
		__m512i v[2];

		for (int k = 0; k < 2; k++) {
			v[k] = _mm512_packus_epi16(_mm512_packs_epi32(
			    antialias_across_16(r, k, b, quads),
			    antialias_across_16(r, k, b + 1, quads)),
			    _mm512_packs_epi32(
			    antialias_across_16(r, k, b + 2, quads),
			    antialias_across_16(r, k, b + 3, quads)));
			v[k] = _mm512_permutexvar_epi32(order, v[k]);
		}
		antialias_store(r, i, n, v);
	}
}

/*
 * Make two lines at once: loading the weights takes as long as loading the
 * pixels.
 */
static void
antialias_across(const struct antialias_job *job,
    const struct antialias_pair *r)
{
	int n = 3 * job->x->n;

	/* Constant counts let the compiler unroll. */
	switch (job->taps) {
	case 1:
		antialias_across_copies(r, job->block, n);
		break;
	case 2:
		if (job->blends)
			antialias_across_blends(r, job->block, n);
		else
			antialias_across_two(r, job->block, n);
		break;
	case 4:
		antialias_across_quads(r, job->block, n, 1);
		break;
	default:
		antialias_across_quads(r, job->block, n, 2);
	}
}

/* ---- down ---- */

/*
 * Interleave the bytes of four lines.  Packing the 32-bit sums of ${v} in order
 * restores the order of the bytes.
 */
static inline void
antialias_interleave(__m512i v[4], const uint8_t *const *line, int i,
    __mmask64 some)
{
	__m512i a = _mm512_maskz_loadu_epi8(some, line[0] + i);
	__m512i b = _mm512_maskz_loadu_epi8(some, line[1] + i);
	__m512i c = _mm512_maskz_loadu_epi8(some, line[2] + i);
	__m512i d = _mm512_maskz_loadu_epi8(some, line[3] + i);
	__m512i ab = _mm512_unpacklo_epi8(a, b), cd = _mm512_unpacklo_epi8(c,
	    d);

	v[0] = _mm512_unpacklo_epi16(ab, cd);
	v[1] = _mm512_unpackhi_epi16(ab, cd);
	ab = _mm512_unpackhi_epi8(a, b);
	cd = _mm512_unpackhi_epi8(c, d);
	v[2] = _mm512_unpacklo_epi16(ab, cd);
	v[3] = _mm512_unpackhi_epi16(ab, cd);
}

/* Make ${n} bytes of an output row from the lines with the weights ${w}. */
static inline void
antialias_down_quads(uint8_t *to, const uint8_t *const *line,
    __m512i w[QUADS][DIGITS], int n, int quads)
{
	for (int i = 0; i < n; i += 64) {
		__mmask64 some = antialias_first(n - i);
		__m512i v[QUADS][4], sum[4];

		for (int q = 0; q < quads; q++)
			antialias_interleave(v[q], line + 4 * q, i, some);
		for (int k = 0; k < 4; k++) {
			__m512i one[QUADS];

			for (int q = 0; q < quads; q++)
				one[q] = v[q][k];
			sum[k] = antialias_dwords(one, w, quads);
		}
		_mm512_mask_storeu_epi8(to + i, some, _mm512_packus_epi16(
		    _mm512_packs_epi32(sum[0], sum[1]),
		    _mm512_packs_epi32(sum[2], sum[3])));
	}
}

/* Make ${n} bytes of an output row from two lines with the weights ${w}. */
static void
antialias_down_two(uint8_t *to, const uint8_t *const *line,
    const __m512i w[DIGITS], int n)
{
	for (int i = 0; i < n; i += 64) {
		__mmask64 some = antialias_first(n - i);
		__m512i a = antialias_turn(_mm512_maskz_loadu_epi8(some,
		    line[0] + i));
		__m512i b = antialias_turn(_mm512_maskz_loadu_epi8(some,
		    line[1] + i));

		/* Unpacking and packing work within quarters. */
		a = _mm512_packs_epi16(
		    antialias_words(_mm512_unpacklo_epi8(a, b), w),
		    antialias_words(_mm512_unpackhi_epi8(a, b), w));
		_mm512_mask_storeu_epi8(to + i, some, antialias_turn(a));
	}
}

/* Make ${n} bytes of an output row from two lines; the second has ${word}. */
static void
antialias_down_blend(uint8_t *to, const uint8_t *const *line, int word, int n)
{
	__m512i w = _mm512_set1_epi16((int16_t)word);

	for (int i = 0; i < n; i += 64) {
		__mmask64 some = antialias_first(n - i);
		__m512i a = _mm512_maskz_loadu_epi8(some, line[0] + i);
		__m512i b = _mm512_maskz_loadu_epi8(some, line[1] + i);

		_mm512_mask_storeu_epi8(to + i, some, _mm512_packus_epi16(
		    antialias_blends(_mm512_unpacklo_epi8(a, b), w),
		    antialias_blends(_mm512_unpackhi_epi8(a, b), w)));
	}
}

/*
 * Make ${n} bytes of a row of the output with the weights ${m}, from lines that
 * complete its taps.
 */
static void
antialias_down(uint8_t *to, const uint8_t *const *line,
    const struct antialias_mix *m, int n)
{
	__m512i w[QUADS][DIGITS];

	if (m->blend >= 0) {
		antialias_down_blend(to, line, m->blend, n);
		return;
	}
	for (int q = 0; q < QUADS; q++)
		for (int d = 0; d < DIGITS; d++)
			w[q][d] = _mm512_set1_epi32(m->w[q][d]);
	if (m->taps == 2)
		antialias_down_two(to, line, w[0], n);
	else if (m->taps == 4)
		antialias_down_quads(to, line, w, n, 1);
	else
		antialias_down_quads(to, line, w, n, 2);
}

/* ---- a frame ---- */

/*
 * Fetch the memory of a row of ${n} bytes that will be written soon.  The
 * buffers of a loader exceed the caches, and a store waits for its line.
 */
static void
antialias_fetch(const uint8_t *to, int n)
{
	for (int i = 0; i < n; i += 64)
		__builtin_prefetch(to + i, 1);
}

static const uint8_t *
antialias_row(const struct antialias_job *job, int row)
{
	return job->from + 3 * (size_t)row * (size_t)job->from_w;
}

/*
 * Return the line of input row ${row}.  Lines that only copy are read in the
 * row itself; others are kept in a ring, indexed by the row modulo its size.
 */
static uint8_t *
antialias_line(const struct antialias_job *job, int row)
{
	return job->lines + ((size_t)row & (size_t)(job->ring - 1)) *
	    round_up(3 * (size_t)job->x->n, 64);
}

/* Write output rows that each copy a line. */
static void
antialias_run_lines(const struct antialias_job *job)
{
	size_t bytes = 3 * (size_t)job->x->n;
	int n = job->y->n;

	for (int i = 0; i < n; i += 2) {
		int two[2] = { i, i + 1 < n ? i + 1 : i };
		struct antialias_pair r;

		for (int k = 0; k < 2; k++) {
			r.to[k] = job->to + (size_t)two[k] * bytes;
			r.from[k] = antialias_row(job, job->y->at[two[k]]);
			if (job->x->copies > 0)
				memcpy(r.to[k], r.from[k] + 3 *
				    (size_t)job->x->at[0], bytes);
		}
		if (job->x->copies <= 0)
			antialias_across(job, &r);
	}
}

/* Make the lines of input rows ${row} and ${row} + 1, or of ${last} alone. */
static void
antialias_make(const struct antialias_job *job, int row, int last)
{
	int next = row < last ? row + 1 : row;

	antialias_across(job, &(struct antialias_pair){
	    { antialias_line(job, row), antialias_line(job, next) },
	    { antialias_row(job, row), antialias_row(job, next) } });
}

void
antialias_run_vbmi(const struct antialias_job *job)
{
	const struct resize_axis *x = job->x, *y = job->y;
	int last = y->at[y->n - 1] + y->count[y->n - 1] - 1;
	int made = 0;			/* next input row that becomes a line */

	if (y->copies) {
		antialias_run_lines(job);
		return;
	}
	for (int i = 0; i < y->n; i++) {
		const struct antialias_mix *m = &job->mix[i];
		const uint8_t *line[4 * QUADS];
		int at = y->at[i], end = at + y->count[i];

		if (i + AHEAD < y->n)
			antialias_fetch(job->to + 3 * (size_t)(i + AHEAD) *
			    (size_t)x->n, 3 * x->n);
		made = made < at ? at : made;
		for (; x->copies <= 0 && made < end; made += 2)
			antialias_make(job, made, last);
		/* Lines of weight 0 complete the taps. */
		for (int j = 0; j < m->taps; j++) {
			int row = at + j < end ? at + j : at;

			line[j] = x->copies > 0 ? antialias_row(job, row) +
			    3 * x->at[0] : antialias_line(job, row);
		}
		antialias_down(job->to + 3 * (size_t)i * (size_t)x->n, line, m,
		    3 * x->n);
	}
}
