#ifndef TRAIN_OPTIM_OPTIMIZER_H
#define TRAIN_OPTIM_OPTIMIZER_H

/*
 * How a gradient becomes a step, as a row of a table: what an optimiser keeps,
 * which direction it makes of the gradient, by what it scales the step of a
 * layer, and the step.
 */

#include "train/optim/slots.h"

/* What the user set; an optimiser reads what it knows of. */
struct optimizer_settings {
	double momentum, decay;
	int nesterov;
	double beta1, beta2, eps;	/* of the moments of adamw and lamb */
	double trust;			/* LARS' coefficient, eta */
	int trust_clip;			/* a trust ratio never enlarges a step */
};

enum { OPTIMIZER_SLOTS = 4 };		/* at most */

/* A step of what this rank owns of all that is trained. */
struct optim_pass {
	void *w;
	void *g;			/* the gradient, or the direction */
	void *state[OPTIMIZER_SLOTS];	/* in order of the row; elements are of
					 * what is held */
	double lr;
	double scale;			/* the gradient is multiplied by it; 0:
					 * by the verdict's (device_obey) */
	const double *ratio;		/* of layers, on the device; NULL: 1 */
	const struct portion *portion;	/* with the factors of their groups */
	size_t portions;
};

struct optimizer {
	const char *name;
	struct slot_kind slot[OPTIMIZER_SLOTS + 1];
	int counter;			/* the slot that counts steps; 0: none */
	/* The gradient becomes a direction, in place; NULL: it is one. */
	void (*direct)(const struct optimizer_settings *s, struct device *d,
	    const struct optim_pass *p);
	/* The trust ratio of a layer of weights.  Biases and what a
	 * normalisation has always have 1. */
	enum ratio_kind ratio;
	void (*step)(const struct optimizer_settings *s, struct device *d,
	    const struct optim_pass *p);
};

extern const struct optimizer optimizers[];	/* ends with a NULL name */

#define OPTIMIZER_NAMES "sgd|lars|lars-outside|adamw|lamb"

#endif
