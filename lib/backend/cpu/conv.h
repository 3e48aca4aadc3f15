#ifndef BACKEND_CPU_CONV_H
#define BACKEND_CPU_CONV_H

/*
 * What the files of the convolution share: conv_choose.c chooses what runs a
 * pass, conv_make.c makes it ready where that is the library, conv_ours.c where
 * it is not, conv_weights.c puts weights into order and does their gradient,
 * conv.c is the operator with its forward and data passes.
 */

#include "backend/cpu/conv_winograd.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/direct.h"
#include "backend/cpu/dnnl.h"
#include "backend/cpu/grouped.h"
#include "backend/cpu/outer.h"

/* A window of channels: out of CONV_FORWARD, in of CONV_DATA. */
struct piece {
	struct dnnl_conv *conv;
	int channel;
	size_t at, bytes;	/* of its first tap's weights; of one tap */
};

struct run { int first, images, call; };

/* What runs a pass: oneDNN in pieces; direct convolutions in jobs; Winograd's
 * algorithm; sums of outer products,
 * a weight gradient; sums place by place, of groups. */
enum conv_by { CONV_DNNL, CONV_DIRECT, CONV_WINOGRAD, CONV_PRODUCTS,
    CONV_GROUPED };

struct pass {
	enum conv_by by;
	int pieces, runs;
	struct piece *piece;
	struct run *run;
	struct conv_winograd winograd;
	struct direct direct;
	struct grouped grouped;
	struct outer outer;		/* runs are its parts */
	size_t bytes;		/* of the weights of all taps, in order */
};

struct conv {
	struct pass pass[CONV_PASSES];
	int shared;			/* one order serves forward and data */
	int in, groups;			/* as the library is told, see widen */
	int timed;			/* taps, strides or padding in time */
	size_t plain;			/* of weights filled up with zeros; 0 if
					 * there is nothing to fill */
	size_t work;			/* scratch bytes of a thread, and of */
	size_t library;			/* them the library's; the rest is what
					 * a tap adds to an image or gradient */
	int more;			/* the call that adds */
	int *tap;			/* calls of the taps' gradients */
};

/* What the jobs of a pass share. */
struct call {
	struct task *t;
	struct conv *c;
	struct pass *p;
	float *x, *y;			/* of the first image */
	char *work, *plain, *w;		/* in scratch, or kept */
	int order;			/* the weights there are not ready */
	int more;			/* add to what there is; not oneDNN */
};

/* The numbers of a tap's kernel over h and w. */
static inline int
conv_tap(const struct op *op)
{
	return op->k[1] * op->k[2];
}

static inline float *
conv_image(const struct dims *d, float *of, int i)
{
	return of + cpu_image(d) * (size_t)i;
}

static inline void
conv_add(const struct call *k, float *to, const float *from, size_t n)
{
	cpu_k(k->t)->add(to, to, from, n);
}

/* conv_prepare(t): as struct op_impl; conv_release undoes it. */
int conv_prepare(struct task *t);
void conv_release(struct task *t);

/* conv_choose(t, pass): what runs it.  Timed, in and groups are known. */
enum conv_by conv_choose(const struct task *t, enum conv_pass pass);

/* conv_shape_of(t): what the library is told of it; in and groups are known. */
struct conv_shape conv_shape_of(const struct task *t);

/* conv_make_ours(t, pass, by): make ready what is not CONV_DNNL; the scratch of
 * a thread becomes as large as it needs.  Cannot fail. */
void conv_make_ours(struct task *t, enum conv_pass pass, enum conv_by by);

/*
 * conv_frames(t, k, from):
 * The frames of a clip's output that tap ${k} adds to, how many, from
 * ${from}; frame f reads input frame f s - p + k.
 */
int conv_frames(const struct task *t, int k, int *from);

/* conv_call(t, pass, x, y): what the jobs of a pass need. */
struct call conv_call(struct task *t, enum conv_pass pass, const void *x,
    const void *y);

/* conv_order(k): weights into the order of the pass, or a gradient out. */
void conv_order(struct call *k);
void conv_weight_gradient(struct task *t);

#endif
