#ifndef BACKEND_CUDA_DEVICE_H
#define BACKEND_CUDA_DEVICE_H

/*
 * Entry points for NAME_body.cu, and the headers and loads that bodies use.
 * NAME_KERNELS(DEVICE_KERNEL) defines a __global__ function for each kernel and
 * type, and the array code_name of the three functions, which kernels.c refers
 * to.  DEVICE_FLOATS does the same for kernels with one body for all types.
 */

#include "backend/cuda/kernels.h"
#include "backend/cuda/stored.h"
#include "backend/cuda/walk.h"

#define BODIES "backend/cuda/flat_body.h"
#include "backend/cuda/each_type.h"

/* A file may define this before including the header, to require more than one
 * block per multiprocessor. */
#ifndef LAUNCH_BOUNDS
#define LAUNCH_BOUNDS(count)	__launch_bounds__(count)
#endif

#define DEVICE_BODY(name, type, count, args) \
static __global__ void LAUNCH_BOUNDS(count) \
run_ ## name ## _ ## type(const __grid_constant__ struct args a) \
{ \
	struct block b; \
\
	b.x = blockIdx.x; \
	b.y = blockIdx.y; \
	b.nx = gridDim.x; \
	b.ny = gridDim.y; \
	b.threads = count; \
	b.backwards = 0; \
	name ## _ ## type(&a, b); \
}

#define DEVICE_KERNEL(NAME, name, count, args) \
DEVICE_BODY(name, f32, count, args) \
DEVICE_BODY(name, bf16, count, args) \
DEVICE_BODY(name, f16, count, args) \
extern "C" { \
extern const void *const code_ ## name[GPU_TYPES]; \
const void *const code_ ## name[GPU_TYPES] = { \
	(const void *)run_ ## name ## _f32, \
	(const void *)run_ ## name ## _bf16, \
	(const void *)run_ ## name ## _f16 }; \
}

#define DEVICE_FLOATS(NAME, name, count, args) \
DEVICE_BODY(name, f32, count, args) \
extern "C" { \
extern const void *const code_ ## name[GPU_TYPES]; \
const void *const code_ ## name[GPU_TYPES] = { \
	(const void *)run_ ## name ## _f32, \
	(const void *)run_ ## name ## _f32, \
	(const void *)run_ ## name ## _f32 }; \
}

#endif
