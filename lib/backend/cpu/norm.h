#ifndef BACKEND_CPU_NORM_H
#define BACKEND_CPU_NORM_H

/*
 * Batch normalisation and the operators that are fused with it: the addition
 * of a shortcut, the relu, and the temporal shift behind that.
 *
 * A shift that whole blocks of channels make (of lanes, in bf16 of 32) is no
 * pass of its own: the plane of frame f is stored where the shifted activation
 * has it, and its gradient read from there.  The planes that the shift drops at the ends of a clip are
 * kept beside it if somebody else reads the activation, which then "lies" in
 * the shift's: no plain copy of it is in memory.
 */

#include "backend/chains.h"
#include "backend/cpu/cpu.h"

/* norm_writes(t, again): is y written, forward or ${again}? */
static inline int
norm_writes(const struct task *t, int again)
{
	return t->stored && (t->remade || !again);
}

/* norm_between(bn, c, mean): what PARAM_BETWEEN takes of channel ${c}. */
static inline void
norm_between(const struct task *bn, int c, double mean)
{
	double d = mean - ((const float *)bn->w[2])[c];

	((float *)bn->dw[4])[c] = (float)(d * d);
}

/* norm_whole_blocks(shift, n): do all channels of each ${n} move alike? */
int norm_whole_blocks(const struct task *shift, int n);

/* cpu_fuse: struct backend's. */
void cpu_fuse(struct device *d, struct task *task, int n);

/*
 * As struct op_impl, for a norm of any precision.  Fused ones have their priv
 * from cpu_fuse; a bn alone gets it here.
 */
int norm_prepare(struct task *t);
void norm_describe(const struct task *t, char *text, size_t size);

#endif
