/*
 * The inner loops of plane_to_jfif (plane.h): one row of luma, one of chroma.
 */
#include "media/plane.h"

#define BITS 13			/* fraction bits of struct plane_factors */
#define HALF (1 << (BITS - 1))

static inline uint8_t
plane_clamp(int v)
{
	return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/*
 * to[i] = clamp((from[i] y + offset + add[i]) / 2^13), rounded.  ${add} is the
 * contribution of chroma, in 1/8192.
 */
void
ISA(plane_luma_row)(uint8_t *to, const uint8_t *from, const int32_t *add, int n,
    const struct plane_factors *f)
{
	const int y = f->y, offset = f->offset + HALF;

	for (int i = 0; i < n; i++)
		to[i] = plane_clamp((from[i] * y + offset + add[i]) >> BITS);
}

/*
 * With b = from_b[i] - 128 and r = from_r[i] - 128:
 *
 *	add[2 i] = add[2 i + 1] = b p + r q
 *	to_b[i] = clamp(128 + (b s + r t) / 2^13)
 *	to_r[i] = clamp(128 + (b u + r v) / 2^13), rounded
 */
void
ISA(plane_chroma_row)(uint8_t *to_b, uint8_t *to_r, const uint8_t *from_b,
    const uint8_t *from_r, int32_t *add, int n, const struct plane_factors *f)
{
	const int p = f->p, q = f->q, s = f->s, t = f->t, u = f->u, v = f->v;

	for (int i = 0; i < n; i++) {
		int b = from_b[i] - 128, r = from_r[i] - 128;

		add[2 * i] = add[2 * i + 1] = b * p + r * q;
		to_b[i] = plane_clamp(128 + ((b * s + r * t + HALF) >> BITS));
		to_r[i] = plane_clamp(128 + ((b * u + r * v + HALF) >> BITS));
	}
}
