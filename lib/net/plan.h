#ifndef NET_PLAN_H
#define NET_PLAN_H

/*
 * A plan is a network bound to one shape of microbatch and one back end: a flat
 * array of tasks, and for each buffer its place in one arena.  Running it is a
 * loop.  Making it touches no device memory, so every shape of a schedule can
 * be planned, and refused, before the first step.
 */

#include <stddef.h>
#include <stdio.h>

#include "backend/backend.h"

struct plan {
	struct dims *input;		/* [streams] of one microbatch */
	int training;
	const struct peers *peers;	/* of a part; NULL: of a whole one */
	int repeats;			/* task.repeats */
	int n;				/* tasks, one an op */
	struct task *task;
	/* [n] into the arena, of arena bytes. */
	size_t *y_at, *dy_at, *saved_at, *kept_at, *scratch_at;
	size_t tray_at;
	size_t arena;
	char *has_dy;			/* [n] its gradient is a buffer */
	int *remake;			/* [n] the task before whose backward
					 * pass task i remakes; -1: it has not */
	size_t *mark;			/* [n] once the backward pass of task i
					 * is done, gradients from this element
					 * of the flat buffer on are final */
	double macs;			/* of a forward pass */
	int renew;			/* the next forward pass meets other
					 * parameters, or another arena */
	const struct graph *graph;
	struct device *device;
	struct ahead *ahead;		/* net/ahead.h; NULL: none */
	struct tray *tray;		/* backend/tray.h; NULL: none */
	struct passes *passes;		/* net/passes.h */
	void *base;			/* the last arguments of plan_bind */
	const void *w, *dw;
};

/* What a plan is for. */
enum plan_use {
	PLAN_TEST,			/* forward passes, always more of them */
	PLAN_ONCE,			/* a step of training is one microbatch */
	PLAN_REPEAT			/* it is several */
};

/*
 * plan_new(g, d, input, use):
 * Infer every shape from those of the streams, ${input}[g->needs.streams], let
 * ${d} choose algorithms, and place every buffer by its
 * lifetime.  NULL after a message.
 * plan_new_part(g, d, input, use, peers): the same of one part of a microbatch,
 * whose others these peers have; they stay the caller's.  NULL: it is whole.
 */
struct plan *plan_new(const struct graph *g, struct device *d,
    const struct dims *input, enum plan_use use);
struct plan *plan_new_part(const struct graph *g, struct device *d,
    const struct dims *input, enum plan_use use, const struct peers *peers);
void plan_free(struct plan *p);

/*
 * plan_bind(p, arena, w, dw): resolve the offsets against ${arena} of at least
 * p->arena bytes and the flat buffers; ${dw} may be NULL without training.  Only
 * pointers whose buffer differs from that of the call before are written.
 */
void plan_bind(struct plan *p, void *arena, const void *w, void *dw);

/* plan_feed(p, feed): the tasks have that microbatch from now on: what
 * plan_forward begins with, for those who run tasks themselves. */
void plan_feed(struct plan *p, const struct feed *feed);

/*
 * plan_forward(p, feed): ${feed} must live until the backward pass is done.
 * Unless the caller has set p->renew to 0, it is taken that the parameters
 * have changed.
 */
void plan_forward(struct plan *p, const struct feed *feed);

/*
 * plan_backward(p, final): write every gradient; after each task that finishes
 * some, record it in ${final}, an event of the device's (NULL: do not).
 */
void plan_backward(struct plan *p, struct event *final);

/*
 * plan_remade(p, i, k): the first task after ${k} that remakes before the
 * backward pass of task ${i}; p->n: there is none.
 */
int plan_remade(const struct plan *p, int i, int k);

/*
 * plan_explain(p, f): a line for each task that runs: the ops it does, its
 * shape, the bytes it keeps for the backward pass, and how it is done.
 */
void plan_explain(const struct plan *p, FILE *f);

/* plan_lay_out(p): plan_new's: a place for every buffer of its tasks. */
void plan_lay_out(struct plan *p);

/*
 * plan_place: the lifetimes that an arena is laid out by, exported for its
 * test.
 */
struct plan_block {
	size_t bytes, *at;
	int born, dies;			/* inclusive */
	int again, ends;		/* a second life; ends is 0: none */
};

/*
 * plan_place(b, n): place each block so that it overlaps no block alive at the
 * same time.  Place the largest first; keep the order of equal ones.  Return
 * the size of the arena in bytes.
 */
size_t plan_place(const struct plan_block *b, int n);

#endif
