#ifndef BACKEND_CPU_GROUPED_H
#define BACKEND_CPU_GROUPED_H

/*
 * Convolutions in groups of few channels, such as depthwise ones, on blocked
 * fp32 activations, with any kernel, stride and padding over t, h and w:
 *
 *	y[p][o] = sum over j, tap of
 *	    w[o][j][tap] x[p s - pad + tap][first(o) + j]
 *
 * first(o) is the first input channel of the group of o.  Both gradients are
 * here too.  Each result is one sum in a fixed order.  Weight gradients are
 * sums over parts, fixed by the shape alone and added in their order.  No bit
 * depends on the number of threads.
 *
 * "Output" is y, or dx of a data gradient.  Threads may call all functions at
 * the same time, on different jobs or blocks.  ${state} is a struct grouped.
 */

#include "backend/cpu/cpu.h"

struct grouped {
	struct dims x, y;
	int groups;
	int back;			/* 1 for a data gradient */
	int k[3], s[3], p[3];		/* t, h, w */
};

/*
 * grouped_weights(g), grouped_scratch(g):
 * Return the bytes of the packed weights, and of the scratch of a job.
 */
size_t grouped_weights(const struct grouped *g);
size_t grouped_scratch(const struct grouped *g);

/*
 * grouped_blocks(g), grouped_pack(state, block, o):
 * grouped_blocks returns the number of output blocks.  grouped_pack packs the
 * weights of block ${block} from ${o}->weights into ${o}->w, which has
 * grouped_weights(g) bytes for all blocks.
 */
int grouped_blocks(const struct grouped *g);
void grouped_pack(const void *state, int block, const struct conv_buffers *o);

/*
 * grouped_jobs(g), grouped_run(state, job, o):
 * grouped_jobs returns the number of jobs.  grouped_run runs job ${job} of the
 * forward pass or the data gradient.  The scratch of ${o} has
 * grouped_scratch(g) bytes.
 */
int grouped_jobs(const struct grouped *g);
void grouped_run(const void *state, int job, const struct conv_buffers *o);

/*
 * grouped_parts(g), grouped_gradient(state, job, o),
 * grouped_add(state, block, o):
 * Compute a weight gradient in two steps.  grouped_gradient runs job ${job} of
 * grouped_parts(g) * grouped_blocks(g) and writes to ${o}->parts, which has
 * grouped_parts(g) * grouped_weights(g) bytes.  After all jobs, grouped_add
 * adds up the parts of one block and writes them to ${o}->out[out][in /
 * groups][taps].
 */
int grouped_parts(const struct grouped *g);
void grouped_gradient(const void *state, int job,
    const struct conv_buffers *o);
void grouped_add(const void *state, int block, const struct conv_buffers *o);

#endif
