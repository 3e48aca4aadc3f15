#ifndef TESTS_GPU_NUMBER_H
#define TESTS_GPU_NUMBER_H

/*
 * Conversion of 16-bit numbers by their bits.  The kernels' own code is not
 * used, so that an error in it is detected.
 */

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/cuda/driver.h"

static inline size_t
type_bytes(enum gpu_type t)
{
	return t == GPU_F32 ? 4 : 2;
}

static inline float
from_f16(uint16_t h)
{
	int e = h >> 10 & 31, m = h & 1023;
	float v = e == 31 ? (m != 0 ? NAN : INFINITY) :
	    e == 0 ? ldexpf((float)m, -24) : ldexpf((float)(m | 1024), e - 25);

	return h >> 15 ? -v : v;
}

static inline uint16_t
to_f16(float v)
{
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	float a = fabsf(v), unit;
	int e;

	if (isnan(v))
		return 0x7fff;
	if (a >= 65520)
		return sign | 0x7c00;
	frexpf(a, &e);
	e = e - 1 < -14 || a == 0 ? -14 : e - 1;
	/* Round to nearest even.  Bit 1024 is the implicit bit of the mantissa
	 * and adds one to the exponent; a carry to 2048 adds one more. */
	unit = rintf(ldexpf(a, 10 - e));
	return (uint16_t)(sign | ((int)unit + (e + 14) * 1024));
}

static inline float
from_bf16(uint16_t h)
{
	uint32_t bits = (uint32_t)h << 16;
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline uint16_t
to_bf16(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	if (isnan(v))
		return 0x7fff;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float
number_get(const void *p, size_t i, enum gpu_type t)
{
	return t == GPU_F32 ? ((const float *)p)[i] : t == GPU_BF16 ?
	    from_bf16(((const uint16_t *)p)[i]) :
	    from_f16(((const uint16_t *)p)[i]);
}

static inline void
number_put(void *p, size_t i, enum gpu_type t, float v)
{
	if (t == GPU_F32)
		((float *)p)[i] = v;
	else
		((uint16_t *)p)[i] = t == GPU_BF16 ? to_bf16(v) : to_f16(v);
}

#endif
