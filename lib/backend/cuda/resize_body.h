/*
 * Resize raw clips (media/raw.h), in integers, with the sums of
 * base/resize_sums.h, to the same bytes as image_resize:
 *
 *	to[y][x] = sum over j of down[y][j]
 *	    (sum over i of across[x][i] from[..][..])
 *
 * A thread reads 12 bytes, or up to 48 if the frame is antialiased and shrunk
 * by less than 3/2.  Neighbors read the same bytes, so most come from caches.
 */
#include "base/decoded_frame.h"
#include "base/resize_sums.h"

/*
 * The taps of one output position along an axis: first input, last input of the
 * image, weights.
 */
struct OF(place) { int at, last; const int32_t *k; };

INLINE struct OF(place)
OF(place_of)(const int32_t *table, unsigned side, unsigned i, int taps,
    int pixels)
{
	struct OF(place) p;

	p.at = table[i];
	p.last = pixels - 1;
	p.k = table + side + (size_t)i * (size_t)taps;
	return p;
}

/* Return the input of tap ${j}, clamped to the image. */
INLINE size_t
OF(place_tap)(const struct OF(place) *p, int j)
{
	return (size_t)(p->at + j < p->last ? p->at + j : p->last);
}

/* Store a pixel: two taps per axis. */
INLINE void
OF(resize_bilinear)(const struct OF(place) *x, const struct OF(place) *y,
    const uint8_t *from, size_t row, uint8_t *to)
{
	const uint8_t *a = from + OF(place_tap)(y, 0) * row;
	const uint8_t *b = from + OF(place_tap)(y, 1) * row;
	size_t left = 3 * OF(place_tap)(x, 0), right = 3 * OF(place_tap)(x, 1);

	UNROLL
	for (int c = 0; c < 3; c++)
		to[c] = resize_down(resize_across(a[left + c], a[right + c],
		    x->k[0], x->k[1]), resize_across(b[left + c],
		    b[right + c], x->k[0], x->k[1]), (int16_t)y->k[0],
		    (int16_t)y->k[1]);
}

/* Store a pixel: ${across} times ${down} taps. */
INLINE void
OF(resize_antialias)(const struct OF(place) *x, int across,
    const struct OF(place) *y, int down, const uint8_t *from, size_t row,
    uint8_t *to)
{
	int32_t sum[3], line[3];

	UNROLL
	for (int c = 0; c < 3; c++)
		sum[c] = ANTIALIAS_HALF;
	for (int j = 0; j < down; j++) {
		const uint8_t *at = from + OF(place_tap)(y, j) * row;

		UNROLL
		for (int c = 0; c < 3; c++)
			line[c] = ANTIALIAS_HALF;
		for (int i = 0; i < across; i++) {
			const uint8_t *p = at + 3 * OF(place_tap)(x, i);

			UNROLL
			for (int c = 0; c < 3; c++)
				line[c] += x->k[i] * p[c];
		}
		UNROLL
		for (int c = 0; c < 3; c++)
			sum[c] += y->k[j] * antialias_byte(line[c]);
	}
	UNROLL
	for (int c = 0; c < 3; c++)
		to[c] = antialias_byte(sum[c]);
}

/*
 * One pixel per thread.  f->across is 0 for a frame that has its final size
 * already.
 */
BODY
OF(resize)(const struct resize *a, struct block b)
{
	unsigned image = b.x / a->pieces, side = a->side;
	const uint8_t *clip = a->from + a->at[image / a->t];
	const struct decoded_frame *f = (const struct decoded_frame *)(const void *)
	    clip + image % a->t;
	const uint8_t *from = clip + f->pixels;
	const int32_t *across = (const int32_t *)(const void *)(clip + f->taps);
	const int32_t *down = across + (size_t)side * (size_t)(1 + f->across);

	EACH_THREAD(i) {
		unsigned j = b.x % a->pieces * (unsigned)b.threads +
		    (unsigned)i;
		uint8_t *to = a->to + 3 * ((size_t)image * side * side + j);
		struct OF(place) x, y;

		if (j >= side * side)
			continue;
		if (f->across == 0) {
			UNROLL
			for (int c = 0; c < 3; c++)
				to[c] = from[3 * (size_t)j + c];
			continue;
		}
		x = OF(place_of)(across, side, j % side, f->across, f->w);
		y = OF(place_of)(down, side, j / side, f->down, f->h);
		if (f->antialias)
			OF(resize_antialias)(&x, f->across, &y, f->down, from,
			    3 * (size_t)f->w, to);
		else
			OF(resize_bilinear)(&x, &y, from, 3 * (size_t)f->w, to);
	}
}
