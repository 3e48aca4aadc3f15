#ifndef TRAIN_AGREE_H
#define TRAIN_AGREE_H

/*
 * What must be the same: on every rank of a run, and in a run that goes on
 * where another stopped.  agree.c has the table of what is compared and when.
 */

#include "base/options.h"
#include "comm/comm.h"

/*
 * What there is to compare.  The texts are the owner's; NULL: not known, and
 * not compared.
 */
struct identity {
	const char *program;		/* hash of the executable file */
	const char *build;		/* "vt 0.1.0" */
	const char *isa;		/* "avx512" */
	const char *library;		/* "oneDNN 2.6.3", or "none" */
	const char *network;		/* its text */
	const char *checkpoint;		/* hash of the file that is evaluated */
	const char *classes;		/* hash of their names */
	const char *data, *val;		/* identities of the datasets */
	const char *schedule;		/* a hash of it */
	const char *order;		/* of sums */
	const char *settings;		/* as options_config(NULL) has them */
};

/*
 * agree_program(text): the hash of the executable file that runs, 32 digits;
 * "unknown" if it cannot be read.
 */
const char *agree_program(char text[33]);

/*
 * agree_ranks(c, mine):
 * Do all ranks say the same of all that must be the same on them?  Every rank
 * gets the answer: 0, or -1 after one message of rank 0 for the first thing
 * that differs: which rank, on which host, has which value.
 */
int agree_ranks(struct comm *c, const struct identity *mine);

/*
 * agree_resume(path, was, now, override):
 * May a run go on from checkpoint ${path}?  It may with another number of
 * ranks, other paths, other logging, but not with other data, another network
 * or another recipe: -1 after a message for each difference, with both values.
 * ${override} names those that the user allowed.
 */
int agree_resume(const char *path, const struct identity *was,
    const struct identity *now, const struct option_list *override);

/*
 * agree_recipe(): the settings in force that weights depend on, as a
 * configuration file, which checkpoints keep; the caller's to free.
 */
char *agree_recipe(void);

/*
 * agree_may_override(name): 1 if --override may name it: something that
 * agree_resume compares.  agree_overrides(b): append all such names, ", "
 * between.
 */
int agree_may_override(const char *name);
void agree_overrides(struct buffer *b);

#endif
