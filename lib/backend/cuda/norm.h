#ifndef BACKEND_CUDA_NORM_H
#define BACKEND_CUDA_NORM_H

/*
 * Batch normalisation, and the operators that are fused with it: the addition of
 * a shortcut, and the relu.
 */

#include "backend/cuda/cuda.h"

/* What one task does; its task->priv, where it is more than a bn. */
struct norm {
	const struct task *bn;
	const struct task *add, *relu;	/* NULL: none */
	const struct task *tail;	/* the last of them, which is run */
	int res;			/* the input of add that is not bn */
	int masks;			/* where the relu was open is saved */
};

/* cuda_fuse: struct backend's. */
void cuda_fuse(struct device *d, struct task *task, int n);

#endif
