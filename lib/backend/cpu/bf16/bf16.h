#ifndef BACKEND_CPU_BF16_BF16_H
#define BACKEND_CPU_BF16_BF16_H

/*
 * Declarations that the files of the cpu back end in bf16 share.
 *
 * Activations of more than one position per image, and their gradients, are
 * bf16:
 *
 *	[image][h][w][c]
 *
 * Up to 3 channels are not padded; more are padded with zeros to a multiple of
 * 16.  In blocks of channels, the fp32 layout, oneDNN 2.6 never uses AMX: 59
 * GF/s instead of 156, ResNet-50, one thread.
 *
 * Activations with one position per image are rows of fp32, as in cpu.h.  They
 * are small, and they are at the end of a network, where precision matters.
 * Sums, statistics, parameters and their gradients are fp32 or double.
 *
 * An operator without a loop of its own here runs in fp32 on widened copies
 * (fallback.c).
 */

#include "backend/cpu/cpu.h"
#include "backend/cpu/bf16/kernels.h"

/*
 * bf16_is(d): return 1 if an activation of shape ${d} is bf16, 0 if it is fp32.
 */
static inline int
bf16_is(const struct dims *d)
{
	return cpu_positions(d) > 1;
}

/* bf16_row(d): return the numbers of a position: its channels, padded. */
static inline int
bf16_row(const struct dims *d)
{
	return cpu_is_pixels(d) ? d->c : (d->c + 15) / 16 * 16;
}

/* bf16_image(d): return the numbers of one image. */
static inline size_t
bf16_image(const struct dims *d)
{
	return cpu_positions(d) * (size_t)bf16_row(d);
}

/*
 * bf16_at(d, x, image, place):
 * Return the first channel of position ${place} of image ${image} of ${x}.
 */
static inline bf16 *
bf16_at(const struct dims *d, const void *x, int image, size_t place)
{
	return (bf16 *)x + (size_t)image * bf16_image(d) +
	    place * (size_t)bf16_row(d);
}

/* bf16_k(t): return the bf16 kernels of the device of ${t}. */
static inline const struct bf16_kernels *
bf16_k(const struct task *t)
{
	return cpu_of(t)->half;
}

/*
 * bf16_bytes(d): return the bytes of an activation of shape ${d}, bf16 or fp32.
 */
size_t bf16_bytes(const struct dims *d);

/*
 * bf16_read(host, d, x), bf16_write(x, d, host):
 * The functions read and write of struct layout_ops, for bf16 activations.
 */
void bf16_read(double *host, const struct dims *d, const void *x);
void bf16_write(void *x, const struct dims *d, const double *host);

/*
 * bf16_widen(t, d, planes, x), bf16_narrow(t, d, x, planes, more):
 * Copy the bf16 activation ${x} of shape ${d} into ${planes}, cpu_floats(d)
 * floats in the layout of cpu.h, and back, rounded.  If ${more} is not 0,
 * bf16_narrow adds to ${x}.  They use all threads of the device of ${t}.
 */
void bf16_widen(struct task *t, const struct dims *d, float *planes,
    const void *x);
void bf16_narrow(struct task *t, const struct dims *d, void *x,
    const float *planes, int more);

/* The operators in bf16 (ops.def), and the table of all of them. */
#define OPERATOR(KIND, name, cpu, bf16) \
	extern const struct op_impl bf16_ ## bf16;
#include "backend/ops.def"
extern const struct op_impl *const bf16_ops[OP_KINDS];

#endif
