#ifndef BACKEND_CPU_NORM_H
#define BACKEND_CPU_NORM_H

/*
 * Batch normalization and the operators that one pass fuses with it: the
 * addition of a shortcut, the relu, and the temporal shift of the result
 * (backend/chains.h).
 *
 * A fused shift has no pass of its own.  Where whole blocks of channels move
 * alike, a plane is stored directly where the shift would move it.  Its
 * gradient is read from there.  A block is cpu_lanes() channels, or 32 in
 * bf16.
 *
 * If all other readers of the unshifted activation are such passes, it is not
 * stored.  The shifted activation holds its values (alias_of of struct task).
 * The planes that the shift drops at the ends of a clip are saved next to it.
 */

#include "backend/chains.h"
#include "backend/cpu/cpu.h"

/*
 * norm_writes(t, again):
 * Return 1 if the pass of ${t} writes y: in the forward pass, or if ${again} is
 * not 0 in the recomputation for the backward pass.
 */
static inline int
norm_writes(const struct task *t, int again)
{
	return t->materialized && (t->recompute || !again);
}

/*
 * norm_whole_blocks(shift, n):
 * Return 1 if the ${n} channels of each block move to the same frame.
 */
int norm_whole_blocks(const struct task *shift, int n);

/*
 * cpu_fuse(d, task, n):
 * The fuse function of struct backend: find the chains of the ${n} tasks, fuse
 * their shifts, and choose the outputs to recompute and the masks to save.
 */
void cpu_fuse(struct device *d, struct task *task, int n);

#endif
