#ifndef BACKEND_CPU_GROUPED_H
#define BACKEND_CPU_GROUPED_H

/*
 * Convolutions of few channels to a group, as depthwise ones, on blocked fp32
 * activations: any kernel, stride and padding over t, h and w,
 *
 *	y[place][o] = sum of w[o][j][tap] x[place s - p + tap][o's j-th]
 *
 * and both gradients.  Every result is one sum in an order of its own, but for
 * weight gradients, which are cut into parts, a function of the shape alone,
 * that are added in their order.  So no bit depends on the threads.
 */

#include <stddef.h>

#include "graph/graph.h"

struct grouped {
	struct dims x, y;
	int groups;
	int k[3], s[3], p[3];		/* t, h, w */
};

/* Bytes of the weights inside, for the forward pass or ${back} for the data
 * gradient, and of a job's scratch. */
size_t grouped_weights(const struct grouped *g, int back);
size_t grouped_scratch(const struct grouped *g);

/*
 * grouped_order(g, back, block, outer, inner): the weights of a block of what
 * is written, one of grouped_blocks(), into their inner order.
 */
int grouped_blocks(const struct grouped *g, int back);
void grouped_order(const struct grouped *g, int back, int block,
    const float *outer, float *inner);

/*
 * grouped_forward(g, job, x, w, bias, y, scratch), and grouped_back, where
 * ${more} adds to what is there: job ${job} of grouped_jobs().  ${bias} may be
 * NULL.
 */
int grouped_jobs(const struct grouped *g, int back);
void grouped_forward(const struct grouped *g, int job, const float *x,
    const float *w, const float *bias, float *y, void *scratch);
void grouped_back(const struct grouped *g, int job, const float *dy,
    const float *w, float *dx, int more, void *scratch);

/*
 * grouped_gradient(g, job, x, dy, sums, scratch): job ${job} of as many as
 * grouped_parts() times grouped_blocks(g, 0), into ${sums}, of that many parts
 * of grouped_weights(g, 0) bytes.  grouped_add(g, block, sums, dw): then,
 * their sum.
 */
int grouped_parts(const struct grouped *g);
void grouped_gradient(const struct grouped *g, int job, const float *x,
    const float *dy, float *sums, void *scratch);
void grouped_add(const struct grouped *g, int block, const float *sums,
    float *dw);

#endif
