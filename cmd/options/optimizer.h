#ifndef CMD_OPTIONS_OPTIMIZER_H
#define CMD_OPTIONS_OPTIMIZER_H

/* Options of the optimizer (train/optim/optim.h); vt-train(1) explains them. */

#include "base/options.h"
#include "train/optim/optimizer.h"

struct optimizer_options {
	int optimizer;			/* a row of optimizers[] */
	struct optimizer_settings set;
	double clip, clip_value;	/* 0: never */
	const char *loss_scale;		/* as it was typed; NULL: by
					 * precision */
	double ema;			/* 0: no average is kept */
	int use_ema, sharded;
	double smoothing;
	const char *groups;
};

/* The defaults. */
#define OPTIMIZER_OPTIONS { .set = { .momentum = 0.9, .decay = 1e-4, \
	.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .trust = 0.001 }, \
	.groups = "tsm" }

/* The rows of a struct optimizer_options ${o}. */
#define OPTION_OPTIMIZER(o) \
	OPTION_HEADING("Optimizer"), \
	{ 0, "optimizer", OPTION_CHOICE, &(o).optimizer, "NAME", \
	    "use sgd, lars, lars-outside, adamw or lamb (sgd)", \
	    OPTIMIZER_NAMES, 0, 0, OPTION_COMMON }, \
	{ 0, "momentum", OPTION_REAL, &(o).set.momentum, "X", \
	    "set the momentum of sgd and lars (0.9)", NULL, 0, 0.99999, 0 }, \
	{ 0, "nesterov", OPTION_FLAG, &(o).set.nesterov, NULL, \
	    "use Nesterov momentum with sgd", NULL, 0, 0, 0 }, \
	{ 0, "beta1", OPTION_REAL, &(o).set.beta1, "X", \
	    "adamw, lamb: set the decay of the mean (0.9)", \
	    NULL, 0, 0.99999, 0 }, \
	{ 0, "beta2", OPTION_REAL, &(o).set.beta2, "X", \
	    "adamw, lamb: set the mean square's decay (0.999)", \
	    NULL, 0, 0.9999999, 0 }, \
	{ 0, "epsilon", OPTION_REAL, &(o).set.eps, "X", \
	    "adamw, lamb: set the term added to the root (1e-8)", NULL, 0, 1, 0 }, \
	{ 0, "trust-coefficient", OPTION_REAL, &(o).set.trust, "X", \
	    "set the trust coefficient of lars (0.001)", NULL, 0, 100, 0 }, \
	{ 0, "trust-clip", OPTION_FLAG, &(o).set.trust_clip, NULL, \
	    "lars, lamb: never enlarge a step by its trust ratio", \
	    NULL, 0, 0, 0 }, \
	{ 0, "weight-decay", OPTION_REAL, &(o).set.decay, "X", \
	    "set the weight decay (0.0001)", \
	    NULL, 0, 1, OPTION_COMMON }, \
	{ 0, "clip-grad", OPTION_REAL, &(o).clip, "NORM", \
	    "clip the gradient norm (0: off)", \
	    NULL, 0, 1e9, OPTION_COMMON }, \
	{ 0, "clip-value", OPTION_REAL, &(o).clip_value, "X", \
	    "clip each element of the gradient (0: off)", \
	    NULL, 0, 1e9, 0 }, \
	{ 0, "loss-scale", OPTION_TEXT, &(o).loss_scale, "X", \
	    "multiply the loss by X, or dynamic (fp16: dynamic)", \
	    "dynamic|X", 0, 0, 0 }, \
	{ 0, "ema", OPTION_REAL, &(o).ema, "DECAY", \
	    "keep a moving average of the weights (0: off)", \
	    NULL, 0, 0.9999999, 0 }, \
	{ 0, "use-ema", OPTION_FLAG, &(o).use_ema, NULL, \
	    "validate or --export the average of --ema", \
	    NULL, 0, 0, 0 }, \
	{ 0, "shard-optimizer", OPTION_FLAG, &(o).sharded, NULL, \
	    "shard updates and optimizer state (exact: always)", \
	    NULL, 0, 0, 0 }, \
	{ 0, "label-smoothing", OPTION_REAL, &(o).smoothing, "X", \
	    "smooth labels by X (as the network says)", \
	    NULL, 0, 0.999, 0 }, \
	{ 0, "param-groups", OPTION_TEXT, &(o).groups, "RULE", \
	    "choose lr and decay: tsm, tsm-fine, plain (tsm)", \
	    "tsm|tsm-fine|plain", 0, 0, 0 }

/*
 * optimizer_options_scale(o): return the loss scale; -1: dynamic, 0: by
 * precision.  End the program if --loss-scale is neither dynamic nor in range.
 */
double optimizer_options_scale(const struct optimizer_options *o);

#endif
