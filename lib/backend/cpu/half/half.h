#ifndef BACKEND_CPU_HALF_HALF_H
#define BACKEND_CPU_HALF_HALF_H

/*
 * The cpu back end in bf16: what its files share.
 *
 * Activations of more than one place an image, and their gradients, are bf16
 * and lie as [image][h][w][c]; up to 3 channels as they are, more of them
 * filled up with zeros to a multiple of 16.  (In blocks of channels, as fp32
 * lies, oneDNN 2.6 never reaches AMX: 59 GF/s against 156, ResNet-50, one
 * thread.)  What has one place an image lies in rows of fp32 as it does there
 * (cpu.h): it is small, and at the end of a network, where digits count.
 * Sums, statistics, parameters and their gradients are fp32 or double.
 *
 * An operator that has no loop of its own here is run by the fp32 back end on
 * widened copies (widened.c).
 */

#include "backend/cpu/cpu.h"
#include "backend/cpu/half/kernels.h"

/* Is an activation of this shape bf16? */
static inline int
half_is(const struct dims *d)
{
	return cpu_places(d) > 1;
}

/* Numbers of a place: its channels, filled up. */
static inline int
half_row(const struct dims *d)
{
	return cpu_is_pixels(d) ? d->c : (d->c + 15) / 16 * 16;
}

/* The numbers of one image. */
static inline size_t
half_image(const struct dims *d)
{
	return cpu_places(d) * (size_t)half_row(d);
}

/* Where place ${place} of image ${image} lies. */
static inline bf16 *
half_at(const struct dims *d, const void *x, int image, size_t place)
{
	return (bf16 *)x + (size_t)image * half_image(d) +
	    place * (size_t)half_row(d);
}

static inline const struct half_kernels *
half_k(const struct task *t)
{
	return cpu_of(t)->half;
}

/* half_bytes(d): of an activation, in bf16 or not. */
size_t half_bytes(const struct dims *d);

/* struct backend's read and write. */
void half_read(double *host, const struct dims *d, const void *x);
void half_write(void *x, const struct dims *d, const double *host);

/*
 * half_widen(t, d, planes, x): the activation at ${x} as fp32 has it.
 * half_narrow(t, d, x, planes, more): back again, on top of what is there with
 * ${more}.
 */
void half_widen(struct task *t, const struct dims *d, float *planes,
    const void *x);
void half_narrow(struct task *t, const struct dims *d, void *x,
    const float *planes, int more);

/* Channels of a place that the shift takes from one frame. */
struct half_range { int from, to, by; };

/* half_ranges(shift, row, r): as many as ${r} gets; ${row} channels. */
int half_ranges(const struct task *shift, int row, struct half_range r[8]);

/* The rows for bf16. */
#define OPERATOR(KIND, name, half) extern const struct op_impl half_ ## half;
#include "backend/ops.def"
extern const struct op_impl *const half_ops[OP_KINDS];

#endif
