#ifndef BACKEND_CPU_OUTER_H
#define BACKEND_CPU_OUTER_H

/*
 * Weight gradients of convolutions on fp32 activations, with any kernel, stride
 * and padding over t, h and w, and one group:
 *
 *	dw[o][i][tap] = sum over positions p of x[p s - pad + tap][i] dy[p][o]
 *
 * A job computes dw for a range of input and a range of output channels, and
 * sums over the positions in their order.  If there are few channels, the
 * positions are split into parts too, and the sums of the parts are added in
 * their order.  The shape alone fixes the parts, so that no bit depends on the
 * number of threads.
 *
 * After outer_split, threads may call all functions at the same time, on
 * different jobs.
 */

#include "backend/cpu/cpu.h"

struct outer {
	int clips, in, out;		/* in, out: channels */
	int pixels;			/* x has the pixel layout
					 * [image][c][h][w] */
	int x[3], y[3];			/* t, h, w of input and output */
	int k[3], s[3], p[3];
	/* Set by outer_split: */
	int chunk[3];			/* positions t, h, w processed at a
					 * time */
	int parts, in_jobs, out_jobs;
};

/*
 * outer_split(g, threads):
 * Set the fields below "Set by outer_split" for ${threads} threads.  The fields
 * above must be set, and they alone decide the bits of the result.
 */
void outer_split(struct outer *g, int threads);

/*
 * outer_scratch(g), outer_parts(g):
 * Return the bytes of the scratch of a thread, and of the sums of all parts, 0
 * if there is one part.  Call outer_split first.
 */
size_t outer_scratch(const struct outer *g);
size_t outer_parts(const struct outer *g);

/*
 * outer_jobs(g), outer_run(state, job, o):
 * Run job ${job} of outer_jobs(g); ${state} is the struct outer.  With one
 * part, write its range of ${o}->out[out][in][taps].  With several, write its
 * sums to ${o}->parts, outer_parts(g) bytes; outer_add must follow.  The
 * scratch of ${o} has outer_scratch(g) bytes.
 */
int outer_jobs(const struct outer *g);
void outer_run(const void *state, int job, const struct conv_buffers *o);

/*
 * outer_sums(g), outer_add(state, job, o):
 * Run job ${job} of outer_sums(g), after all jobs of outer_run: add up the
 * parts and write them to ${o}->out.  outer_sums(g) is 0 if there is one part.
 */
int outer_sums(const struct outer *g);
void outer_add(const void *state, int job, const struct conv_buffers *o);

/*
 * outer_gather(g, out, x, clip, from, to):
 * Gather all taps of all channels of pixels ${x} for the output positions
 * [${from}, ${to}) of ${clip}: ${out}[position][channel][tap], with the floats
 * of a position padded to blocks.  For outer.c only.
 */
void outer_gather(const struct outer *g, float *out, const float *x, int clip,
    const int from[3], const int to[3]);

#endif
