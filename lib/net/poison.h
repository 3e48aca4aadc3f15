#ifndef NET_POISON_H
#define NET_POISON_H

/*
 * Poison: fills the memory that a task must write, and its scratch, with NaNs
 * before the task runs.  What it leaves unwritten then shows in its results.
 */

#include "net/plan.h"

/*
 * poison_fill(d, at, bytes):
 * Fill ${bytes} of device memory with NaNs of every floating-point format.
 */
void poison_fill(struct device *d, void *at, size_t bytes);

/*
 * poison_packed_weights(p):
 * Poison the packed weights of all tasks, before a forward pass whose weights
 * have changed.  A task may pack weights of others.
 */
void poison_packed_weights(const struct plan *p);

/*
 * poison_forward(p, i), poison_backward(p, i), poison_recompute(p, i):
 * Poison what the forward pass, the backward pass or the recomputation of task
 * ${i} of ${p} writes, with all tasks fused into it.
 */
void poison_forward(const struct plan *p, int i);
void poison_backward(const struct plan *p, int i);
void poison_recompute(const struct plan *p, int i);

#endif
