#ifndef BACKEND_CPU_NORM_PASS_H
#define BACKEND_CPU_NORM_PASS_H

/*
 * The planes of a normalisation: where each lies, also in a shifted activation,
 * and the sums and factors that a pass keeps for them.
 */

#include "backend/cpu/norm.h"

/* What all planes of a pass share. */
struct norm_pass {
	const struct norm *n;
	struct task *bn;
	const struct dims *d;
	const struct norm_kernels *k;
	int again;			/* only what is remade is written */
	int row, blocks, images;	/* row: channels, padded */
	size_t hw;
	float *mean, *rstd;		/* [row]; of a frozen norm 0 and none */
	uint16_t *mask;			/* [images][blocks][hw]; NULL: none */
	float *side;			/* [clips][shifted blocks][hw][lanes] */
	float *p, *q;			/* [images][row] */
	float *scale, *offset;		/* [row]: y = x scale + offset */
	float *a, *b, *c;		/* [row]: dx = v a + x b + c */
	float *zeros;			/* a plane */
	double *told;			/* [2][channels], with peers */
};

/* Numbers of a plane. */
size_t norm_plane_floats(const struct dims *d);
/* As struct op_impl: bytes saved, and of scratch. */
size_t norm_saved(const struct task *t);
/* The planes beside that the task has saved. */
float *norm_sides(const struct task *t);
size_t norm_scratch(const struct task *t);
/* norm_open(t): what the planes of a pass share. */
struct norm_pass norm_open(struct task *t);
/* The channels of block ${b} that are real end here. */
int norm_channels_to(const struct norm_pass *s, int b);
/* Part i of a loop over planes: image i / blocks, block i % blocks. */
float *norm_plane(const struct norm_pass *s, const void *x, int i);
/* Where the two sums of plane ${i} are in p and q. */
size_t norm_sums_at(const struct norm_pass *s, int i);
/* Where ${shifted} has plane ${i}; NULL if the shift drops it. */
float *norm_shifted_plane(const struct norm_pass *s,
    const struct task *shift, const void *shifted, int i);
/*
 * The lanes of block ${b} that the shift takes from frames ahead, behind and
 * from their own; 1 if more than one of the three has any.
 */
int norm_lanes_of(const struct task *shift, int b, struct norm_mix *m);
/* Plane ${i} of frames ahead, behind and its own; zeros beyond the clip. */
void norm_mix_planes(const struct norm_pass *s, const void *x, int i,
    int sign, struct norm_mix *m);
/* Where a dropped plane ${i} is kept. */
float *norm_side_plane(const struct norm_pass *s, const struct task *shift,
    float *side, int i);
/* A dropped plane leaves one at the clip's other end: clear it. */
void norm_clear_end(const struct norm_pass *s, int i);

/*
 * Parts of a pass, of the channels of block ${b}, once their planes are summed
 * up; ${arg} is the pass (norm_join.c).
 *
 * norm_measures(bn): mean and variance are those of the microbatch; ${told} has
 * what its peers are told of them, norm_tells(bn).  Then norm_join_part joins
 * its planes, and norm_heard_part takes the statistics of all peers; where they
 * are fixed, norm_past_part takes those of the past.
 * norm_set_scale(s, b): y = x scale + offset, from the batch's statistics or
 * the running ones.
 * norm_factors_part: those of the backward pass, and gradients; with peers,
 * norm_heard_factors_part those.
 */
int norm_measures(const struct task *bn);
int norm_tells(const struct task *bn);
void norm_join_part(int b, int thread, void *arg);
void norm_heard_part(int b, int thread, void *arg);
void norm_past_part(int b, int thread, void *arg);
void norm_set_scale(const struct norm_pass *s, int b);
void norm_factors_part(int b, int thread, void *arg);
void norm_heard_factors_part(int b, int thread, void *arg);

#endif
