/*
 * Copies of flat float buffers and of activations to and from doubles on the
 * host, for tests and tables; and sums of gradients.
 */
#include <stdlib.h>

#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"
#include "backend/cuda/stored.h"
#include "base/fail.h"
#include "base/mem.h"

enum { PIECE = 1 << 16 };		/* elements per copy */

/* ---- doubles on the host ---- */

/* Convert ${n} doubles at ${host} to ${type} at ${to}. */
static void
cuda_parameters_narrow(enum gpu_type type, void *to, const double *host,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (type == GPU_F32)
			((float *)to)[i] = (float)host[i];
		else if (type == GPU_BF16)
			((uint16_t *)to)[i] = narrow_bf16((float)host[i]);
		else
			((uint16_t *)to)[i] = narrow_f16((float)host[i]);
}

/* Convert ${n} elements of ${type} to doubles. */
static void
cuda_parameters_widen(enum gpu_type type, double *host, const void *from,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (type == GPU_F32)
			host[i] = ((const float *)from)[i];
		else if (type == GPU_BF16)
			host[i] = widen_bf16(((const uint16_t *)from)[i]);
		else
			host[i] = widen_f16(((const uint16_t *)from)[i]);
}

static void
cuda_parameters_send_numbers(struct cuda *c, enum gpu_type type, void *to,
    const double *host, size_t n)
{
	/* Convert in pieces, so that large buffers need little host memory. */
	void *buffer = xmalloc(PIECE * sizeof(float));

	for (size_t i = 0; i < n; i += PIECE) {
		size_t now = n - i < PIECE ? n - i : PIECE;

		cuda_parameters_narrow(type, buffer, host + i, now);
		cuda_send(c, (char *)to + i * cuda_size(type), buffer,
		    now * cuda_size(type));
	}
	free(buffer);
}

static void
cuda_parameters_receive_numbers(struct cuda *c, enum gpu_type type,
    double *host, const void *from, size_t n)
{
	void *buffer = xmalloc(PIECE * sizeof(float));

	for (size_t i = 0; i < n; i += PIECE) {
		size_t now = n - i < PIECE ? n - i : PIECE;

		cuda_receive(c, buffer,
		    (const char *)from + i * cuda_size(type),
		    now * cuda_size(type));
		cuda_parameters_widen(type, host + i, buffer, now);
	}
	free(buffer);
}

void
cuda_put(struct device *d, void *w, const double *host, size_t n)
{
	cuda_parameters_send_numbers((struct cuda *)d, GPU_F32, w, host, n);
}

void
cuda_get(struct device *d, double *host, const void *w, size_t n)
{
	cuda_parameters_receive_numbers((struct cuda *)d, GPU_F32, host, w, n);
}

static void
cuda_read(struct device *d, double *host, const struct dims *shape,
    const void *activation)
{
	struct cuda *c = (struct cuda *)d;
	size_t to = (size_t)shape->c, from = (size_t)cuda_padded(shape->c);
	double *all = xcalloc(cuda_count(shape), sizeof(*all));

	cuda_parameters_receive_numbers(c, c->type, all, activation,
	    cuda_count(shape));
	for (size_t i = 0; i < dims_count(shape); i++)
		host[i] = all[i / to * from + i % to];
	free(all);
}

static void
cuda_write(struct device *d, void *activation, const struct dims *shape,
    const double *host)
{
	struct cuda *c = (struct cuda *)d;
	size_t from = (size_t)shape->c, to = (size_t)cuda_padded(shape->c);
	double *all = xcalloc(cuda_count(shape), sizeof(*all));

	for (size_t i = 0; i < dims_count(shape); i++)
		all[i / from * to + i % from] = host[i];
	cuda_parameters_send_numbers(c, c->type, activation, all,
	    cuda_count(shape));
	free(all);
}

/* ---- sums ---- */

void
cuda_accumulate(struct device *d, void *sum, const void *x, size_t n)
{
	struct cuda *c = (struct cuda *)d;
	const struct floats_add a = { sum, x, n };
	struct launch k = CUDA_KERNEL(c, GPU_FLOATS_ADD, cuda_pieces(n,
	    (size_t)THREADS * FLAT), 1, a);

	cuda_reads(&k, x, n * sizeof(float));
	cuda_touches(&k, sum, n * sizeof(float), 1);
	cuda_launch(c, &k);
}

static size_t
cuda_device_bytes_of(const struct device *d, const struct dims *shape)
{
	return cuda_bytes((const struct cuda *)d, shape);
}

const struct layout_ops cuda_layout = {
	.bytes = cuda_device_bytes_of, .read = cuda_read, .write = cuda_write,
};
