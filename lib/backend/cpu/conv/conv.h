#ifndef BACKEND_CPU_CONV_CONV_H
#define BACKEND_CPU_CONV_CONV_H

/*
 * Convolutions in fp32 and bf16: the interface between the operator (conv.c)
 * and the algorithms (by_*.c).  A convolution has up to three passes: forward,
 * weight gradient and data gradient.  Each precision has a table of candidate
 * algorithms, in the order of preference.
 */

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"

/*
 * A parallel loop: f(state, i, o) for i < n, where state is that of the pass.
 */
struct conv_phase {
	void (*f)(const void *state, int i, const struct conv_buffers *o);
	int n;
};

/* The phases of a pass, at most. */
enum { PHASES = 4 };

/* A pass of the convolution of a task. */
struct cpu_conv_pass {
	struct task *t;
	enum conv_kind kind;
	int bf16;			/* activations are rows of bf16 */
	/*
	 * Shape, kernel, stride and padding: those of the task or, in bf16,
	 * those with time as rows (conv.c).
	 */
	struct dims in, out;
	int k[3], s[3], p[3];
	/*
	 * The layout of x in fp32, as the algorithm sees it: 1 for pixels, 0
	 * for blocks.  y always lies in blocks.
	 */
	int pixels;
	/*
	 * Bytes of the copies of x and y in blocks, if they are pixels in
	 * memory; 0 if there is none.  They lie at ${copy_at} in the memory
	 * that all threads share.
	 */
	size_t copy_x, copy_y, copy_at;
	/* The selected algorithm; NULL if the pass is not wanted. */
	const struct conv_algorithm *algorithm;
	/* Set by the make function of the algorithm: */
	void *state;		/* its state, freed by its release function */
	size_t packed;		/* bytes of the packed weights, which runs may
				 * share */
	size_t workspace;	/* bytes that all threads share during a run */
	size_t scratch;		/* bytes of each thread during a run */
	/*
	 * Phases run one after the other, up to the first whose f is NULL.
	 * ${order} packs the weights of the task.  ${run} is the whole pass,
	 * and a weight gradient is written to the dw of the task.
	 */
	struct conv_phase order[PHASES], run[PHASES];
};

/* One run of a pass over a microbatch. */
struct conv_run {
	const struct cpu_conv_pass *p;
	void *x, *y;		/* input and output, or their gradients */
	int more;		/* add to the result; data gradients only */
	void *packed, *workspace;	/* p->packed and p->workspace bytes */
	char *scratch;		/* thread i begins at scratch + i step */
	size_t step;
	const struct conv_phase *phase;	/* the current one */
};

/* A candidate algorithm. */
struct conv_algorithm {
	const char *name;
	/*
	 * Return 1 if it can run the pass.  The shape and the processor alone
	 * decide, not the number of threads.
	 */
	int (*runs)(const struct cpu_conv_pass *p);
	/*
	 * Return 1 if it runs the pass faster than those after it in the table.
	 * NULL: it does wherever it runs.
	 */
	int (*wins)(const struct cpu_conv_pass *p);
	/*
	 * Set the fields of the pass that algorithms set.  Return 0, or -1
	 * after a message.
	 */
	int (*make)(struct cpu_conv_pass *p);
	/* Free p->state.  NULL: free() is enough. */
	void (*release)(struct cpu_conv_pass *p);
	int adds;				/* its runs support ${more} */
	/* Return the name to show.  NULL: ${name}. */
	const char *(*describe)(const struct cpu_conv_pass *p);
	/*
	 * Return 1 if both passes have equal packed weights, so that one copy
	 * is enough.  NULL: they never have.
	 */
	int (*shares)(const struct cpu_conv_pass *forward,
	    const struct cpu_conv_pass *data);
};

extern const struct conv_algorithm conv_by_winograd, conv_by_direct,
    conv_by_outer, conv_by_groups, conv_by_amx, conv_by_library;

/*
 * conv_pass_image(p, d): return the floats of an image of ${d}, which is &p->in
 * or &p->out.
 */
static inline size_t
conv_pass_image(const struct cpu_conv_pass *p, const struct dims *d)
{
	return d == &p->in && p->pixels ? cpu_positions(d) * (size_t)d->c :
	    cpu_blocked_image(d);
}

/*
 * conv_run_bias(r): return the bias that the pass adds, or NULL if there is
 * none.
 */
static inline const float *
conv_run_bias(const struct conv_run *r)
{
	const struct task *t = r->p->t;

	return t->op->conv.bias && r->p->kind == CONV_FORWARD ? t->w[1] : NULL;
}

/*
 * conv_pass_timed(p): return 1 if the kernel has taps, stride or padding in
 * time.
 */
static inline int
conv_pass_timed(const struct cpu_conv_pass *p)
{
	return p->k[0] > 1 || p->s[0] > 1 || p->p[0] > 0;
}

/*
 * conv_pass_tap(p): return the weights of one tap in time, per pair of
 * channels.
 */
static inline int
conv_pass_tap(const struct cpu_conv_pass *p)
{
	return p->k[1] * p->k[2];
}

/* conv_pass_threads(p): return the threads of the device of the pass. */
static inline int
conv_pass_threads(const struct cpu_conv_pass *p)
{
	return pool_threads(cpu_of(p->t)->pool);
}

#endif
