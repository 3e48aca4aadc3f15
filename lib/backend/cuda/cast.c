/*
 * Device all-reduces (train/reduce/): conversion of gradients to 16 bits and
 * back, and the sum of statistics of several ranks.
 */
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

void
cuda_cast(struct cuda *c, int kernel, enum gpu_type type, struct cast a)
{
	size_t wide = a.n * sizeof(float), narrow = a.n * cuda_size(type);
	struct launch k = CUDA_KERNEL(c, kernel,
	    cuda_pieces(a.n, (size_t)THREADS * FLAT), 1, a);

	k.type = type;
	cuda_reads(&k, a.from, kernel == GPU_NARROW ? wide : narrow);
	cuda_writes(&k, a.to, kernel == GPU_NARROW ? narrow : wide);
	cuda_launch(c, &k);
}

static enum gpu_type
cuda_half_of(enum precision as)
{
	return as == PRECISION_BF16 ? GPU_BF16 : GPU_F16;
}

void
cuda_narrow(struct device *d, void *to, const void *x, size_t n,
    enum precision as, double scale)
{
	cuda_cast((struct cuda *)d, GPU_NARROW, cuda_half_of(as),
	    (struct cast){ x, to, n, (float)scale });
}

void
cuda_widen(struct device *d, void *x, const void *from, size_t n,
    enum precision as, double scale)
{
	cuda_cast((struct cuda *)d, GPU_WIDEN, cuda_half_of(as),
	    (struct cast){ from, x, n, (float)scale });
}

void
cuda_sum_rows(struct device *d, double *sum, const double *row, int rows,
    size_t n)
{
	struct cuda *c = (struct cuda *)d;
	struct sum_rows a = { sum, row, rows, n };
	struct launch k = CUDA_KERNEL(c, GPU_SUM_ROWS, cuda_pieces(n, THREADS),
	    1, a);

	cuda_reads(&k, row, (size_t)rows * n * sizeof(*row));
	cuda_writes(&k, sum, n * sizeof(*sum));
	cuda_launch(c, &k);
}
