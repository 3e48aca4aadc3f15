/* Convert planar images to JFIF's color space, and turn them upright. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "media/plane.h"

/* 1.0 in struct plane_factors */
#define ONE 8192
#define ALIGN 64		/* row alignment in bytes: the widest vector */
#define SPAN 1024		/* chroma samples per block: on the stack, in
				 * cache */
#define TILE 16			/* pixels per side of a block: input and output
				 * stay in cache */

struct planes *
plane_buffer_resize(struct plane_buffer *b, int w, int h)
{
	int luma = (int)round_up((uint64_t)w, ALIGN);
	int chroma = (int)round_up(((uint64_t)w + 1) / 2, ALIGN);
	size_t y = (size_t)luma * (size_t)h;
	size_t c = (size_t)chroma * (size_t)((h + 1) / 2);
	uint8_t *start;

	if (b->p.w == w && b->p.h == h)
		return &b->p;
	/* One vector of padding, for code that reads ahead. */
	b->data = xrealloc(b->data, y + 2 * c + 2 * ALIGN, 1);
	start = b->data + (ALIGN - (uintptr_t)b->data % ALIGN) % ALIGN;
	b->p = (struct planes){ w, h, { start, start + y, start + y + c },
	    { luma, chroma, chroma } };
	return &b->p;
}

void
plane_buffer_free(struct plane_buffer *b)
{
	free(b->data);
	*b = (struct plane_buffer){ 0 };
}

int
plane_is_jfif(struct plane_color c)
{
	return c.full && c.kr == 0.299 && c.kb == 0.114;
}

/*
 * Return the coefficients of plane_to_jfif: to R, G and B by the source's
 * definition, then back by JFIF's.
 *
 *	R = y + 2 (1 - kr) r	B = y + 2 (1 - kb) b
 *	G = y - (2 kr (1 - kr) r + 2 kb (1 - kb) b) / kg
 */
static struct plane_factors
plane_factors_of(struct plane_color c)
{
	const double jr = 0.299, jb = 0.114, jg = 1 - jr - jb;
	double kg = 1 - c.kr - c.kb;
	double red_r = 2 * (1 - c.kr), blue_b = 2 * (1 - c.kb);
	double green_b = -blue_b * c.kb / kg, green_r = -red_r * c.kr / kg;
	double p = jg * green_b + jb * blue_b, q = jr * red_r + jg * green_r;
	double y = c.full ? 1 : 255 / 219.0, k = c.full ? 1 : 255 / 224.0;
	double b = k / (2 * (1 - jb)), r = k / (2 * (1 - jr));

	return (struct plane_factors){
		.y = (int)lrint(ONE * y),
		.offset = c.full ? 0 : -16 * (int)lrint(ONE * y),
		.p = (int)lrint(ONE * p * k), .q = (int)lrint(ONE * q * k),
		.s = (int)lrint(ONE * b * (blue_b - p)),
		.t = (int)lrint(ONE * b * -q),
		.u = (int)lrint(ONE * r * -p),
		.v = (int)lrint(ONE * r * (red_r - q)),
	};
}

/*
 * Convert up to 2 SPAN columns, starting at ${x}, of chroma row ${j} and its
 * two luma rows.
 */
static void
plane_span_to_jfif(struct planes *to, const struct planes *from, int j, int x,
    const struct plane_factors *f)
{
	int32_t add[2 * SPAN];
	int n = from->w - x < 2 * SPAN ? from->w - x : 2 * SPAN;
	ptrdiff_t c = x / 2;

	ISA_PICK(plane_chroma_row)(to->plane[1] + j * to->stride[1] + c,
	    to->plane[2] + j * to->stride[2] + c,
	    from->plane[1] + j * from->stride[1] + c,
	    from->plane[2] + j * from->stride[2] + c, add, (n + 1) / 2, f);
	for (int i = 2 * j; i < 2 * j + 2 && i < from->h; i++)
		ISA_PICK(plane_luma_row)(to->plane[0] + i * to->stride[0] + x,
		    from->plane[0] + i * from->stride[0] + x, add, n, f);
}

void
plane_to_jfif(struct planes *to, const struct planes *from,
    struct plane_color c)
{
	struct plane_factors f = plane_factors_of(c);

	for (int j = 0; j < (from->h + 1) / 2; j++)
		for (int x = 0; x < from->w; x += 2 * SPAN)
			plane_span_to_jfif(to, from, j, x, &f);
}

void
plane_turn_bytes(uint8_t *to, int to_stride, int w, int h, const uint8_t *from,
    int from_stride, int c, struct plane_turn t)
{
	/* Steps in ${from} for one pixel right and one row down in ${to}. */
	ptrdiff_t right = t.swap ? from_stride : c;
	ptrdiff_t down = t.swap ? c : from_stride;

	if (t.mirror) {
		from += (w - 1) * right;
		right = -right;
	}
	if (t.flip) {
		from += (h - 1) * down;
		down = -down;
	}
	for (int y0 = 0; y0 < h; y0 += TILE)
		for (int x0 = 0; x0 < w; x0 += TILE)
			for (int y = y0; y < y0 + TILE && y < h; y++) {
				const uint8_t *f = from + y * down + x0 * right;
				uint8_t *o = to + y * (ptrdiff_t)to_stride +
				    x0 * c;
				int n = w - x0 < TILE ? w - x0 : TILE;

				for (int x = 0; x < n; x++, f += right)
					for (int k = 0; k < c; k++)
						*o++ = f[k];
			}
}

void
plane_turn(struct planes *to, const struct planes *from, struct plane_turn t)
{
	for (int i = 0; i < 3; i++)
		plane_turn_bytes(to->plane[i], to->stride[i],
		    i > 0 ? (to->w + 1) / 2 : to->w,
		    i > 0 ? (to->h + 1) / 2 : to->h,
		    from->plane[i], from->stride[i], 1, t);
}
