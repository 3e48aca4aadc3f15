/* Communication dtypes: the headers of messages, and the choice of kernels. */
#include <string.h>

#include "comm/wire.h"
#include "comm/wire_kernels.h"

#define INF32 0x7f800000u

static const struct wire_kernels *
wire_pick_kernels(void)
{
	return ISA_PICK(&wire_kernels);
}

void
wire_sum(void *arg, void *sum, const void *x, size_t n)
{
	(void)arg;
	wire_pick_kernels()->sum(sum, x, n);
}

size_t
wire_bytes(const struct wire *w, size_t elem, size_t n)
{
	return n == 0 ? 0 : w->head + n * (w->elem > 0 ? w->elem : elem);
}

static void
wire_bf16_pack(void *to, const float *x, size_t n)
{
	wire_pick_kernels()->bf16_pack(to, x, n);
}

static void
wire_bf16_unpack(float *x, const void *from, size_t n)
{
	wire_pick_kernels()->bf16_unpack(x, from, n);
}

static void
wire_bf16_add(float *sum, const void *from, size_t n)
{
	wire_pick_kernels()->bf16_add(sum, from, n);
}

/* Return 2^(${biased} - 127). */
static float
wire_power_of_two(int biased)
{
	uint32_t u = (uint32_t)biased << 23;
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

/*
 * scale = 2^(14 - floor(log2(max |x|)))
 * message = 1 / scale, then fp16(scale * x[i]) for each i
 *
 * So the largest magnitude lies between 2^14 and 2^15.  Exponents are biased by
 * 127; both the scale and its inverse are normal numbers.  Infinity and NaN do
 * not change at any scale, so a message that contains them uses 1.
 */
static void
wire_fp16_pack(void *to, const float *x, size_t n)
{
	uint32_t largest = wire_pick_kernels()->largest(x, n);
	int scale = largest >= INF32 ? 127 : 268 - (int)(largest >> 23);
	float inverse;

	scale = scale > 253 ? 253 : scale;
	inverse = wire_power_of_two(254 - scale);
	memcpy(to, &inverse, sizeof(inverse));
	wire_pick_kernels()->fp16_pack((uint16_t *)((char *)to +
	    sizeof(inverse)), x, n, wire_power_of_two(scale));
}

static float
wire_scale_of(const void *from)
{
	float scale;

	memcpy(&scale, from, sizeof(scale));
	return scale;
}

static const uint16_t *
wire_after_scale(const void *from)
{
	return (const uint16_t *)((const char *)from + sizeof(float));
}

static void
wire_fp16_unpack(float *x, const void *from, size_t n)
{
	wire_pick_kernels()->fp16_unpack(x, wire_after_scale(from), n,
	    wire_scale_of(from));
}

static void
wire_fp16_add(float *sum, const void *from, size_t n)
{
	wire_pick_kernels()->fp16_add(sum, wire_after_scale(from), n,
	    wire_scale_of(from));
}

const struct wire wires[WIRES] = {
	[WIRE_FP32] = { .name = "fp32" },
	[WIRE_BF16] = { "bf16", 2, 0, wire_bf16_pack, wire_bf16_unpack,
	wire_bf16_add }, [WIRE_FP16] = { "fp16", 2, sizeof(float),
	wire_fp16_pack, wire_fp16_unpack,
	    wire_fp16_add },
};
