#ifndef BACKEND_CPU_HALF_HALF_H
#define BACKEND_CPU_HALF_HALF_H

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
 * (widened.c).
 */

#include "backend/cpu/cpu.h"
#include "backend/cpu/half/kernels.h"

/*
 * half_is(d): return 1 if an activation of shape ${d} is bf16, 0 if it is fp32.
 */
static inline int
half_is(const struct dims *d)
{
	return cpu_places(d) > 1;
}

/* half_row(d): return the numbers of a position: its channels, padded. */
static inline int
half_row(const struct dims *d)
{
	return cpu_is_pixels(d) ? d->c : (d->c + 15) / 16 * 16;
}

/* half_image(d): return the numbers of one image. */
static inline size_t
half_image(const struct dims *d)
{
	return cpu_places(d) * (size_t)half_row(d);
}

/*
 * half_at(d, x, image, place):
 * Return the first channel of position ${place} of image ${image} of ${x}.
 */
static inline bf16 *
half_at(const struct dims *d, const void *x, int image, size_t place)
{
	return (bf16 *)x + (size_t)image * half_image(d) +
	    place * (size_t)half_row(d);
}

/* half_k(t): return the bf16 kernels of the device of ${t}. */
static inline const struct half_kernels *
half_k(const struct task *t)
{
	return cpu_of(t)->half;
}

/*
 * half_bytes(d): return the bytes of an activation of shape ${d}, bf16 or fp32.
 */
size_t half_bytes(const struct dims *d);

/*
 * half_read(host, d, x), half_write(x, d, host):
 * The functions read and write of struct layout_ops, in bf16.
 */
void half_read(double *host, const struct dims *d, const void *x);
void half_write(void *x, const struct dims *d, const double *host);

/*
 * half_widen(t, d, planes, x), half_narrow(t, d, x, planes, more):
 * Copy the bf16 activation ${x} of shape ${d} into ${planes}, cpu_floats(d)
 * floats in the layout of cpu.h, and back, rounded.  If ${more} is not 0,
 * half_narrow adds to ${x}.  They use all threads of the device of ${t}.
 */
void half_widen(struct task *t, const struct dims *d, float *planes,
    const void *x);
void half_narrow(struct task *t, const struct dims *d, void *x,
    const float *planes, int more);

/*
 * Channels [from, to), which a shift takes from the frame ${by} frames later.
 */
struct half_range { int from, to, by; };

/*
 * half_ranges(shift, row, r):
 * Split ${row} channels into ranges that ${shift} takes from the same frame.
 * Return their number, at most 8.
 */
int half_ranges(const struct task *shift, int row, struct half_range r[8]);

/* The operators in bf16, half_NAME of ops.def, and the table of all of them. */
#define OPERATOR(KIND, name, half) extern const struct op_impl half_ ## half;
#include "backend/ops.def"
extern const struct op_impl *const half_ops[OP_KINDS];

#endif
