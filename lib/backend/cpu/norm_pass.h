#ifndef BACKEND_CPU_NORM_PASS_H
#define BACKEND_CPU_NORM_PASS_H

/*
 * The state of one pass of an fp32 normalization over its planes: forward,
 * backward or recomputing.  Its functions locate planes in unshifted and
 * shifted activations.  norm.c runs the pass.
 */

#include "backend/cpu/norm.h"

/* A pass.  L is cpu_lanes(); row is the channels, padded. */
struct norm_pass {
	const struct norm *n;
	struct task *bn;
	const struct dims *d;
	const struct norm_kernels *k;
	int recompute;			/* recompute: write recomputed outputs
					 * only */
	int row, blocks, images;	/* row: channels, padded */
	size_t hw;
	float *mean, *rstd;		/* [row]; frozen norm: mean is zeros and
					 * rstd NULL */
	uint16_t *mask;			/* [images][blocks][hw]; NULL if the
					 * chain saves none */
	float *dropped;			/* [clips][shifted blocks][hw][L]: saved
					 * planes that the shift drops */
	float *p, *q;			/* [images][row]: the two sums of each
					 * plane */
	float *scale, *offset;		/* [row]: y = x scale + offset */
	float *a, *b, *c;		/* [row]: dx = v a + x b + c, v the
					 * gradient of y */
	float *zeros;			/* one plane */
	double *sync;			/* [2][channels], with peers: sums here,
					 * then those over all ranks */
};

/* norm_plane_floats(d): return the floats of a plane, hw * L. */
size_t norm_plane_floats(const struct dims *d);

/*
 * norm_saved(t), norm_scratch(t):
 * The functions saved and scratch of struct op_impl, in bytes.
 */
size_t norm_saved(const struct task *t);

/* norm_dropped(t): return the dropped planes that ${t} has saved. */
float *norm_dropped(const struct task *t);
size_t norm_scratch(const struct task *t);

/*
 * norm_open(t):
 * Return the state of a pass of ${t}.  Its arrays point into the saved and the
 * scratch memory of ${t}, which this function does not initialize.
 */
struct norm_pass norm_open(struct task *t);

/*
 * norm_channels_to(s, b): return one more than the last channel of block ${b}.
 */
int norm_channels_to(const struct norm_pass *s, int b);

/*
 * norm_plane(s, x, i):
 * Return plane ${i} of the activation ${x}: block i % blocks of image i /
 * blocks.
 */
float *norm_plane(const struct norm_pass *s, const void *x, int i);

/*
 * norm_sums_at(s, i): return the index of the L sums of plane ${i} in p and q.
 */
size_t norm_sums_at(const struct norm_pass *s, int i);

/*
 * norm_shifted_plane(s, shift, shifted, i):
 * Return the plane of ${shifted} that plane ${i} moves to, or NULL if ${shift}
 * drops it.  All channels of its block must move alike.
 */
float *norm_shifted_plane(const struct norm_pass *s,
    const struct task *shift, const void *shifted, int i);

/*
 * norm_lanes_of(shift, b, m):
 * Set the lane masks of ${m} for block ${b}: lanes that ${shift} takes from the
 * next frame, from the previous one, and from the same one.  Return 1 if the
 * block takes lanes from more than one frame.
 */
int norm_lanes_of(const struct task *shift, int b, struct norm_mix *m);

/*
 * norm_mix_planes(s, x, i, sign, m):
 * Set the source planes of ${m} for plane ${i} of ${x}: the next frame, the
 * previous one and the same one.  ${sign} -1 exchanges next and previous, for a
 * gradient.  Beyond the ends of the clip a source is a plane of zeros.
 */
void norm_mix_planes(const struct norm_pass *s, const void *x, int i,
    int sign, struct norm_mix *m);

/*
 * norm_dropped_plane(s, shift, side, i):
 * Return the position in ${side} of plane ${i}, which ${shift} drops.  ${side}
 * is an array of dropped planes, laid out as s->dropped.
 */
float *norm_dropped_plane(const struct norm_pass *s, const struct task *shift,
    float *side, int i);

/*
 * norm_clear_end(s, i):
 * Clear the plane of the shifted activation to which nothing moves because the
 * shift drops plane ${i}.  It is at the other end of the clip.
 */
void norm_clear_end(const struct norm_pass *s, int i);

/*
 * The parts of a pass for the channels of block ${b}, to run after the sums of
 * all planes; ${arg} is the struct norm_pass, and ${thread} is not used.
 *
 * norm_combine_part	combine the statistics of the planes.  With peers, pack
 *			them into s->sync for the sum over ranks
 * norm_unpack_part	unpack the statistics of all ranks
 * norm_running_part	take the running statistics
 * norm_factors_part	compute the parameter gradients and s->a, b, c
 * norm_unpack_factors_part
 *			unpack the sums of all ranks, then compute s->a, b, c
 *
 * norm_measures(bn): return 1 if mean and variance come from the microbatch.
 * norm_is_synced(bn): return 1 if they are summed over its peers, too.
 * norm_set_scale(s, b): set s->scale and s->offset of block ${b} from the
 * microbatch or, for a frozen norm, from the running statistics.
 */
int norm_measures(const struct task *bn);
int norm_is_synced(const struct task *bn);
void norm_combine_part(int b, int thread, void *arg);
void norm_unpack_part(int b, int thread, void *arg);
void norm_running_part(int b, int thread, void *arg);
void norm_set_scale(const struct norm_pass *s, int b);
void norm_factors_part(int b, int thread, void *arg);
void norm_unpack_factors_part(int b, int thread, void *arg);

#endif
