#ifndef BACKEND_CUDA_KERNELS_H
#define BACKEND_CUDA_KERNELS_H

/*
 * All kernels, once: KERNEL(NAME, name, threads, args) is enum gpu_kernel's
 * GPU_NAME, whose bodies are name_f32, name_bf16 and name_f16, of blocks of
 * ${threads} threads, and are given a struct args.  FLOATS(...) is one that is
 * the same for every type of what is stored: its body is name_f32.
 *
 * A file of bodies has a list here, from which NAME.cu compiles them for the
 * device (device.h).
 */

#include "backend/cuda/args.h"
#include "backend/cuda/driver.h"

#define POINTWISE_KERNELS(KERNEL) \
	KERNEL(RELU, relu, 256, curve)

#define KERNELS(KERNEL, FLOATS) \
	POINTWISE_KERNELS(KERNEL)

#define KERNEL_ENUM(NAME, name, threads, args)	GPU_ ## NAME,
enum gpu_kernel { KERNELS(KERNEL_ENUM, KERNEL_ENUM) GPU_KERNELS };
#undef KERNEL_ENUM

/* What runtime.c launches: kernels.c. */
struct kernel {
	const char *name;
	int threads;
	size_t bytes;			/* of its arguments */
	const void *const *code;	/* [GPU_TYPES] for cudaLaunchKernel */
};
extern const struct kernel cuda_kernels[GPU_KERNELS];

#endif
