#ifndef BACKEND_CPU_CONV_CONV_H
#define BACKEND_CPU_CONV_CONV_H

/*
 * Convolutions, in fp32 and bf16: what the operator (conv.c) asks of an
 * algorithm, and the algorithms (by_*.c) offer.  A convolution has up to three
 * passes; the first algorithm in its precision's table that fits a pass runs it.
 */

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"

/* Jobs of one kind, for the threads at hand: f(i, thread, run) for i < n. */
struct conv_phase {
	void (*f)(int i, int thread, void *run);
	int n;
};

enum { PHASES = 4 };

/* A pass of a task's convolution. */
struct cpu_conv_pass {
	struct task *t;
	enum conv_pass kind;
	int bf16;			/* activations are rows of bf16 */
	struct dims in, out;		/* the convolution: the task's, or the */
	int k[3], s[3], p[3];		/* same one with time as rows (conv.c) */
	const struct conv_algorithm *by;
	/* Set by the algorithm's make: */
	void *own;
	size_t kept;		/* bytes: weights in order; runs may share them */
	size_t spare;		/* bytes that all threads share during a run */
	size_t scratch;		/* bytes of each thread during a run */
	/* Phases, one after the other, up to the first without f.  order puts
	 * the weights of the task into order; run is the whole pass, and writes
	 * a gradient of weights into the task's dw. */
	struct conv_phase order[PHASES], run[PHASES];
};

/* A run of a pass over a microbatch. */
struct conv_run {
	const struct cpu_conv_pass *p;
	void *x, *y;		/* input and output, or their gradients */
	int more;		/* add to the result; data gradients only */
	void *kept, *spare;
	char *scratch;		/* of thread i at + i step */
	size_t step;
};

struct conv_algorithm {
	const char *name;
	int (*fits)(const struct cpu_conv_pass *p);	/* can run it, and is the best */
	int (*make)(struct cpu_conv_pass *p);		/* 0, or -1 after a message */
	void (*release)(struct cpu_conv_pass *p);	/* free p->own; NULL: free() does */
	int adds;				/* its runs obey ${more} */
	const char *(*describe)(const struct cpu_conv_pass *p);	/* NULL: its name */
	/* The forward and the data pass keep equal weights; NULL: never. */
	int (*shares)(const struct cpu_conv_pass *forward,
	    const struct cpu_conv_pass *data);
};

extern const struct conv_algorithm conv_by_winograd, conv_by_direct,
    conv_by_products, conv_by_groups, conv_by_tiles, conv_by_library;

/* conv_library_has(p): oneDNN has more for the pass than plain loops. */
int conv_library_has(const struct cpu_conv_pass *p);

/* The scratch of a thread. */
static inline void *
conv_run_scratch(const struct conv_run *r, int thread)
{
	return r->scratch + r->step * (size_t)thread;
}

/* The array that a forward or data pass reads, and the one that it writes. */
static inline const void *
conv_run_from(const struct conv_run *r)
{
	return r->p->kind == CONV_DATA ? r->y : r->x;
}

static inline void *
conv_run_to(const struct conv_run *r)
{
	return r->p->kind == CONV_DATA ? r->x : r->y;
}

/* The bias that the pass adds; NULL: none. */
static inline const float *
conv_run_bias(const struct conv_run *r)
{
	const struct task *t = r->p->t;

	return t->op->bias && r->p->kind == CONV_FORWARD ? t->w[1] : NULL;
}

/* A pass has taps, strides or padding in time. */
static inline int
pass_timed(const struct cpu_conv_pass *p)
{
	return p->k[0] > 1 || p->s[0] > 1 || p->p[0] > 0;
}

/* The numbers of a tap's kernel over h and w. */
static inline int
pass_tap(const struct cpu_conv_pass *p)
{
	return p->k[1] * p->k[2];
}

static inline int
pass_threads(const struct cpu_conv_pass *p)
{
	return pool_threads(cpu_of(p->t)->pool);
}

#endif
