#ifndef TRAIN_OPTIM_OPTIMIZER_H
#define TRAIN_OPTIM_OPTIMIZER_H

/*
 * A table of optimizers: the state of each, the direction that it computes from
 * a gradient, its trust ratio for a layer, and its step.
 */

#include "train/optim/slots.h"

/* Settings of the user; each optimizer reads those that it has. */
struct optimizer_settings {
	double momentum, decay;
	int nesterov;
	double beta1, beta2, eps;	/* of the moments of adamw and lamb */
	double trust;			/* trust coefficient eta of LARS */
	int trust_clip;			/* 1: limit trust ratios to 1 */
};

enum { OPTIMIZER_SLOTS = 4 };		/* maximum slots of an optimizer */

/* The arguments of a step, for the elements that this rank owns. */
struct optim_pass {
	void *w;			/* weights */
	void *g;			/* the gradient or the direction */
	void *state[OPTIMIZER_SLOTS];	/* in order of the row; held elements
					 * only */
	double lr;
	double scale;			/* factor of the gradient; 0: take the
					 * factor of the found_inf check
					 * (device_step_guard) */
	const double *ratio;		/* [nparam] trust ratios in device
					 * memory; NULL: 1 */
	enum ratio_use use;		/* of the row */
	const struct owned_shard *shard;	/* with the factors of their
						 * groups */
	size_t shards;
};

/* A row of the table. */
struct optimizer {
	const char *name;
	/* state; a NULL name ends it */
	struct slot_kind slot[OPTIMIZER_SLOTS + 1];
	int counter;			/* index of the slot that counts steps;
					 * 0: none */
	/*
	 * Turn the gradient into a direction, in place.  NULL: it is one
	 * already.
	 */
	void (*direct)(const struct optimizer_settings *s, struct device *d,
	    const struct optim_pass *p);
	/*
	 * The trust ratio of a layer's weights.  Biases and parameters of
	 * normalization layers have 1.
	 */
	enum ratio_kind ratio;
	enum ratio_use use;		/* where it is a factor */
	/* Launch the step along p->g. */
	void (*step)(const struct optimizer_settings *s, struct device *d,
	    const struct optim_pass *p);
};

extern const struct optimizer optimizers[];	/* ends with a NULL name */

#define OPTIMIZER_NAMES "sgd|lars|lars-outside|adamw|lamb"

#endif
