/* The table of the back end's kernels on the host, compiled from the bodies
 * that the GPU runs. */
#include <string.h>

#include "backend/cuda/bodies.h"
#include "own.h"

/* Each body takes its own structure of arguments. */
#define RUN(name, type, args) \
static void \
run_ ## name ## _ ## type(const void *a, struct block b) \
{ \
	name ## _ ## type((const struct args *)a, b); \
}
#define ALL(NAME, name, threads, args) \
RUN(name, f32, args) RUN(name, bf16, args) RUN(name, f16, args)
#define ONE(NAME, name, threads, args)	RUN(name, f32, args)

KERNELS(ALL, ONE)
#undef ALL
#undef ONE

#define ALL(NAME, name, threads, args) \
	[GPU_ ## NAME] = { #name, threads, sizeof(struct args), \
	    { run_ ## name ## _f32, run_ ## name ## _bf16, \
	    run_ ## name ## _f16 } },
#define ONE(NAME, name, threads, args) \
	[GPU_ ## NAME] = { #name, threads, sizeof(struct args), \
	    { run_ ## name ## _f32, run_ ## name ## _f32, \
	    run_ ## name ## _f32 } },

const struct standin_kernel standin_kernels[GPU_KERNELS] = {
	KERNELS(ALL, ONE)
};
const int standin_kernels_n = GPU_KERNELS;

int
standin_kernel(const char *name)
{
	for (int i = 0; i < GPU_KERNELS; i++)
		if (strcmp(standin_kernels[i].name, name) == 0)
			return i;
	return -1;
}

void
standin_use_kernels(struct driver *d, const struct standin_kernel *kernel, int n)
{
	struct standin *s = (struct standin *)d;

	s->o.kernel = kernel;
	s->o.kernels = n;
}
