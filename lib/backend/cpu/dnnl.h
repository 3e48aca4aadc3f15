#ifndef BACKEND_CPU_DNNL_H
#define BACKEND_CPU_DNNL_H

/*
 * Convolutions through the C API of oneDNN, 2.x or 3.x.  Only dnnl*.c know the
 * library.  A convolution here is one pass over h and w of some images, run by
 * the calling thread alone.  To use several threads, give each of them some of
 * the images or some of the channels.
 *
 * Activations in fp32 lie in blocks of cpu_lanes() channels, [image][c /
 * lanes][h][w][lanes], the last padded with zeros, for any number of channels.
 * The input may be pixels instead, [image][c][h][w].  bf16 is [image][h][w][c],
 * because oneDNN uses AMX in this layout only.
 *
 * Weights and their gradients have two orders.  The outer order is that of the
 * graph, in fp32.  The inner order is that of the pass, chosen by oneDNN.
 */

#include <stddef.h>

struct dnnl_shape {
	int in, out, groups;
	int in_h, in_w, out_h, out_w;
	int k[2], s[2], p[2];		/* h, w */
	int bias;
	int pixels;			/* the input in fp32 is pixels */
	int bf16;			/* activations and inner weights are
					 * bf16 */
	/*
	 * Distance of successive output channels, and of successive input
	 * channels, in floats, in the outer order.
	 * The k[0] * k[1] weights of a pair of channels are contiguous.
	 */
	int out_step, in_step;
};

enum conv_kind { CONV_FORWARD, CONV_WEIGHTS, CONV_DATA, CONV_PASSES };

struct dnnl;
struct dnnl_conv;

/*
 * dnnl_open(threads), dnnl_close(d):
 * Open oneDNN for up to ${threads} threads that run passes at the same time,
 * and close it.  dnnl_open limits the whole process to the instruction set of
 * isa_best(), and returns NULL after a message.  dnnl_close(NULL) does nothing.
 */
struct dnnl *dnnl_open(int threads);
void dnnl_close(struct dnnl *d);

/* dnnl_library(): return "oneDNN 2.6.3", the version of this library. */
const char *dnnl_library(void);

/*
 * dnnl_bf16_text(), dnnl_has_amx():
 * Return how this processor multiplies bf16: "bf16 by AMX", "bf16 by
 * avx512_bf16" or "bf16 by fp32".  Sums of the three differ in their last bits.
 * dnnl_has_amx returns 1 if oneDNN may use AMX; our own kernels then use it
 * too.
 */
const char *dnnl_bf16_text(void);
int dnnl_has_amx(void);

/*
 * dnnl_conv_new(d, name, pass, s), dnnl_conv_free(c):
 * Describe pass ${pass} of the convolution ${s}; messages name it ${name}.
 * dnnl_conv_new does not fail: dnnl_conv_call reports a pass that oneDNN cannot
 * run.  The caller frees ${c}, before ${d}.
 */
struct dnnl_conv *dnnl_conv_new(struct dnnl *d, const char *name,
    enum conv_kind pass, const struct dnnl_shape *s);
void dnnl_conv_free(struct dnnl_conv *c);

/*
 * A call: some images, or a window of the rows of one image.  If ${more} is not
 * 0, add to the output instead of writing it; this is for CONV_FORWARD only and
 * adds no bias.  ${top} rows of padding precede the input rows.  The rows of
 * padding below follow from the shape.
 */
struct conv_call { int images, more, in_h, out_h, top; };

/*
 * dnnl_conv_has(d, pass, s, call, n):
 * Return 1 if oneDNN runs the ${n} calls by one implementation that is not its
 * reference loops, with one order of the weights.
 */
int dnnl_conv_has(struct dnnl *d, enum conv_kind pass,
    const struct dnnl_shape *s, const struct conv_call *call, int n);

/*
 * dnnl_conv_call(c, call):
 * Create ${call} and return its number for dnnl_conv_run.  Equal calls have
 * equal numbers.  Return -1 after a message on failure.  dnnl_conv_has says
 * which calls oneDNN runs by more than its reference loops, which are a
 * thousand times too slow.  Not for several threads at once.
 */
int dnnl_conv_call(struct dnnl_conv *c, const struct conv_call *call);

/* The facts of a pass, which follow from its calls. */
struct dnnl_made {
	size_t weights;			/* bytes, in the inner order */
	size_t scratch;			/* bytes of a thread */
	int slices;			/* of the weights, dnnl_conv_reorder */
	const char *name;		/* oneDNN's implementation */
};

/*
 * dnnl_conv_made(c):
 * Return the facts of ${c}.  Create all calls first.  The name is valid as long
 * as ${c}.
 */
struct dnnl_made dnnl_conv_made(const struct dnnl_conv *c);

/* dnnl_conv_same_order(a, b): return 1 if their inner orders are equal. */
int dnnl_conv_same_order(const struct dnnl_conv *a, const struct dnnl_conv *b);

/*
 * dnnl_conv_reorder(c, thread, slice, outer, inner):
 * Copy slice ${slice} of the weights from ${outer} to ${inner}.  For
 * CONV_WEIGHTS, copy the gradient from ${inner} to ${outer}.  Slices do not
 * overlap, so threads may each copy one; ${thread} is the number of the caller.
 * A failure of oneDNN ends the program.
 */
void dnnl_conv_reorder(struct dnnl_conv *c, int thread, int slice, float *outer,
    void *inner);

/*
 * dnnl_conv_run(c, thread, call, at):
 * Run call number ${call}.  ${at} is x, w, y, bias and scratch: the input or
 * its gradient, the weights in the inner order, and the output or its gradient:
 *
 *	CONV_FORWARD	reads x, w and the bias, writes y
 *	CONV_WEIGHTS	reads x and y, writes w
 *	CONV_DATA	reads w and y, writes x
 *
 * The bias has one float per output channel, or is NULL if there is none.
 * ${thread} is the number of the caller; no two threads may use the same number
 * at once.  The scratch has dnnl_conv_scratch(c) bytes for this thread alone.
 * The bits of an image do not depend on the other images of the call.  A
 * failure of oneDNN ends the program.
 */
void dnnl_conv_run(struct dnnl_conv *c, int thread, int call,
    void *const at[5]);

/*
 * dnnl_multiply(ta, tb, m, n, k, a, lda, b, ldb, c, ldc):
 * Compute the GEMM C = A B in fp32 on the calling thread, where A is
 * [${m}][${k}], B is [${k}][${n}] and C is [${m}][${n}], all row-major.  If
 * ${ta} is not 0, ${a} holds the transpose of A, and likewise ${tb} and ${b}.
 * ${lda}, ${ldb} and ${ldc} are the floats from one stored row to the next.
 * oneDNN's dnnl_sgemm does the work.  The order of the sum over k does not
 * depend on ${m}.  A failure of oneDNN ends the program.
 */
void dnnl_multiply(int ta, int tb, size_t m, size_t n, size_t k,
    const float *a, size_t lda, const float *b, size_t ldb, float *c,
    size_t ldc);

#endif
