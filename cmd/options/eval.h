#ifndef CMD_OPTIONS_EVAL_H
#define CMD_OPTIONS_EVAL_H

/* The options of vt-eval; vt-eval(1) explains them. */

#include <stdint.h>

#include "base/options.h"
#include "eval/curves.h"
#include "eval/packed.h"
#include "eval/predict.h"
#include "eval/rescore.h"

/* Fields have the names of their options, or a comment.  A text is NULL if it
 * was not set. */
struct eval_options {
	const char *config, *recipe, *network, *classes, *data, *output;
	const char *device;
	struct option_list checkpoints, curves;
	struct option_list lists;	/* --files-from */
	struct results_files files;	/* outputs of a packed dataset */
	struct extract_options how;	/* which videos are used */
	struct view_overrides views;
	struct rescore rescore;		/* --rescore and --fusion */
	int known;
	int use_ema, zero, precision, json, force, quiet, verbose, progress;
	int curve_over;
	int64_t threads, top, sheet_samples;
	double step_timeout, curve_target;
};

/*
 * eval_options_read(argc, argv, operand):
 * Read the options of a command line, permute it as getopt does, and set
 * ${*operand} to the first operand.  Check the options of --rescore, whose
 * operands are added to its files, or of --curve.  Wrong use ends the program
 * after a message.  Return a static struct, which the caller may change.
 */
struct eval_options *eval_options_read(int argc, char **argv, int *operand);

/*
 * eval_options_is_dataset():
 * Return 1 if --data names a packed dataset, 0 if it names a stream or is not
 * set.
 */
int eval_options_is_dataset(void);

/*
 * eval_options_refuse_ranks(what):
 * Refuse to do ${what} on several ranks, before they connect: no other rank
 * waits for one that exits later.
 */
void eval_options_refuse_ranks(const char *what);

#endif
