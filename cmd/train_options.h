#ifndef CMD_TRAIN_OPTIONS_H
#define CMD_TRAIN_OPTIONS_H

/* The options of vt-train; vt-train(1) explains them. */

#include <stdint.h>

#include "base/options.h"
#include "train/modes.h"

#include "options/clips.h"
#include "options/learners.h"
#include "options/optimizer.h"
#include "options/sums.h"

/* The choices of --loss. */
#define LOSS_NAMES "softmax|sigmoid|focal"
enum { FOCAL = 2 };

/* Fields have the names of their options, or a comment.  A text is NULL if it
 * was not set. */
struct train_options {
	const char *config;
	/* what to train */
	const char *data, *model, *schedule, *init, *flips;
	const char *root, *fps;
	int64_t short_side;
	int on_error;			/* 1: skip */
	struct fraction rate;		/* --fps */
	int loss, init_partial;
	double focal_gamma;
	const char *class_weight;
	double balance;
	struct option_list freeze;
	int64_t seed;
	struct clip_settings clips;
	struct optimizer_options optimizing;
	int running;			/* --bn-running; 1: aggregate */
	struct learner_settings learners;
	/* validation */
	const char *val;
	int validates;			/* the run validates, also a run that is
					 * replayed */
	double val_every;
	int64_t val_frames, val_crop;
	const char *precise;		/* --precise-bn */
	int64_t precise_clips;		/* --precise-bn in clips, or
					 * PRECISE_AUTO
					 * (train/loop/precise.h) */
	/* the run */
	const char *out, *resume;
	struct option_list override;
	double save_every, stop_after, max_loss, step_timeout;
	int64_t save_steps, keep, log_every;
	int keep_best, tensorboard;
	const char *on_nan, *on_corrupt;
	int64_t skips;			/* steps that --on-nan lets fail */
	double corrupt;			/* part of the samples that --on-corrupt
					 * lets fail; -1: none */
	int64_t audit;
	int audit_report;
	const char *replay, *steps;
	/* instead of a run */
	const char *status, *export, *names;
	int uses_run;			/* one of these three is set */
	int dry_run, time, parity;
	/* machine */
	const char *device, *trace;
	int precision, autotune, fuse;
	const char *stage, *stage_command;
	const char *loading;		/* --loader-threads */
	int64_t threads, loader_threads, loader_memory;	/* loader_threads 0:
							 * auto */
	struct sum_settings sums;
	int progress, quiet, verbose;

	struct modes modes;		/* of all options above */
};

/*
 * train_options_read(argc, argv):
 * Read and check the options of a command line, and permute it as getopt does.
 * Wrong use ends the program after a message.  With ${uses_run} no further
 * option is checked.  Return a static struct, which the caller may change.
 */
struct train_options *train_options_read(int *argc, char ***argv);

#endif
