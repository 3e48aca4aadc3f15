#ifndef TRAIN_OPTIM_H
#define TRAIN_OPTIM_H

/*
 * Stochastic gradient descent with momentum, over groups of parameters that
 * take the learning rate and the weight decay differently.
 *
 * Each rank updates the elements that it owns and then has the others' from
 * them, so that P ranks do not do P times the work, nor keep the optimiser's
 * state P times.
 */

#include "train/slots.h"
#include "train/tiles.h"

/* Factors on learning rate and decay for one kind of parameter. */
struct group { double lr, decay; };

/*
 * A rule says which group a parameter is in: weights, biases, and the scales
 * and offsets of normalisations; those of the classifier for themselves.
 */
struct group_rule {
	const char *name;
	struct group weight, bias, norm, head_weight, head_bias;
};

/*
 * tsm: as the TSM program's get_optim_policies: no decay on biases and norms,
 * twice the learning rate on biases, five and ten times on the classifier.
 * tsm-fine: the same without the classifier's five times (fine-tuning).
 * plain: decay on weights and biases, none on norms (PySlowFast).
 */
extern const struct group_rule group_rules[];	/* ends with a NULL name */

const struct group_rule *group_rule_find(const char *name);
struct group group_of(const struct group_rule *r, const struct param *p);

struct optim;
struct optim_part;

/*
 * An optimiser is a row of a table: what it keeps (train/slots.h), and how it
 * changes the elements of a parameter.
 */
struct optimizer {
	const char *name;
	struct slot_kind slot[SLOTS_MOST + 1];
	void (*step)(const struct optim *o, struct device *d,
	    const struct optim_part *p);
};

extern const struct optimizer optimizers[];	/* ends with a NULL name */

/* Elements of one parameter that this rank owns. */
struct optim_part {
	const struct param *param;
	size_t n;
	void *w;
	const void *g;
	void *state[SLOTS_MOST];	/* in order of the row */
	double lr, decay;		/* with the factors of its group */
	double scale;			/* the gradient is multiplied by it */
};

struct optim {
	const struct optimizer *kind;	/* NULL: the first one */
	const struct group_rule *rule;
	double momentum, decay;
	int nesterov;
	double clip;			/* largest gradient norm; 0: any */

	double waited;			/* seconds of the last step, for other
					 * ranks */
	struct slots slots;
	struct tiles tiles;
	const struct segments *share;
	struct segments alone;		/* if no share was given */
	struct comm *self;
};

/*
 * optim_open(o, n, share): everything but the settings; the slots with their
 * first values.  ${share} says which elements this rank updates, and must
 * outlive ${o}; NULL: all of them.  -1 after a message.
 */
int optim_open(struct optim *o, const struct net *n,
    const struct segments *share);
void optim_close(struct optim *o);

/*
 * optim_step(o, n, g, scale, lr, norm):
 * One step on the mean gradient ${g} * ${scale}, of which this rank needs the
 * elements that it owns; running statistics are tracked.  All ranks call it,
 * and have all new weights then, the same bits for any number of ranks.
 * ${*norm} is the norm of the mean gradient before clipping (Pascanu et al.
 * 2013, as PyTorch's clip_grad_norm_).  Return 0; or, on all ranks and with
 * nothing changed, OPTIM_GRADIENT if the norm is not finite, OPTIM_STATISTICS if
 * a mean or variance of the step is not; or OPTIM_LOST if another rank cannot be
 * reached.
 */
enum { OPTIM_GRADIENT = 1, OPTIM_STATISTICS, OPTIM_LOST };

int optim_step(struct optim *o, struct net *n, const void *g, double scale,
    double lr, double *norm);

/* optim_finite(o, n): on all ranks, weights, running statistics and slots are;
 * all ranks call it.  -1 if another rank cannot be reached. */
int optim_finite(struct optim *o, const struct net *n);

#endif
