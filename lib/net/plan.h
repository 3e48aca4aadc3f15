#ifndef NET_PLAN_H
#define NET_PLAN_H

/*
 * A plan: a network bound to one shape of microbatch and to one device.  It is
 * an array of tasks, with the offset of each buffer in an arena.  Running it is
 * a loop.  Making it uses no device memory, so each shape of a schedule can be
 * planned, and refused, before the first step.
 */

#include <stddef.h>
#include <stdio.h>

#include "backend/backend.h"

/* The buffers of a task, and when it runs and is final. */
struct plan_buffers {
	size_t y, dy, saved, packed, scratch;	/* offsets in the arena */
	int has_dy;			/* 1: dy has a buffer */
	int recompute_before;		/* task before whose backward pass this
					 * one is recomputed; -1: never */
	size_t final_from;		/* after its backward pass the gradients
					 * from this element of the flat buffer
					 * to its end are final */
};

struct plan {
	struct dims *input;		/* [streams] of one microbatch */
	int training;
	const struct peers *peers;	/* of a part; NULL: whole */
	int repeats;			/* task.repeats */
	int n;				/* number of tasks, one per op */
	struct task *task;
	struct plan_buffers *buffers;	/* [n] */
	size_t staging_at;		/* offset of the staging buffer */
	size_t arena;			/* bytes of the arena */
	double macs;			/* multiply-adds of a forward pass */
	/* 1 if parameters or arena have changed since the last forward pass. */
	int weights_changed;
	const struct graph *graph;
	struct device *device;
	struct prefetch *prefetch;	/* net/prefetch.h; NULL: no prefetch */
	struct staging_buffer *staging;	/* backend/staging_buffer.h; NULL: host
					 * memory */
	struct capture_cache *captures;	/* net/capture_cache.h: graph cache */
	void *base;			/* last arguments of plan_bind */
	const void *w, *dw;
};

/* Use of a plan. */
enum plan_use {
	PLAN_TEST,			/* forward passes only */
	PLAN_ONCE,			/* training, one microbatch a step */
	PLAN_REPEAT			/* training, several a step */
};

/*
 * plan_new(g, d, input, use):
 * Make a plan of graph ${g} on device ${d}.  Infer all shapes from those of the
 * streams, ${input}[g->needs.streams].  Let ${d} fuse tasks and select
 * algorithms, and place the buffers by lifetime.  ${g} and ${d} must outlive
 * it.  Return NULL after a message.  The caller frees it by plan_free.
 *
 * plan_new_part(g, d, input, use, peers):
 * Make a plan of one part of a microbatch; ${peers} have the other parts.  The
 * caller owns ${peers}, which must outlive the plan.  NULL: the microbatch is
 * whole.
 *
 * plan_free(p):
 * Free ${p}.  Do nothing if it is NULL.
 */
struct plan *plan_new(const struct graph *g, struct device *d,
    const struct dims *input, enum plan_use use);
struct plan *plan_new_part(const struct graph *g, struct device *d,
    const struct dims *input, enum plan_use use, const struct peers *peers);
void plan_free(struct plan *p);

/*
 * plan_bind(p, arena, w, dw):
 * Set all pointers of the tasks: into ${arena} of at least p->arena bytes, and
 * into the flat buffers of parameters ${w} and gradients ${dw}.  ${dw} may be
 * NULL without training.  A buffer at the same address as in the previous call
 * is skipped, so repeated calls are cheap.
 */
void plan_bind(struct plan *p, void *arena, const void *w, void *dw);

/*
 * plan_feed(p, feed):
 * Give the microbatch ${feed} to the tasks, through the staging buffer if there
 * is one.  plan_forward calls it.  Other callers need it if they run tasks
 * themselves.
 */
void plan_feed(struct plan *p, const struct feed *feed);

/*
 * plan_forward(p, feed):
 * Run the forward pass on ${feed}, which must live until the backward pass is
 * done.  Assume that the parameters have changed unless the caller has set
 * p->weights_changed to 0.
 */
void plan_forward(struct plan *p, const struct feed *feed);

/*
 * plan_backward(p, final):
 * Run the backward pass and write every gradient.  After each task that
 * completes some, record them in ${final}, an event of the device, unless it is
 * NULL.
 */
void plan_backward(struct plan *p, struct event *final);

/*
 * plan_next_recompute(p, i, k):
 * Return the first task after ${k} that is recomputed before the backward pass
 * of task ${i}; p->n if there is none.
 */
int plan_next_recompute(const struct plan *p, int i, int k);

/*
 * plan_explain(p, f):
 * Print a line to ${f} for each task that runs: its ops, shape, bytes kept for
 * the backward pass, and algorithm.
 */
void plan_explain(const struct plan *p, FILE *f);

/*
 * plan_lay_out(p):
 * Place all buffers of the tasks in the arena; a part of plan_new.
 */
void plan_lay_out(struct plan *p);

/* A buffer: its lifetimes, in inclusive times of tasks, and its place. */
struct plan_block {
	size_t bytes, *at;		/* *at: offset, set by plan_place */
	int born, dies;			/* first and last use */
	int again, ends;		/* a second lifetime; ends 0: none */
};

/*
 * plan_place(b, n):
 * Place each of ${n} blocks so that it overlaps no block alive at the same
 * time.  Place the largest first; keep the order of equal ones.  Return the
 * size of the arena in bytes.  It is public for its test.
 */
size_t plan_place(const struct plan_block *b, int n);

#endif
