#ifndef COMM_WIRE_KERNELS_H
#define COMM_WIRE_KERNELS_H

/* The loops of wire.c, compiled once for each instruction set (wire.isa.c). */

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"

/* Each function processes ${n} elements. */
struct wire_kernels {
	void (*sum)(float *sum, const float *x, size_t n);
	void (*bf16_pack)(uint16_t *to, const float *x, size_t n);
	void (*bf16_unpack)(float *x, const uint16_t *from, size_t n);
	void (*bf16_add)(float *sum, const uint16_t *from, size_t n);
	/*
	 * Return the bits of the largest magnitude.  They exceed those of
	 * infinity if there is a NaN.
	 */
	uint32_t (*largest)(const float *x, size_t n);
	/* ${scale}, a power of two, multiplies each element. */
	void (*fp16_pack)(uint16_t *to, const float *x, size_t n, float scale);
	void (*fp16_unpack)(float *x, const uint16_t *from, size_t n,
	    float scale);
	void (*fp16_add)(float *sum, const uint16_t *from, size_t n,
	    float scale);
};

ISA_DECLARE(extern const struct wire_kernels, wire_kernels, );

#endif
