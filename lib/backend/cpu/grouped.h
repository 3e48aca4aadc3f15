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
 * ${back} is 0 for the forward pass and weight gradients, 1 for data gradients.
 * "Output" is y, or dx if ${back} is 1.  Threads may call all functions at the
 * same time, on different jobs or blocks.
 */

#include "backend/cpu/cpu.h"

struct grouped {
	struct dims x, y;
	int groups;
	int k[3], s[3], p[3];		/* t, h, w */
};

/*
 * grouped_weights(g, back), grouped_scratch(g):
 * Return the bytes of the packed weights, and of the scratch of a job.
 */
size_t grouped_weights(const struct grouped *g, int back);
size_t grouped_scratch(const struct grouped *g);

/*
 * grouped_blocks(g, back), grouped_pack(g, back, block, outer, inner):
 * grouped_blocks returns the number of output blocks.  grouped_pack packs the
 * weights of block ${block} from ${outer}, in the order of the graph, into
 * ${inner}, which has grouped_weights(g, back) bytes for all blocks.
 */
int grouped_blocks(const struct grouped *g, int back);
void grouped_pack(const struct grouped *g, int back, int block,
    const float *outer, float *inner);

/*
 * grouped_jobs(g, back), grouped_run(g, back, job, o):
 * grouped_jobs returns the number of jobs.  grouped_run runs job ${job},
 * forward or, if ${back} is 1, of the data gradient.  The scratch of ${o} has
 * grouped_scratch(g) bytes.
 */
int grouped_jobs(const struct grouped *g, int back);
void grouped_run(const struct grouped *g, int back, int job,
    const struct conv_buffers *o);

/*
 * grouped_parts(g), grouped_gradient(g, job, x, dy, sums, scratch),
 * grouped_add(g, block, sums, dw):
 * Compute a weight gradient in two steps.  grouped_gradient runs job ${job} of
 * grouped_parts(g) * grouped_blocks(g, 0) and writes to ${sums}, which has
 * grouped_parts(g) * grouped_weights(g, 0) bytes.  After all jobs, grouped_add
 * adds up the parts of one block and writes them to ${dw}[out][in /
 * groups][taps].
 */
int grouped_parts(const struct grouped *g);
void grouped_gradient(const struct grouped *g, int job, const float *x,
    const float *dy, float *sums, void *scratch);
void grouped_add(const struct grouped *g, int block, const float *sums,
    float *dw);

#endif
