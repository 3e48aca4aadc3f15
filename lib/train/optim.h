#ifndef TRAIN_OPTIM_H
#define TRAIN_OPTIM_H

/*
 * Stochastic gradient descent with momentum, over groups of parameters that
 * take the learning rate and the weight decay differently.
 */

#include "net/net.h"

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

struct optim {
	const struct group_rule *rule;
	double momentum, decay;
	int nesterov;
	double clip;			/* largest gradient norm; 0: any */
	void *m;			/* momentum, as the parameters lie */
};

/* optim_open(o, n): momentum of zeros for net ${n}; -1 after a message. */
int optim_open(struct optim *o, const struct net *n);
void optim_close(struct optim *o, const struct net *n);

/*
 * optim_step(o, n, g, scale, lr, norm):
 * One step on the mean gradient ${g} * ${scale}; running statistics are
 * tracked.  ${*norm} is the norm of the mean gradient before clipping (Pascanu
 * et al. 2013, as PyTorch's clip_grad_norm_).  Return 0; or, with nothing
 * changed, OPTIM_GRADIENT if the norm is not finite, OPTIM_STATISTICS if a mean
 * or variance of the step is not.
 */
enum { OPTIM_GRADIENT = 1, OPTIM_STATISTICS };

int optim_step(struct optim *o, struct net *n, const void *g, double scale,
    double lr, double *norm);

/* optim_finite(o, n): weights, running statistics and momentum are. */
int optim_finite(const struct optim *o, const struct net *n);

#endif
