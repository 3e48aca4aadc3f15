#ifndef BACKEND_CPU_OUTER_H
#define BACKEND_CPU_OUTER_H

/*
 * Weight gradients of convolutions on fp32 activations, of any kernel, stride
 * and padding over t, h and w, in one group:
 *
 *	dw[o][i][tap] = sum over places of x[place s - p + tap][i] dy[place][o]
 *
 * The work is cut into jobs over windows of input and output channels, which
 * write their part of dw; each sum goes over the places in their order.  Where
 * the channels are too few to cut, places are cut into parts as well, whose
 * sums are added in their order.  Parts are a function of the shape, so that
 * no bit depends on the threads.
 */

#include <stddef.h>

struct outer {
	int clips, in, out;		/* channels */
	int pixels;			/* x lies as [image][c][h][w] */
	int x[3], y[3];			/* t, h, w of input and output */
	int k[3], s[3], p[3];
	/* Set by outer_cut: */
	int chunk[3];			/* places taken at a time */
	int parts, in_jobs, out_jobs;
};

/* outer_cut(g, threads): choose how to cut; the bits are a function of what is
 * above it alone. */
void outer_cut(struct outer *g, int threads);

/* Bytes: scratch of a thread, and of all parts, 0 if there is but one. */
size_t outer_scratch(const struct outer *g);
size_t outer_parts(const struct outer *g);

/*
 * outer_run(g, job, x, y, dw, parts, scratch):
 * Job ${job} of outer_jobs(); it writes to ${dw}, or where there are several
 * parts to ${parts}: then outer_add must follow.
 */
int outer_jobs(const struct outer *g);
void outer_run(const struct outer *g, int job, const float *x, const float *y,
    float *dw, float *parts, void *scratch);

/* outer_add(g, job, dw, parts): job ${job} of outer_sums(): add the parts. */
int outer_sums(const struct outer *g);
void outer_add(const struct outer *g, int job, float *dw, float *parts);

/*
 * outer_gather(g, out, step, x, clip, from, to):
 * Of pixels, all taps of all channels of the places [from, to) of y, ${step}
 * numbers from one place to the next; for outer.c.
 */
void outer_gather(const struct outer *g, float *out, size_t step,
    const float *x, int clip, const int from[3], const int to[3]);

#endif
