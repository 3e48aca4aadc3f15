#ifndef BACKEND_CPU_DNNL_H
#define BACKEND_CPU_DNNL_H

/*
 * Convolutions through oneDNN's C API, 2.x and 3.x; dnnl*.c are the only
 * files that know the library.  A convolution here is one pass over h and w
 * of some images, run by the calling thread alone: who wants several threads
 * gives each some of the images, or some of the channels.
 *
 * Layouts in fp32: pixels (cpu_is_pixels) lie as [image][c][h][w]; the rest in
 * blocks of cpu_lanes() channels, [image][c / lanes][h][w][lanes], the last
 * block filled up with zeros.  In bf16 everything is [image][h][w][c]: the
 * library reaches AMX in that order alone.  Weights and their gradients are
 * fp32 outside, and lie as they do in the graph; inside each pass has an order
 * of its own.
 */

#include <stddef.h>

struct conv_shape {
	int in, out, groups;
	int in_h, in_w, out_h, out_w;
	int k[2], s[2], p[2];		/* h, w */
	int bias;
	int bf16;			/* activations and weights inside */
	/* How far it is from one output or input channel to the next in the
	 * outer order, in numbers; k[0] k[1] of a tap and a channel follow
	 * one another. */
	int out_step, in_step;
};

enum conv_pass { CONV_FORWARD, CONV_WEIGHTS, CONV_DATA, CONV_PASSES };

struct dnnl;
struct dnnl_conv;

/* dnnl_open(threads): the library for as many; NULL after a message. */
struct dnnl *dnnl_open(int threads);
void dnnl_close(struct dnnl *d);
const char *dnnl_version_text(void);	/* "2.6.3" */
const char *dnnl_library(void);		/* "oneDNN 2.6.3" */

/* dnnl_bf16_text(): what multiplies bf16 here, whose sums are its own: "bf16 by
 * AMX", "bf16 by avx512_bf16", or "bf16 by fp32" where nothing does.  AMX is
 * for us to use where the library may. */
const char *dnnl_bf16_text(void);
int dnnl_has_amx(void);

/*
 * dnnl_conv_new(d, name, pass, s):
 * One pass of the convolution ${s} that as many threads as ${d} has may run at
 * once.  NULL after a message naming ${name}; an implementation a thousand
 * times too slow is refused.
 */
struct dnnl_conv *dnnl_conv_new(struct dnnl *d, const char *name,
    enum conv_pass pass, const struct conv_shape *s);
void dnnl_conv_free(struct dnnl_conv *c);

/* dnnl_conv_has(d, pass, s): the library has more for it than plain loops. */
int dnnl_conv_has(struct dnnl *d, enum conv_pass pass,
    const struct conv_shape *s);

/*
 * A call: some images, or a window of the rows of one.  ${more}: it adds to the
 * output rather than writes it, CONV_FORWARD only, without bias.  ${top} rows
 * of padding are above the first of the input's; those below follow.
 */
struct conv_call { int images, more, in_h, out_h, top; };

/*
 * dnnl_conv_call(c, call):
 * Make ready for ${call}.  A number for dnnl_conv_run, the same for the same
 * call; -1 after a message.
 */
int dnnl_conv_call(struct dnnl_conv *c, const struct conv_call *call);

/* With all calls ready: bytes of the weights inside, scratch of a thread. */
size_t dnnl_conv_weights(const struct dnnl_conv *c);
size_t dnnl_conv_scratch(const struct dnnl_conv *c);
const char *dnnl_conv_name(const struct dnnl_conv *c);

/* dnnl_conv_same_order(a, b): their weights lie the same way inside. */
int dnnl_conv_same_order(const struct dnnl_conv *a, const struct dnnl_conv *b);

/*
 * dnnl_conv_order(c, thread, slice, outer, inner):
 * Slice ${slice} of dnnl_conv_slices() of the weights from the outer order
 * into the inner one; of a gradient, CONV_WEIGHTS, the other way.  Slices lie
 * apart: threads may do one each.
 */
int dnnl_conv_slices(const struct dnnl_conv *c);
void dnnl_conv_order(struct dnnl_conv *c, int thread, int slice, float *outer,
    void *inner);

/*
 * dnnl_conv_run(c, thread, call, x, w, b, y, scratch):
 * The pass over the images at ${x} (input or its gradient) and ${y} (output or
 * its gradient), with weights ${w} in the inner order.  ${b}: the bias, for
 * CONV_FORWARD; NULL without.  What the pass computes is written, the rest
 * read.  The bits of an image do not depend on the others of its call.
 */
void dnnl_conv_run(struct dnnl_conv *c, int thread, int call, void *x,
    void *w, void *b, void *y, void *scratch);

#endif
