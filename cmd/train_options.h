#ifndef CMD_TRAIN_OPTIONS_H
#define CMD_TRAIN_OPTIONS_H

/* The options of vt-train; vt-train(1) explains them. */

#include <stdint.h>

#include "base/options.h"
#include "train/settings.h"

#include "options/clips.h"
#include "options/learners.h"
#include "options/optimizer.h"
#include "options/sums.h"
#include "options/train_schedule.h"

/* Fields have the names of their options, or a comment.  A text is NULL if it
 * was not set. */
struct train_options {
	struct settings set;		/* of the run */
	const char *config, *recipe;
	const char *replay, *replay_steps, *trace_samples;
	int dry_run, time, parity;
	struct train_schedule by;	/* numbers of a run without
					 * --schedule */
	char *run_schedule;		/* of the resumed run, without
					 * --schedule; NULL: none */
	/* instead of a run */
	const char *status, *export, *names;
	int uses_run;			/* one of these three is set */
	int progress, quiet, verbose;
};

/*
 * train_options_read(argc, argv):
 * Read and check the options of a command line, and permute it as getopt does.
 * Wrong use ends the program after a message.  With ${uses_run} no further
 * option is checked.  Return a static struct, which the caller may change.
 */
struct train_options *train_options_read(int *argc, char ***argv);

#endif
