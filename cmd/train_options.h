#ifndef CMD_TRAIN_OPTIONS_H
#define CMD_TRAIN_OPTIONS_H

/* The options of vt-train, which vt-train(1) explains. */

#include <stdint.h>

#include "base/options.h"
#include "train/modes.h"

#include "options/clips.h"
#include "options/learners.h"
#include "options/optimizer.h"
#include "options/sums.h"

/* As the options are called; a text is NULL where it was not set. */
struct train_options {
	const char *config;
	/* what to train */
	const char *data, *model, *schedule, *init, *flips;
	int loss, init_partial;
	struct option_list freeze;
	int64_t seed;
	struct clip_settings clips;
	struct optimizer_options optimizing;
	int running;			/* --bn-running */
	struct learner_settings learners;
	/* validation */
	const char *val;
	int validates;			/* the run does, that is replayed, too */
	double val_every;
	int64_t val_frames, val_crop;
	const char *precise;		/* --precise-bn */
	int64_t precise_clips;		/* clips, or PRECISE_AUTO
					 * (train/loop/precise.h) */
	/* the run */
	const char *out, *resume;
	struct option_list override;
	double save_every, stop_after, max_loss, step_timeout;
	int64_t save_steps, keep, log_every;
	int keep_best, tensorboard;
	const char *on_nan, *on_corrupt;
	int64_t skips;			/* that --on-nan allows */
	double corrupt;			/* rate that --on-corrupt allows */
	int64_t audit;
	int audit_report;
	const char *replay, *steps;
	/* instead of a run */
	const char *status, *export, *names;
	int uses_run;			/* one of those three is set */
	int dry_run, time, parity;
	/* machine */
	const char *device, *trace;
	int precision, autotune, fuse;
	int64_t threads, loader_threads, loader_memory;
	struct sum_settings sums;
	int progress, quiet, verbose;

	struct modes modes;		/* all that the above ask for */
};

/*
 * train_options_read(argc, argv):
 * The options of a command line, which is moved as getopt does; dies of wrong
 * use.  Of what is asked of a run that there is (uses_run) nothing is checked.
 * What is returned may be changed and is not to be freed.
 */
struct train_options *train_options_read(int *argc, char ***argv);

#endif
