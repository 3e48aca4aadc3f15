#ifndef BACKEND_CPU_DNNL_CONV_H
#define BACKEND_CPU_DNNL_CONV_H

/*
 * The library, opened, and a convolution as primitives of it: private to
 * dnnl.c, dnnl_conv.c, dnnl_order.c and dnnl_matrix.c.
 */

#include "backend/cpu/dnnl_api.h"

enum { X, W, Y, BIAS, SCRATCH, MEMORIES };
enum { SLICES = 8 };

struct dnnl {
	dnnl_engine_t engine;
	int threads;
	dnnl_stream_t *stream;		/* [threads] */
};

/* A call, and the memories that each thread runs it on. */
struct call {
	struct conv_call what;
	dnnl_primitive_t prim;
	dnnl_memory_t (*memory)[MEMORIES];	/* [threads] */
};

struct slice { dnnl_primitive_t prim; dnnl_memory_t outer, inner; };

struct dnnl_conv {
	struct dnnl *dnnl;
	enum conv_pass pass;
	struct conv_shape s;
	char what[64];			/* for messages */
	char name[64];			/* of the implementation */
	layout w;			/* the inner order; of the first call */
	int slices;
	size_t calls, room;
	struct call *call;		/* [calls] */
	struct slice slice[SLICES];
	size_t weights, scratch;	/* bytes */
};

/* The library must start no threads of its own: the pool is ours. */
void dnnl_one_thread(void);

/*
 * dnnl_execute(d, prim, thread, n, args): run it.  Everything was checked when
 * it was made: an execution that fails is a mistake of ours, and nothing after
 * it would be right; it ends the program.
 */
void dnnl_execute(struct dnnl *d, dnnl_primitive_t prim, int thread, int n,
    const dnnl_exec_arg_t *args);

/* Dimensions of the weights: [group][out][in][h][w], without groups less one;
 * how many there are. */
int dnnl_weight_dims(const struct conv_shape *s, dnnl_dims_t d);

/* dnnl_make_slices(c): the reorders between c->w and the order of the graph; 0
 * if it worked. */
int dnnl_make_slices(struct dnnl_conv *c);

#endif
