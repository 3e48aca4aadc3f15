#ifndef NET_POISON_H
#define NET_POISON_H

/*
 * Poison for tests (base/huge.h): before a task runs, the memory that it must
 * write is filled with NaNs, and its scratch.  Do nothing unless huge_poison is
 * 1 and the device works on host memory.
 */

#include "net/plan.h"

/*
 * poison_forward(p, i), poison_backward(p, i), poison_recompute(p, i):
 * Poison what the forward pass, the backward pass or the recomputation of task
 * ${i} of ${p} writes, with all tasks fused into it.
 */
void poison_forward(const struct plan *p, int i);
void poison_backward(const struct plan *p, int i);
void poison_recompute(const struct plan *p, int i);

#endif
