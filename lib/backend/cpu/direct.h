#ifndef BACKEND_CPU_DIRECT_H
#define BACKEND_CPU_DIRECT_H

/*
 * Direct convolutions, with any kernel, stride and padding over t, h and w, on
 * blocked fp32 activations and without groups.  They compute forward passes and
 * data gradients:
 *
 *	y[p][o] = sum over taps and i of w[o][i][tap] x[p s - pad + tap][i]
 *	dx[q][i] = sum over taps and o of
 *	    w[o][i][tap] dy[(q + pad - tap) / s][o]
 *
 * where s divides q + pad - tap on each axis.
 *
 * Each result is one sum in a fixed order, over taps and then channels.
 * Positions can therefore be split among jobs in any way without changing a
 * bit.  Weights are packed once for all jobs.
 *
 * After direct_split, threads may call all functions at the same time, on
 * different slices or jobs.
 */

#include "backend/cpu/cpu.h"

struct direct {
	/*
	 * Input and output of this pass: x and y, or dy and dx of a data
	 * gradient.
	 */
	struct dims in, out;
	int back;			/* 1 for a data gradient */
	int k[3], s[3], p[3];		/* t, h, w of the forward pass */
	int in_step, out_step;		/* floats between input and output
					 * channels in the graph's weights,
					 * whose taps are contiguous */
	/* Set by direct_split: */
	int tiles;			/* tiles of a job, at most */
	int panels, windows;		/* pairs of output blocks of a job, at
					 * most; jobs for the same positions */
	int jobs;
	int stream;			/* store past the caches: the output is
					 * too large for them */
};

/*
 * direct_split(g, threads):
 * Set the fields below "Set by direct_split" so that ${threads} threads share
 * the work. The fields above must be set. The results do not depend on
 * ${threads}. May merge axes in ${g}->in and ${g}->out that have no taps.
 */
void direct_split(struct direct *g, int threads);

/*
 * direct_weights(g), direct_scratch(g):
 * Return the bytes of the packed weights, and those of the scratch of a job.
 * Call direct_split first.
 */
size_t direct_weights(const struct direct *g);
size_t direct_scratch(const struct direct *g);

/*
 * direct_slices(g), direct_pack(state, slice, o):
 * Pack slice ${slice} of direct_slices(g) of ${o}->weights into ${o}->w,
 * direct_weights(g) bytes.  ${state} is the struct direct.  Slices do not
 * overlap.
 */
int direct_slices(const struct direct *g);
void direct_pack(const void *state, int slice, const struct conv_buffers *o);

/*
 * direct_run(state, job, o):
 * Run job ${job} of all jobs of the struct direct ${state}.  The scratch of
 * ${o} has direct_scratch() bytes.
 */
void direct_run(const void *state, int job, const struct conv_buffers *o);

#endif
