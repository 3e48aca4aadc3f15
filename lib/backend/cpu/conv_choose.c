/* Convolutions: which algorithm runs which pass, by what was measured. */
#include "backend/cpu/conv.h"
#include "base/isa.h"

/*
 * A direct convolution of ours: kernels of one place, where gradients are added
 * to others without a pass of their own; and what oneDNN lacks, which are data
 * gradients of unequal strides with AVX2 and all that is base.  ResNet-50, 16
 * images of 224, GF/s of two threads, ours and oneDNN's: 256 to 64 channels of
 * 56 x 56 276, 250; 128 to 512 of 28 x 28 303, 308; 2048 to 512 of 7 x 7 251,
 * 244; of stride 2 267, 271; data 243, 196; 298, 267; 280, 258; of stride 2
 * 228, 213.  Where places do not follow one another they are
 * gathered, which costs 15 % of three by three taps, and half of what few
 * channels take: 64 to 128 of stride 2 72, 86; 16 to 32 24, 37.
 */
static int
prefers_direct(const struct task *t)
{
	const struct op *op = t->op;

	int strided = op->s[1] > 1 || op->s[2] > 1;

	if (op->groups > 1 || cpu_is_pixels(&t->in[0]))
		return 0;
	if (isa_best() == ISA_BASE || op->s[1] != op->s[2])
		return 1;
	return op->k[0] * op->k[1] * op->k[2] == 1 && (!strided ||
	    (cpu_lanes() == 16 && t->in[0].c >= 256 && t->out.c >= 256));
}

/*
 * A weight gradient by sums of outer products (outer.h) wherever there is one
 * group of blocked channels: they write it as it lies in the graph and are
 * seldom cut into parts, where oneDNN's has an order of its own.  Gradients of
 * ResNet-50 of 16 images in GF/s of either of two threads, loaded, ours and
 * oneDNN's: 256 to 64 channels of 56 x 56 67, 53; 512 to 128 of 28 x 28 72, 68;
 * 2048 to 512 of 7 x 7 66, 51; 1x1 of stride 2 62, 61 to 58, 46; 3x3 of stride
 * 2 71, 54 to 73, 40; 3x3 of 7 x 7 80, 51.  Pixels have to be gathered first,
 * 89 to 105 for 7x7 kernels, worse for 3x3: ours only where oneDNN has nothing.
 */
static int
prefers_products(const struct task *t)
{
	return t->op->groups == 1 && (!cpu_is_pixels(&t->in[0]) ||
	    isa_best() == ISA_BASE);
}

/*
 * Groups, by loops of ours where the library has plain ones alone, a hundred
 * times slower: weight gradients of small images, and most that is base.
 * Elsewhere its own are: 192 channels of 16 images of 7 x 7 by 3 x 3, forward
 * 0.16 ms and ours 0.27, backward 0.27 and 0.57; over time 0.2 and 0.53, 0.6 and
 * 1.1.
 */
static int
prefers_grouped(const struct task *t, enum conv_pass pass)
{
	struct conv_shape s = conv_shape_of(t);

	return t->op->groups > 1 && !cpu_is_pixels(&t->in[0]) &&
	    !dnnl_conv_has(cpu_of(t)->dnnl, pass, &s);
}

enum conv_by
conv_choose(const struct task *t, enum conv_pass pass)
{
	if (conv_winograd_fits(t, pass))
		return CONV_WINOGRAD;
	if (pass != CONV_WEIGHTS && prefers_direct(t))
		return CONV_DIRECT;
	if (pass == CONV_WEIGHTS && prefers_products(t))
		return CONV_PRODUCTS;
	return prefers_grouped(t, pass) ? CONV_GROUPED : CONV_DNNL;
}
