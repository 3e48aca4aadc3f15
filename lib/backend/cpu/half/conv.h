#ifndef BACKEND_CPU_HALF_CONV_H
#define BACKEND_CPU_HALF_CONV_H

/*
 * What the files of the convolution in bf16 share: conv.c is the operator and
 * chooses, conv_weights.c does the gradient of the weights.
 */

#include "backend/cpu/conv_winograd.h"
#include "backend/cpu/dnnl.h"
#include "backend/cpu/half/half.h"
#include "backend/cpu/half/product.h"
#include "backend/cpu/half/weights.h"

struct run { int first, images, call; };

/* By oneDNN, by Winograd's algorithm, or on AMX's tiles as a product of matrices
 * or sum of them. */
struct pass {
	struct dnnl_conv *conv;
	int by_winograd;
	struct conv_winograd winograd;
	struct product *product;
	struct weights *weights;
	int runs;
	struct run *run;
	size_t bytes;			/* of the weights inside */
};

struct conv {
	struct pass pass[CONV_PASSES];
	int in, out;			/* channels as they lie */
	size_t plain;			/* bytes of weights and bias filled up;
					 * 0 if there is nothing to fill */
	size_t library;			/* its scratch, of one thread */
};

/* What the jobs of a pass share. */
struct call {
	struct task *t;
	struct conv *c;
	struct pass *p;
	void *x, *y;			/* of the first image */
	char *work, *plain, *w, *rest;	/* in scratch, but weights kept */
};

static inline size_t
conv_taps(const struct task *t)
{
	return (size_t)(t->op->k[1] * t->op->k[2]);
}

/* conv_call(t, pass, x, y): what the jobs of a pass need. */
struct call half_conv_call(struct task *t, enum conv_pass pass, const void *x,
    const void *y);

void half_conv_weights(struct task *t);

#endif
