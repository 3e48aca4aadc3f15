/* Plan antialiased resizing for antialias.vbmi.c. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "media/resize.h"

/*
 * Return how many taps are summed at once for a position with the ${n} weights
 * ${k}: 2, 4 or 8, or 0 if there are too many.
 */
static int
antialias_group(const int32_t *k, int n)
{
	/* Sums of words have no constant for weights that are rounded to
	 * another sum than 2^22. */
	if (n == 1 || (n == 2 && k[0] + k[1] == 1 << ANTIALIAS_BITS))
		return 2;
	return n <= 4 ? 4 : n <= 4 * ANTIALIAS_QUADS ? 8 : 0;
}

/*
 * Return the word of the weight ${k}.  If the sizes of crop and result have
 * a large common divisor, each weight has a word: a sum is either a tie, which
 * a word next to k / 2^7 rounds in the same direction, or far from one.
 * Otherwise a weight has none, and a few hundred sums are enough to find a
 * difference.
 */
static int
antialias_word_of(int32_t k)
{
	for (int w = k >> 7; w <= (k >> 7) + 1 && w < 1 << 15; w++) {
		int d = -255;

		while (d <= 255 && (d * w + (1 << 14)) >> 15 ==
		    (d * k + ANTIALIAS_HALF) >> ANTIALIAS_BITS)
			d++;
		if (d > 255)
			return w;
	}
	return -1;
}

/*
 * Return the word of the second of two taps with the ${n} weights ${k}.
 * Finding it takes about 0.5 us, so that a plan would take longer than a frame.
 */
static int
antialias_blend(struct antialias *a, const int32_t *k, int n)
{
	int32_t second = n > 1 ? k[1] : 0;
	struct antialias_word *t = &a->word[(uint32_t)second * 2654435769u >>
	    24 & (ANTIALIAS_WORDS - 1)];

	if (t->k != second)
		*t = (struct antialias_word){ second,
			antialias_word_of(second) };
	return t->word;
}

/* Return digit ${d} of the weight ${k}, 0 to 2^22, in sums of ${taps} taps. */
static int8_t
antialias_digit(int32_t k, int d, int taps)
{
	int32_t low, middle;

	if (taps == 2) {
		/* 2^22 needs a digit more; 2^22 - 1 gives the same bytes. */
		k -= k == 1 << ANTIALIAS_BITS;
		return (int8_t)(uint8_t)(d == 2 ? k & 127 : d == 1 ?
		    k >> 7 & 127 : k >> 14);
	}
	low = (int8_t)k;
	middle = (int8_t)((k - low) >> 8);
	return (int8_t)(d == 2 ? low : d == 1 ? middle :
	    (k - low - middle * 256) >> 16);
}

/* ---- blocks ---- */

/* Return the bytes of a line in a block. */
static int
antialias_block_bytes(int taps)
{
	return taps == 1 ? 48 : taps == 2 ? 32 : 16;
}

/* The code handles 64 bytes of a line at once. */
static size_t
antialias_blocks(int w, int taps)
{
	return round_up(3 * (size_t)w,
	    64) / (size_t)antialias_block_bytes(taps) + 1;
}

static void
antialias_reserve_blocks(struct antialias *a, size_t n)
{
	size_t bytes = n * sizeof(struct antialias_block) + RESIZE_ALIGN;

	if (bytes > a->block_bytes) {
		a->block_bytes = bytes;
		a->blocks = xrealloc(a->blocks, bytes, 1);
	}
	a->block = (struct antialias_block *)(void *)
	    round_up((uintptr_t)a->blocks, RESIZE_ALIGN);
}

static void
antialias_reserve_mixes(struct antialias *a, size_t n)
{
	if (n > a->mixes) {
		a->mixes = n;
		a->mix = xrealloc(a->mix, n, sizeof(*a->mix));
	}
}

void
antialias_reserve_vbmi(struct antialias *a, int w, int h)
{
	antialias_reserve_blocks(a, antialias_blocks(w, 8));
	antialias_reserve_mixes(a, (size_t)h);
}

/* Set the window of ${b}, which begins at byte ${low} of a row. */
static void
antialias_plan_window(struct antialias_block *b, int low, int from_w)
{
	b->low = low;
	for (int q = 0; q < ANTIALIAS_QUADS; q++) {
		int left = 3 * from_w - low - 12 * q;

		b->inside[q] = left >= 64 ? ~(uint64_t)0 : left > 0 ?
		    ((uint64_t)1 << left) - 1 : 0;
	}
}

/*
 * Plan a block that begins at byte ${first} of a line.  Return 0 if its taps
 * lie too far apart for a window.
 */
static int
antialias_plan_block(struct antialias *a, struct antialias_block *b, int first,
    int from_w)
{
	const struct resize_axis *x = &a->x;
	int end = first + antialias_block_bytes(a->taps), low = 3 * from_w;
	int each = a->taps < 4 ? a->taps : 4;

	end = end < 3 * x->n ? end : 3 * x->n;
	for (int s = first; s < end; s++)
		low = 3 * x->at[s / 3] < low ? 3 * x->at[s / 3] : low;
	memset(b, 0, sizeof(*b));
	antialias_plan_window(b, low, from_w);
	for (int s = first; s < end; s++) {
		const int32_t *k = x->k + (size_t)(s / 3) * (size_t)x->max_taps;
		int n = x->count[s / 3];

		if (a->blends)
			b->blend[s - first] = (int16_t)antialias_blend(a, k, n);
		for (int j = 0; j < n; j++) {
			/*
			 * ${each} is a power of two, and 4 if ${n} is larger.
			 */
			int tap = j & (each - 1), e = each * (s - first) + tap;
			int byte = 3 * (x->at[s / 3] + tap) + s % 3 - low;

			if (byte > 63)
				return 0;
			b->pick[e] = (uint8_t)byte;
			for (int d = 0; d < ANTIALIAS_DIGITS && !a->blends; d++)
				b->w[j / 4][d][e] = antialias_digit(k[j], d,
				    a->taps);
		}
	}
	return 1;
}

/* Return the taps that all positions need, or 0 if they are too many. */
static int
antialias_axis_group(const struct resize_axis *x)
{
	int taps = 1;

	for (int i = 0; i < x->n && taps > 0 && !x->copies; i++) {
		int n = antialias_group(x->k + (size_t)i * (size_t)x->max_taps,
		    x->count[i]);

		taps = n == 0 || n > taps ? n : taps;
	}
	return taps;
}

/* Return 1 if each position of the axis ${x} has a word. */
static int
antialias_axis_blends(struct antialias *a, const struct resize_axis *x)
{
	int blends = 1;

	for (int i = 0; i < x->n && blends; i++)
		blends = antialias_blend(a, x->k + (size_t)i *
		    (size_t)x->max_taps, x->count[i]) >= 0;
	return blends;
}

static int
antialias_plan_blocks(struct antialias *a, int from_w)
{
	const struct resize_axis *x = &a->x;
	size_t n;

	a->taps = antialias_axis_group(x);
	if (a->taps == 0)
		return 0;
	a->blends = a->taps == 2 && antialias_axis_blends(a, x);
	n = antialias_blocks(x->n, a->taps);
	antialias_reserve_blocks(a, n);
	for (size_t i = 0; i < n && a->taps > 0; i++)
		if (!antialias_plan_block(a, &a->block[i],
		    (int)i * antialias_block_bytes(a->taps), from_w))
			a->taps = 0;
	return a->taps > 0;
}

/* ---- rows ---- */

static int
antialias_plan_mixes(struct antialias *a)
{
	const struct resize_axis *y = &a->y;

	antialias_reserve_mixes(a, (size_t)y->n);
	for (int i = 0; i < y->n; i++) {
		const int32_t *k = y->k + (size_t)i * (size_t)y->max_taps;
		int8_t w[ANTIALIAS_QUADS][ANTIALIAS_DIGITS][4] = { 0 };
		int taps = antialias_group(k, y->count[i]);

		if (taps == 0)
			return 0;
		for (int j = 0; j < (taps < 4 ? 4 : taps); j++) {
			int tap = taps == 2 ? j % 2 : j;

			for (int d = 0; d < ANTIALIAS_DIGITS &&
			    tap < y->count[i]; d++)
				w[j / 4][d][j % 4] = antialias_digit(k[tap], d,
				    taps);
		}
		a->mix[i].taps = taps;
		a->mix[i].blend = taps == 2 ? antialias_blend(a, k,
		    y->count[i]) : -1;
		memcpy(a->mix[i].w, w, sizeof(w));
	}
	return 1;
}

int
antialias_plan_vbmi(struct antialias *a, int from_w)
{
	if (!(a->planned & ANTIALIAS_BLOCKS) && antialias_plan_blocks(a,
	    from_w))
		a->planned |= ANTIALIAS_BLOCKS;
	if (!(a->planned & ANTIALIAS_MIXES) && antialias_plan_mixes(a))
		a->planned |= ANTIALIAS_MIXES;
	return (a->planned & ANTIALIAS_BLOCKS) &&
	    (a->planned & ANTIALIAS_MIXES);
}
