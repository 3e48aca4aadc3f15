#ifndef EVAL_RESCORE_H
#define EVAL_RESCORE_H

/* Make the outputs of an evaluation from its score files. */

#include "eval/fusion.h"

/* Score files, and what to do with them. */
struct rescore {
	struct option_list file;	/* at least one */
	int fusion;			/* enum fusion; for several files */
	const char *weights;		/* "1:1.5"; NULL: all alike */
	int fit;			/* 1: print the best weights */
	const char *data;		/* the dataset, for a contact sheet;
					 * NULL: none */
	const struct results_files *outputs;
	const char *output;		/* path of the main output; NULL:
					 * standard output */
	int json;
};

/*
 * rescore_run(r):
 * Read the score files, combine them if there are several, and write all
 * outputs; or print the best weights as options of vt-eval.  Return 0, or an
 * exit status after a message.
 */
int rescore_run(const struct rescore *r);

#endif
