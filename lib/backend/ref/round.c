/* Rounding to 16-bit formats, by arithmetic. */
#include <math.h>

#include "backend/ref/round.h"

/*
 * digits: bits of the mantissa, including the implicit one; least: smallest
 * exponent of a normal number; most: largest number.
 */
static const struct { int digits, least; double max; } formats[] = {
	[PRECISION_BF16] = { 8, -126, 0x1.fep127 },
	[PRECISION_FP16] = { 11, -14, 0x1.ffcp15 },
};

double
round_to(double v, enum precision p)
{
	int e;
	double unit;

	if (p == PRECISION_FP32 || v == 0 || !isfinite(v))
		return v;
	frexp(v, &e);			/* 2^(e - 1) <= |v| < 2^e */
	if (--e < formats[p].least)
		e = formats[p].least;
	unit = ldexp(1, e - formats[p].digits + 1);
	v = rint(v / unit) * unit;
	return fabs(v) > formats[p].max ? copysign(INFINITY, v) : v;
}
