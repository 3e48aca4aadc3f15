#ifndef BACKEND_CPU_DNNL_H
#define BACKEND_CPU_DNNL_H

/*
 * Convolutions through oneDNN's C API, 2.x and 3.x; dnnl.c is the only file
 * that knows the library.  A convolution here is one of a fixed number of
 * images over h and w, run by the calling thread alone: who wants several
 * threads gives each some of the images.
 *
 * Layouts: up to 3 channels lie as [image][c][h][w]; more lie in blocks of
 * cpu_lanes() channels, [image][c / lanes][h][w][lanes], the last block
 * filled up with zeros.  Weights are [out][in / groups][h][w] outside; inside
 * each direction has its own order, made by dnnl_conv_reorder.
 */

#include <stddef.h>

struct conv_shape {
	int images, in, out, groups;
	int in_h, in_w, out_h, out_w;
	int k[2], s[2], p[2];		/* h, w */
	int bias;
};

enum conv_pass { CONV_FORWARD, CONV_WEIGHTS, CONV_DATA, CONV_PASSES };

struct dnnl;
struct dnnl_conv;

/* dnnl_open(threads): the library for as many; NULL after a message. */
struct dnnl *dnnl_open(int threads);
void dnnl_close(struct dnnl *d);
const char *dnnl_version_text(void);	/* "2.6.3" */
const char *dnnl_library(void);		/* "oneDNN 2.6.3" */

/*
 * dnnl_conv_new(d, name, s, passes):
 * A convolution that as many threads as ${d} has may run at once, with the
 * first ${passes} of enum conv_pass.  NULL after a message naming ${name}; an
 * implementation a thousand times too slow is refused.
 */
struct dnnl_conv *dnnl_conv_new(struct dnnl *d, const char *name,
    const struct conv_shape *s, int passes);
void dnnl_conv_free(struct dnnl_conv *c);

/* Bytes of the weights in the order of ${pass}; scratch bytes of a thread. */
size_t dnnl_conv_weights(const struct dnnl_conv *c, enum conv_pass pass);
size_t dnnl_conv_scratch(const struct dnnl_conv *c);
const char *dnnl_conv_name(const struct dnnl_conv *c, enum conv_pass pass);

/*
 * Weights from the outer order into that of ${pass}, and a weight gradient
 * from the order of CONV_WEIGHTS out; for thread 0 alone.
 */
void dnnl_conv_reorder(struct dnnl_conv *c, enum conv_pass pass,
    const float *from, void *to);
void dnnl_conv_reorder_out(struct dnnl_conv *c, const void *from, float *to);

/*
 * dnnl_conv_run(c, thread, pass, x, w, b, y, scratch):
 * One pass over the images at ${x} (input or its gradient) and ${y} (output or
 * its gradient), with weights ${w} in the order of the pass.  ${b}: the bias
 * of CONV_FORWARD or its gradient in CONV_WEIGHTS; NULL without.  What the
 * pass computes is written, the rest read.
 */
void dnnl_conv_run(struct dnnl_conv *c, int thread, enum conv_pass pass,
    void *x, void *w, void *b, void *y, void *scratch);

#endif
