/* A perceptual hash of a video. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "media/phash.h"

enum { SIDE = PHASH_SIDE, TIMES = 16, FREQUENCIES = 11, BITS = 64,
	ONE = 1 << 10,			/* 1 in cosines */
	NOISE = 512 };			/* of a coefficient: 1/32 of a gray
					 * level in all pixels and times */

int
phash_wants(struct phash *p)
{
	if (p->every == 0)
		p->every = 1;
	if (p->seen % p->every == 0)
		return 1;
	p->seen++;
	return 0;
}

/* Make room for a frame: keep every second one. */
static uint8_t *
phash_next(struct phash *p)
{
	if (p->frames == PHASH_FRAMES) {
		for (int i = 1; i < PHASH_FRAMES / 2; i++)
			memcpy(p->mean[i], p->mean[2 * i], SIDE * SIDE);
		p->frames /= 2;
		p->every *= 2;
	}
	p->seen++;
	return p->mean[p->frames++];
}

/*
 * Write the means of the cells of a w x h image to ${to}.  ${pixel} bytes are a
 * pixel, 1 of luma or 3 of RGB.  Cells of small images share pixels.
 */
static void
phash_reduce(uint8_t *to, const uint8_t *from, size_t stride, int w, int h,
    int pixel)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			int y0 = i * h / SIDE, y1 = (i + 1) * h / SIDE;
			int x0 = j * w / SIDE, x1 = (j + 1) * w / SIDE;
			uint64_t sum = 0, n;

			y1 = y1 > y0 ? y1 : y0 + 1;
			x1 = x1 > x0 ? x1 : x0 + 1;
			n = (uint64_t)(y1 - y0) * (uint64_t)(x1 - x0);
			for (int y = y0; y < y1; y++) {
				const uint8_t *row = from + (size_t)y * stride;

				for (int x = x0; x < x1; x++)
					sum += pixel == 1 ? row[x] :
					    /* BT.601, in units of 1/256 */
					    (77u * row[3 * x] +
					    150u * row[3 * x + 1] +
					    29u * row[3 * x + 2] + 128) >> 8;
			}
			to[i * SIDE + j] = (uint8_t)((sum + n / 2) / n);
		}
}

void
phash_luma(struct phash *p, const uint8_t *y, int stride, int w, int h)
{
	phash_reduce(phash_next(p), y, (size_t)stride, w, h, 1);
}

void
phash_rgb(struct phash *p, const struct image *m)
{
	phash_reduce(phash_next(p), m->data, 3 * (size_t)m->w, m->w, m->h, 3);
}

/* Return the cosine of place ${x} of ${n} at frequency ${u}, rounded. */
static int64_t
phash_cosine(int x, int u, int n)
{
	return lround(cos((2 * x + 1) * u * acos(-1) / (2 * n)) * ONE);
}

/* Set ${to} to the spatial coefficients of temporal frequency ${k}, in units of
 * ONE^3. */
static void
phash_transform(const struct phash *p, int k,
    int64_t to[FREQUENCIES][FREQUENCIES])
{
	int64_t sum[SIDE][SIDE] = { { 0 } }, rows[SIDE][FREQUENCIES] =
	    { { 0 } };
	int64_t c[FREQUENCIES][SIDE];

	for (int u = 0; u < FREQUENCIES; u++)
		for (int x = 0; x < SIDE; x++)
			c[u][x] = phash_cosine(x, u, SIDE);
	for (int t = 0; t < TIMES; t++) {
		const uint8_t *m = p->mean[(2 * t + 1) * p->frames /
		    (2 * TIMES)];

		for (int i = 0; i < SIDE * SIDE; i++)
			sum[i / SIDE][i % SIDE] += m[i] * phash_cosine(t, k,
			    TIMES);
	}
	for (int y = 0; y < SIDE; y++)
		for (int u = 0; u < FREQUENCIES; u++)
			for (int x = 0; x < SIDE; x++)
				rows[y][u] += sum[y][x] * c[u][x];
	memset(to, 0, FREQUENCIES * sizeof(*to));
	for (int v = 0; v < FREQUENCIES; v++)
		for (int u = 0; u < FREQUENCIES; u++)
			for (int y = 0; y < SIDE; y++)
				to[v][u] += rows[y][u] * c[v][y];
}

static int
phash_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Return the bits of the ${n} lowest frequencies of temporal frequency ${k}. */
static uint64_t
phash_bits(const struct phash *p, int k, int n)
{
	int64_t all[FREQUENCIES][FREQUENCIES], v[BITS], sorted[BITS], limit;
	uint64_t bits = 0;
	int at = 0;

	phash_transform(p, k, all);
	/* Diagonal by diagonal.  The first coefficient of frequency 0 is the
	 * mean, which says little. */
	for (int d = k == 0; at < n; d++)
		for (int u = 0; u <= d && at < n; u++)
			v[at++] = all[d - u][u];
	memcpy(sorted, v, (size_t)n * sizeof(*v));
	qsort(sorted, (size_t)n, sizeof(*sorted), phash_compare);
	limit = sorted[n / 2] + (int64_t)NOISE * ONE * ONE * ONE;
	for (int i = 0; i < n; i++)
		bits |= (uint64_t)(v[i] > limit) << i;
	return bits;
}

uint64_t
phash_end(const struct phash *p)
{
	if (p->frames == 0)
		return 0;
	if (p->frames == 1)
		return phash_bits(p, 0, BITS);
	return phash_bits(p, 0, 32) | phash_bits(p, 1, 16) << 32 |
	    phash_bits(p, 2, 16) << 48;
}
