/* Change the colors and the shape of a picture, in integers. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "clip/color.h"

#define ONE (1 << 15)			/* factor 1 in fixed point */

static uint8_t
color_clamp(int64_t v)
{
	return v < 0 ? 0 : v > 255 ? 255 : (uint8_t)v;
}

/* gray = 0.2989 R + 0.587 G + 0.114 B, rounded; the weights of torchvision. */
static int
color_gray(const uint8_t *p)
{
	return (19589 * p[0] + 38470 * p[1] + 7471 * p[2] + (1 << 15)) >> 16;
}

/* f a + (1 - f) b. */
static uint8_t
color_blend(int64_t f, int64_t a, int64_t b)
{
	return color_clamp((f * a + (ONE - f) * b + ONE / 2) >> 15);
}

/* ---- blends with another picture: to = f p + (1 - f) other ---- */

/* The other picture is black. */
static void
color_brightness(int64_t f, size_t n, uint8_t *p)
{
	for (size_t i = 0; i < 3 * n; i++)
		p[i] = color_blend(f, p[i], 0);
}

/* The other picture is the grayscale. */
static void
color_saturation(int64_t f, size_t n, uint8_t *p)
{
	for (size_t i = 0; i < n; i++, p += 3) {
		int g = color_gray(p);

		for (int c = 0; c < 3; c++)
			p[c] = color_blend(f, p[c], g);
	}
}

/* The other picture is the mean of the grayscale. */
static void
color_contrast(int64_t f, size_t n, uint8_t *p)
{
	uint64_t sum = 0;
	int64_t mean;

	for (size_t i = 0; i < n; i++)
		sum += (uint64_t)color_gray(p + 3 * i);
	/* Keep the fraction of the mean, in units of 1 / ONE. */
	mean = (int64_t)((sum * ONE + n / 2) / n);
	for (size_t i = 0; i < 3 * n; i++)
		p[i] = color_clamp((f * p[i] + (((ONE - f) * mean) >> 15) +
		    ONE / 2) >> 15);
}

/*
 * Blend with the weighted mean of 3x3 pixels: 5 for the middle, 1 for the
 * others, of 13.  The border stays.
 */
static void
color_sharpness(int64_t f, int side, uint8_t *p, const uint8_t *was)
{
	size_t row = 3 * (size_t)side;

	for (int y = 1; y < side - 1; y++)
		for (size_t i = 3; i < row - 3; i++) {
			const uint8_t *m = was + (size_t)y * row + i;
			int sum = 4 * m[0];

			for (int k = -1; k <= 1; k++) {
				const uint8_t *q = m + k * (ptrdiff_t)row;

				sum += q[-3] + q[0] + q[3];
			}
			p[(size_t)y * row + i] = color_blend(f, m[0],
			    (2 * sum + 13) / 26);
		}
}

/* ---- tables of values ---- */

static void
color_look_up(size_t n, uint8_t *p, uint8_t table[3][256])
{
	for (size_t i = 0; i < n; i++, p += 3)
		for (int c = 0; c < 3; c++)
			p[c] = table[c][p[c]];
}

/* to = 255 (v - low) / (high - low), rounded, for each channel. */
static void
color_autocontrast(size_t n, uint8_t *p)
{
	uint8_t table[3][256];

	for (int c = 0; c < 3; c++) {
		int low = 255, high = 0;

		for (size_t i = 0; i < n; i++) {
			low = p[3 * i + (size_t)c] < low ?
			    p[3 * i + (size_t)c] : low;
			high = p[3 * i + (size_t)c] > high ?
			    p[3 * i + (size_t)c] : high;
		}
		for (int v = 0; v < 256; v++)
			table[c][v] = high == low ? (uint8_t)v : color_clamp(
			    (2 * 255 * (v - low) + high - low) /
			    (2 * (high - low)));
	}
	color_look_up(n, p, table);
}

/*
 * to = (below + step / 2) / step, for each channel, where below is the number
 * of pixels with smaller values, and step is 1/255 of the pixels below the
 * maximum.
 */
static void
color_equalize(size_t n, uint8_t *p)
{
	uint8_t table[3][256];

	for (int c = 0; c < 3; c++) {
		size_t count[256] = { 0 }, below = 0, step;
		int last = 255;

		for (size_t i = 0; i < n; i++)
			count[p[3 * i + (size_t)c]]++;
		while (count[last] == 0)
			last--;
		step = (n - count[last]) / 255;
		for (int v = 0; v < 256; v++) {
			table[c][v] = step == 0 ? (uint8_t)v :
			    color_clamp((int64_t)((below + step / 2) / step));
			below += count[v];
		}
	}
	color_look_up(n, p, table);
}

/*
 * Map all channels by one table.  ${v} is the number of bits, or the threshold.
 */
static void
color_other_values(enum color_op op, double v, size_t n, uint8_t *p)
{
	uint8_t table[3][256];
	int bits = (int)v;

	bits = bits < 0 ? 0 : bits > 8 ? 8 : bits;
	for (int c = 0; c < 3; c++)
		for (int i = 0; i < 256; i++)
			table[c][i] = op == RAND_POSTERIZE ?
			    (uint8_t)(i & ~((1 << (8 - bits)) - 1)) :
			    i >= v ? (uint8_t)(255 - i) : (uint8_t)i;
	color_look_up(n, p, table);
}

/* ---- hue ---- */

/*
 * Rotate the hue of one pixel by ${turn}, in 1 / (6 * 2^16) of a full turn, as
 * in HSV.  The largest value, high, and the smallest, low, do not change.
 * With f the fraction of a sixth of a turn, the middle value becomes
 *
 *	low + (high - low) f in even sixths, high - (high - low) f in odd ones
 */
static void
color_turn_hue(int turn, uint8_t *p)
{
	enum { SIXTH = 1 << 16, ALL = 6 * SIXTH };
	/* R, G and B: the high, the low, and the middle going up or down. */
	static const char order[6][4] = { "hul", "dhl", "lhu", "ldh", "ulh",
		"hld" };
	int high = p[0] > p[1] ? p[0] : p[1], low = p[0] < p[1] ? p[0] : p[1];
	int range, hue, which, up, down;

	high = p[2] > high ? p[2] : high;
	low = p[2] < low ? p[2] : low;
	if ((range = high - low) == 0)
		return;
	if (p[0] == high)
		hue = (p[1] - p[2]) * SIXTH / range;
	else if (p[1] == high)
		hue = 2 * SIXTH + (p[2] - p[0]) * SIXTH / range;
	else
		hue = 4 * SIXTH + (p[0] - p[1]) * SIXTH / range;
	hue = ((hue + turn) % ALL + ALL) % ALL;
	which = hue / SIXTH;
	up = low + (int)(((int64_t)range * (hue % SIXTH) + SIXTH / 2) / SIXTH);
	down = low + high - up;
	for (int c = 0; c < 3; c++)
		p[c] = (uint8_t)(order[which][c] == 'h' ? high :
		    order[which][c] == 'l' ? low : order[which][c] == 'u' ?
		    up : down);
}

/* ---- shape ---- */

/*
 * Output pixel (x, y) is input pixel (a x + b y + c, d x + e y + f), rounded.
 * Coefficients are in 2^-16 pixels.
 */
struct color_affine { int64_t a, b, c, d, e, f; };

static int64_t
color_fixed_point(double v)
{
	return (int64_t)floor(v * 65536 + 0.5);
}

static struct color_affine
color_shape(enum color_op op, double v, int side)
{
	struct color_affine m = { 65536, 0, 0, 0, 65536, 0 };
	double middle = (side - 1) / 2.0, angle = v * (3.14159265358979323846 /
	    180), c = cos(angle), s = sin(angle);

	switch (op) {
	case RAND_SHEAR_X:
		m.b = color_fixed_point(v);
		break;
	case RAND_SHEAR_Y:
		m.d = color_fixed_point(v);
		break;
	case RAND_TRANSLATE_X:
		m.c = color_fixed_point((int)v);
		break;
	case RAND_TRANSLATE_Y:
		m.f = color_fixed_point((int)v);
		break;
	default:
		m = (struct color_affine){ color_fixed_point(c),
		    color_fixed_point(s),
			color_fixed_point(middle - c * middle - s * middle),
			color_fixed_point(-s), color_fixed_point(c),
			color_fixed_point(middle + s * middle - c * middle) };
	}
	return m;
}

/* Take the nearest source pixel; outside is black. */
static void
color_warp(const struct color_affine *m, int side, uint8_t *to,
    const uint8_t *from)
{
	for (int y = 0; y < side; y++)
		for (int x = 0; x < side; x++, to += 3) {
			int64_t u = (m->a * x + m->b * y + m->c + 32768) >> 16;
			int64_t v = (m->d * x + m->e * y + m->f + 32768) >> 16;

			if (u < 0 || v < 0 || u >= side || v >= side)
				memset(to, 0, 3);
			else
				memcpy(to, from + 3 * (v * side + u), 3);
		}
}

/* ---- the choice ---- */

void
color_apply(enum color_op op, double v, int side, uint8_t *picture,
    uint8_t *buffer)
{
	size_t n = (size_t)side * (size_t)side;
	int64_t f = (int64_t)floor(v * ONE + 0.5);
	struct color_affine m;

	switch (op) {
	case RAND_IDENTITY:
		break;
	case RAND_SHEAR_X:
	case RAND_SHEAR_Y:
	case RAND_TRANSLATE_X:
	case RAND_TRANSLATE_Y:
	case RAND_ROTATE:
		memcpy(buffer, picture, 3 * n);
		m = color_shape(op, v, side);
		color_warp(&m, side, picture, buffer);
		break;
	case RAND_BRIGHTNESS:
		color_brightness(f, n, picture);
		break;
	case RAND_COLOR:
		color_saturation(f, n, picture);
		break;
	case RAND_CONTRAST:
		color_contrast(f, n, picture);
		break;
	case RAND_SHARPNESS:
		memcpy(buffer, picture, 3 * n);
		color_sharpness(f, side, picture, buffer);
		break;
	case RAND_POSTERIZE:
	case RAND_SOLARIZE:
		color_other_values(op, v, n, picture);
		break;
	case RAND_AUTOCONTRAST:
		color_autocontrast(n, picture);
		break;
	case RAND_EQUALIZE:
		color_equalize(n, picture);
		break;
	case COLOR_HUE:
		for (size_t i = 0; i < n; i++)
			color_turn_hue((int)floor(v * 6 * 65536 + 0.5),
			    picture + 3 * i);
	}
}
