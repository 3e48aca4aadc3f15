/* The element types of stored tensors: names, sizes and conversion to fp32. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "weights/dtype.h"

static const struct { const char *name; size_t bytes; } types[DTYPES + 1] = {
	[DTYPE_U8] = { "U8", 1 }, [DTYPE_F32] = { "F32", 4 },
	[DTYPE_F64] = { "F64", 8 }, [DTYPE_F16] = { "F16", 2 },
	[DTYPE_BF16] = { "BF16", 2 }, [DTYPE_I8] = { "I8", 1 },
	[DTYPE_I16] = { "I16", 2 }, [DTYPE_I32] = { "I32", 4 },
	[DTYPE_I64] = { "I64", 8 }, [DTYPE_BOOL] = { "BOOL", 1 },
	[DTYPE_OTHER] = { "other", 1 },
};

const char *
dtype_name(enum dtype type)
{
	return types[type].name;
}

size_t
dtype_bytes(enum dtype type)
{
	return types[type].bytes;
}

int
dtype_of(const char *name, enum dtype *type)
{
	for (int i = 0; i < DTYPES; i++)
		if (name != NULL && strcmp(name, types[i].name) == 0) {
			*type = (enum dtype)i;
			return 0;
		}
	return -1;
}

const char *
dtype_names(void)
{
	return "U8, F32, F64, F16, BF16, I8, I16, I32, I64 or BOOL";
}

static float
dtype_float_of_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * Convert IEEE 754 half precision.  Every value of it, NaN payloads and
 * subnormal numbers included, is exact in fp32.
 */
static float
dtype_float_of_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = h >> 10 & 31;
	uint32_t fraction = h & 1023;
	float x;

	if (exponent == 31)
		return dtype_float_of_bits(sign | 0x7f800000 | fraction << 13);
	/* Rebias the exponent from 15 to 127. */
	if (exponent > 0)
		return dtype_float_of_bits(sign | (exponent + 112) << 23 |
		    fraction << 13);
	/* A subnormal number is fraction x 2^-24; ldexpf is exact here. */
	x = ldexpf((float)fraction, -24);
	return sign != 0 ? -x : x;
}

static float
dtype_float_of_double(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return (float)x;
}

static float
dtype_value(enum dtype type, const unsigned char *p)
{
	switch (type) {
	case DTYPE_F32:
		return dtype_float_of_bits(get32(p));
	case DTYPE_F64:
		return dtype_float_of_double(get64(p));
	case DTYPE_F16:
		return dtype_float_of_half(get16(p));
	case DTYPE_BF16:
		return dtype_float_of_bits((uint32_t)get16(p) << 16);
	case DTYPE_I8:
		return (float)(int8_t)*p;
	case DTYPE_I16:
		return (float)(int16_t)get16(p);
	case DTYPE_I32:
		return (float)(int32_t)get32(p);
	case DTYPE_I64:
		return (float)(int64_t)get64(p);
	case DTYPE_BOOL:
		return *p != 0;
	default:
		return (float)*p;
	}
}

void
dtype_floats(enum dtype type, const void *from, ptrdiff_t step, size_t n,
    float *to)
{
	const unsigned char *p = from;

	for (size_t i = 0; i < n; i++)
		to[i] = dtype_value(type, p + (ptrdiff_t)i * step);
}
