#ifndef BACKEND_CPU_DIRECT_H
#define BACKEND_CPU_DIRECT_H

/*
 * Convolutions as they are written down, on blocked fp32 activations: any
 * kernel, stride and padding over t, h and w, without groups; forward, and as
 * data gradients.  A result is one sum in an order of its own, over taps and
 * then channels, so that places may be shared out in any way.  Weights are
 * brought into order once for all jobs.
 */

#include <stddef.h>

#include "graph/graph.h"

struct direct {
	/* What is read and what is written: x and y, or dy and dx. */
	struct dims in, out;
	int back;			/* the data gradient */
	int k[3], s[3], p[3];		/* t, h, w; of the forward pass */
	int in_step, out_step;		/* between channels of what is read and
					 * written in the weights as they lie
					 * outside, in numbers */
	/* By direct_cut: */
	int tiles;			/* a job's, at most */
	int panels, windows;		/* a job's pairs of output blocks, at
					 * most; jobs for the same places */
	int jobs;
	int stream;			/* what is written is too large to stay
					 * in a cache */
};

/* direct_cut(g, threads): fill in the rest, with jobs for as many threads. */
void direct_cut(struct direct *g, int threads);

/* Bytes of the weights inside, and of a job's scratch. */
size_t direct_weights(const struct direct *g);
size_t direct_scratch(const struct direct *g);

/*
 * direct_order(g, slice, outer, inner):
 * Slice ${slice} of direct_slices() of the weights into their inner form;
 * slices lie apart.
 */
int direct_slices(const struct direct *g);
void direct_order(const struct direct *g, int slice, const float *outer,
    float *inner);

/*
 * direct_run(g, job, in, w, bias, out, more, scratch):
 * Job ${job} of g->jobs.  ${bias} may be NULL, and is as long as there are
 * channels; ${more}: add to what is there, which is without bias.
 */
void direct_run(const struct direct *g, int job, const float *in,
    const float *w, const float *bias, float *out, int more, void *scratch);

#endif
