#ifndef TRAIN_OPTIMIZER_H
#define TRAIN_OPTIMIZER_H

/*
 * How a gradient becomes a step, as a row of a table: what an optimiser keeps,
 * which direction it makes of the gradient, by what it scales the step of a
 * layer, and the step.
 */

#include "train/slots.h"

/* What the user set; an optimiser reads what it knows of. */
struct optimizer_settings {
	double momentum, decay;
	int nesterov;
	double beta1, beta2, eps;	/* of the moments of adamw and lamb */
	double trust;			/* LARS' coefficient, eta */
	int trust_clip;			/* a trust ratio never enlarges a step */
};

enum { OPTIMIZER_SLOTS = 4 };		/* at most */

/* Elements of one parameter that this rank owns. */
struct optim_part {
	const struct param *param;
	size_t n;
	void *w;
	void *g;			/* the gradient, or the direction */
	void *state[OPTIMIZER_SLOTS];	/* in order of the row */
	double lr, decay;		/* with the factors of its group */
	double scale;			/* the gradient is multiplied by it */
	double trust;			/* the trust ratio of its layer */
};

/* A layer, over all ranks: learning rate and decay as above, and the norms of
 * its weights and of its mean gradient or direction. */
struct optim_layer { double lr, decay, w, d; };

struct optimizer {
	const char *name;
	struct slot_kind slot[OPTIMIZER_SLOTS + 1];
	int counter;			/* the slot that counts steps; 0: none */
	/* The gradient becomes a direction, in place; NULL: it is one. */
	void (*direct)(const struct optimizer_settings *s, struct device *d,
	    const struct optim_part *p);
	/* The trust ratio of a layer of weights; NULL: 1.  Biases and what a
	 * normalisation has always have 1. */
	double (*trust)(const struct optimizer_settings *s,
	    const struct optim_layer *l);
	void (*step)(const struct optimizer_settings *s, struct device *d,
	    const struct optim_part *p);
};

extern const struct optimizer optimizers[];	/* ends with a NULL name */

/* optimizer_find(name): NULL after a message. */
const struct optimizer *optimizer_find(const char *name);

#define OPTIMIZER_NAMES "sgd|lars|lars-outside|adamw|lamb"

#endif
