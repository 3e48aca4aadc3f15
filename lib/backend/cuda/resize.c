/* Resize clips on the device to the input size of a network. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/kernels.h"

/*
 * Resize up to RESIZE_CLIPS of the clips, since a kernel has offsets for that
 * many.  Return their number.
 */
static int
cuda_resize_some(struct cuda *c, uint8_t *to, const uint8_t *from,
    const size_t *at, int n, int t, int side)
{
	int count = n < RESIZE_CLIPS ? n : RESIZE_CLIPS;
	size_t pixels = (size_t)side * (size_t)side;
	struct resize a = { .from = from + at[0], .to = to, .t = (unsigned)t,
		.side = (unsigned)side, .pieces = cuda_pieces(pixels, THREADS) };
	struct launch k = CUDA_KERNEL(c, GPU_RESIZE, (unsigned)count *
	    (unsigned)t * a.pieces, 1, a);

	for (int i = 0; i < count; i++)
		a.at[i] = at[i] - at[0];
	cuda_reads(&k, a.from, at[count] - at[0]);
	cuda_writes(&k, to, (size_t)count * (size_t)t * 3 * pixels);
	cuda_launch(c, &k);
	return count;
}

void
cuda_resize(struct device *d, uint8_t *to, const uint8_t *from,
    const size_t *at, int n, int t, int side)
{
	size_t size = 3 * (size_t)side * (size_t)side * (size_t)t;

	for (int i = 0; i < n; )
		i += cuda_resize_some((struct cuda *)d, to + (size_t)i * size,
		    from, at + i, n - i, t, side);
}
