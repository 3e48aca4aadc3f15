#ifndef CMD_OPTIONS_OPTIMIZER_H
#define CMD_OPTIONS_OPTIMIZER_H

/* Options of the optimizer (train/optim/optim.h); vt-train(1) explains them. */

#include "train/settings.h"

#include "common.h"

/* The rows of a struct settings ${o}. */
#define OPTION_OPTIMIZER(o) \
	OPTION_HEADING("Optimizer"), \
	{ 0, "optimizer", OPTION_CHOICE, &(o).optimizer, "NAME", \
	    "use sgd, lars, lars-outside, adamw or lamb (%)", \
	    OPTIMIZER_NAMES, 0, 0, OPTION_COMMON }, \
	{ 0, "momentum", OPTION_REAL, &(o).optimizing.momentum, "X", \
	    "set the momentum of sgd and lars (%)", NULL, 0, 0.99999, 0 }, \
	{ 0, "nesterov", OPTION_FLAG, &(o).optimizing.nesterov, NULL, \
	    "use Nesterov momentum with sgd", NULL, 0, 0, 0 }, \
	{ 0, "beta1", OPTION_REAL, &(o).optimizing.beta1, "X", \
	    "adamw, lamb: set the decay of the mean (%)", \
	    NULL, 0, 0.99999, 0 }, \
	{ 0, "beta2", OPTION_REAL, &(o).optimizing.beta2, "X", \
	    "adamw, lamb: set the mean square's decay (%)", \
	    NULL, 0, 0.9999999, 0 }, \
	{ 0, "epsilon", OPTION_REAL, &(o).optimizing.eps, "X", \
	    "adamw, lamb: set the term added to the root (1e-8)", NULL, 0, 1, 0 }, \
	{ 0, "trust-coefficient", OPTION_REAL, &(o).optimizing.trust, "X", \
	    "set the trust coefficient of lars (%)", NULL, 0, 100, 0 }, \
	{ 0, "trust-clip", OPTION_FLAG, &(o).optimizing.trust_clip, NULL, \
	    "lars, lamb: never enlarge a step by its trust ratio", \
	    NULL, 0, 0, 0 }, \
	{ 0, "weight-decay", OPTION_REAL, &(o).optimizing.decay, "X", \
	    "set the weight decay (%)", \
	    NULL, 0, 1, OPTION_COMMON }, \
	{ 0, "clip-grad", OPTION_REAL, &(o).clip_grad, "NORM", \
	    "clip the gradient norm (%: off)", \
	    NULL, 0, 1e9, OPTION_COMMON }, \
	{ 0, "clip-value", OPTION_REAL, &(o).clip_value, "X", \
	    "clip each element of the gradient (%: off)", \
	    NULL, 0, 1e9, 0 }, \
	{ 0, "loss-scale", OPTION_TEXT, &(o).loss_scale, "X", \
	    "multiply the loss by X, or dynamic (fp16: dynamic)", \
	    "dynamic|X", 0, 0, 0 }, \
	{ 0, "ema", OPTION_REAL, &(o).ema, "DECAY", \
	    "keep a moving average of the weights (%: off)", \
	    NULL, 0, 0.9999999, 0 }, \
	{ 0, "use-ema", OPTION_FLAG, &(o).use_ema, NULL, \
	    "validate or --export the average of --ema", \
	    NULL, 0, 0, RESUME_VALIDATION }, \
	{ 0, "shard-optimizer", OPTION_FLAG, &(o).shard_optimizer, NULL, \
	    "shard updates and optimizer state (exact: always)", \
	    NULL, 0, 0, RESUME_BITS }, \
	{ 0, "label-smoothing", OPTION_REAL, &(o).label_smoothing, "X", \
	    "smooth labels by X (as the network says)", \
	    NULL, 0, 0.999, 0 }, \
	{ 0, "param-groups", OPTION_TEXT, &(o).param_groups, "RULE", \
	    "choose lr and decay: tsm, tsm-fine, plain, all (%)", \
	    "tsm|tsm-fine|plain|all", 0, 0, 0 }, \
	{ 0, "dropout", OPTION_REAL, &(o).dropout, "P", \
	    "set the dropout of the network (-1: as it says)", \
	    NULL, -1, 0.999, 0 }, \
	{ 0, "classifier-std", OPTION_REAL, &(o).classifier_std, "X", \
	    "set the deviation of the classifier's first weights", \
	    NULL, 0, 1, RESUME_START }

#endif
