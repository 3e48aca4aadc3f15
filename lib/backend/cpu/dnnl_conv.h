#ifndef BACKEND_CPU_DNNL_CONV_H
#define BACKEND_CPU_DNNL_CONV_H

/*
 * oneDNN, opened, and a convolution as its primitives.  Private to dnnl.c,
 * dnnl_conv.c and dnnl_order.c.
 */

#include "backend/cpu/dnnl_api.h"

/* Arguments of a convolution, as indices of the memory of struct dnnl_call. */
enum { X, W, Y, BIAS, SCRATCH, MEMORIES };

/* Slices of the weights, at most. */
enum { SLICES = 8 };

struct dnnl {
	dnnl_engine_t engine;
	int threads;
	dnnl_stream_t *stream;		/* [threads] */
};

/* A call, and the memory objects that each thread runs it on. */
struct dnnl_call {
	struct conv_call what;
	dnnl_primitive_t prim;
	dnnl_memory_t (*memory)[MEMORIES];	/* [threads] */
};

/* The copy of a slice between the two orders of the weights. */
struct dnnl_slice { dnnl_primitive_t prim; dnnl_memory_t outer, inner; };

struct dnnl_conv {
	struct dnnl *dnnl;
	enum conv_kind pass;
	struct dnnl_shape s;
	char what[64];			/* for messages */
	char name[64];			/* implementation of oneDNN */
	layout w;			/* inner order, from the first call */
	int slices;
	size_t calls, capacity;
	struct dnnl_call *call;		/* [calls]; capacity ${capacity} */
	struct dnnl_slice slice[SLICES];
	size_t weights, scratch;	/* bytes */
};

/*
 * dnnl_one_thread():
 * Keep oneDNN from starting threads in calls by this thread, because the
 * device's pool already uses all of them.  Call it before each use of oneDNN.
 */
void dnnl_one_thread(void);

/*
 * dnnl_execute(d, prim, thread, n, args):
 * Run ${prim} with its ${n} arguments on the stream of ${thread} and wait for
 * it.  Creation has checked everything, so a failure is a bug and ends the
 * program.
 */
void dnnl_execute(struct dnnl *d, dnnl_primitive_t prim, int thread, int n,
    const dnnl_exec_arg_t *args);

/*
 * dnnl_weight_dims(s, d):
 * Store the dimensions of the weights, [group][out][in][h][w], the first only
 * if there are several groups.  Return their number.
 */
int dnnl_weight_dims(const struct dnnl_shape *s, dnnl_dims_t d);

/*
 * dnnl_make_slices(c):
 * Create the reorders between ${c}->w and the outer order.  Return 0, or
 * another value on failure.
 */
int dnnl_make_slices(struct dnnl_conv *c);

#endif
