/* How elements travel between ranks. */
#include <string.h>

#include "comm/wire.h"
#include "comm/wire_kernels.h"

#define INF32 0x7f800000u

static const struct wire_kernels *
kernels(void)
{
	return ISA_PICK(&wire_kernels);
}

void
wire_sum(void *arg, void *sum, const void *x, size_t n)
{
	(void)arg;
	kernels()->sum(sum, x, n);
}

size_t
wire_bytes(const struct wire *w, size_t elem, size_t n)
{
	return n == 0 ? 0 : w->head + n * (w->elem > 0 ? w->elem : elem);
}

static void
bf16_pack(void *to, const float *x, size_t n)
{
	kernels()->bf16_pack(to, x, n);
}

static void
bf16_unpack(float *x, const void *from, size_t n)
{
	kernels()->bf16_unpack(x, from, n);
}

static void
bf16_add(float *sum, const void *from, size_t n)
{
	kernels()->bf16_add(sum, from, n);
}

static float
power_of_two(int biased)
{
	uint32_t u = (uint32_t)biased << 23;
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

/*
 * The largest magnitude comes to lie between 2^14 and 2^15.  Exponents are
 * biased by 127; both the scale and its inverse are normal numbers.  Infinity
 * and NaN are themselves at any scale.
 */
static void
fp16_pack(void *to, const float *x, size_t n)
{
	uint32_t most = kernels()->largest(x, n);
	int scale = most >= INF32 ? 127 : 268 - (int)(most >> 23);
	float inverse;

	scale = scale > 253 ? 253 : scale;
	inverse = power_of_two(254 - scale);
	memcpy(to, &inverse, sizeof(inverse));
	kernels()->fp16_pack((uint16_t *)((char *)to + sizeof(inverse)), x, n,
	    power_of_two(scale));
}

static float
scale_of(const void *from)
{
	float scale;

	memcpy(&scale, from, sizeof(scale));
	return scale;
}

static const uint16_t *
after_scale(const void *from)
{
	return (const uint16_t *)((const char *)from + sizeof(float));
}

static void
fp16_unpack(float *x, const void *from, size_t n)
{
	kernels()->fp16_unpack(x, after_scale(from), n, scale_of(from));
}

static void
fp16_add(float *sum, const void *from, size_t n)
{
	kernels()->fp16_add(sum, after_scale(from), n, scale_of(from));
}

const struct wire wires[WIRES] = {
	[WIRE_FP32] = { .name = "fp32" },
	[WIRE_BF16] = { "bf16", 2, 0, bf16_pack, bf16_unpack, bf16_add },
	[WIRE_FP16] = { "fp16", 2, sizeof(float), fp16_pack, fp16_unpack,
	    fp16_add },
};
