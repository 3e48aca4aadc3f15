/* The table of kernels of the device, cuda_kernels. */
#include "backend/cuda/kernels.h"

#define KERNEL(NAME, name, threads, args) \
	extern const void *const code_ ## name[GPU_TYPES];
KERNELS(KERNEL, KERNEL)
#undef KERNEL

const struct kernel cuda_kernels[GPU_KERNELS] = {
#define KERNEL(NAME, name, threads, args) \
	[GPU_ ## NAME] = { #name, threads, sizeof(struct args), code_ ## name },
	KERNELS(KERNEL, KERNEL)
#undef KERNEL
};
