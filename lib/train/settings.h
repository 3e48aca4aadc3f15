#ifndef TRAIN_SETTINGS_H
#define TRAIN_SETTINGS_H

/*
 * The settings of a training run, with their defaults.  The option rows of
 * vt-train point into the struct, and vt-schedule --check plans with it.
 * Members have the names of their options in vt-train(1), or a comment.  A text
 * is NULL if it is not set.
 *
 * session_open derives the rest once from settings, schedule and data: how
 * clips are loaded, the shape of validations, the loss scale
 * (train/loop/trainer.h).
 */
#include <stdint.h>

#include "base/number.h"
#include "base/options.h"
#include "train/loop/precise.h"
#include "train/loop/views.h"
#include "train/modes.h"
#include "train/optim/optimizer.h"
#include "train/reduce/sums.h"

/* The choices of --loss. */
#define LOSS_NAMES "softmax|sigmoid|focal"
enum { FOCAL = 2 };

/* The choices of --keep-best. */
#define BEST_NAMES "top1|loss|none|map"

/* The choices of --autotune.  CHOOSE_AUTO autotunes if the order of sums is
 * free (FAST). */
enum { CHOOSE_AUTO, CHOOSE_RULE, CHOOSE_FASTEST };

/*
 * Optimizer state after an average: the mean over learners, initial values, or
 * unchanged in each learner.
 */
enum average_state { STATE_AVERAGE, STATE_RESET, STATE_KEEP };

/* Options for videos, which are packed (train/loop/videos.h). */
struct video_settings {
	const char *root;		/* NULL: the current directory */
	const char *group;		/* column of a list; NULL: none */
	struct fraction fps;		/* 0/0: every frame */
	int64_t short_side;
	int skip;			/* --on-error=skip */
	const char *cache;		/* directory of the sets; NULL: the
					 * run's */
	const char *given;		/* the first such option, which packed
					 * sets do not take; NULL: none */
};

/* Settings of K-step averaging (train/learn/learners.h); see vt-train(1). */
struct learner_settings {
	int64_t n;			/* number of learners; 0: none */
	int64_t every;			/* steps between averages */
	enum average_state state;	/* of the optimizer, at an average */
	int noise;			/* 1: log the noise scale */
	int64_t grow;			/* largest factor on the batch */
	int64_t grow_by, grow_after;	/* factor; consecutive averages */
	double grow_above;		/* growth if noise scale / batch exceeds
					 * it */
};

/* The defaults. */
#define LEARNER_SETTINGS { .every = 8, .grow_by = 2, .grow_after = 3, \
	.grow_above = 1 }

struct settings {
	/* what to train */
	const char *data, *model, *schedule;	/* model: a path or a name */
	/* Returns the table of a run without ${schedule}, for its training data
	 * and ${schedule_how}, and ${says} how it is made. */
	char *(*make_schedule)(const struct dataset *train, const void *how,
	    int says);
	const void *schedule_how;
	int by_rule;			/* 1: without --schedule */
	const char *init, *flip_swap;
	struct video_settings videos;
	const char *fps;		/* of videos, as it was typed */
	int loss, init_partial;
	double focal_gamma;
	const char *class_weight;	/* "inverse:P" or a file */
	double balance;			/* 0: off */
	struct option_list freeze;
	int64_t seed;
	struct clip_settings clips;
	/* the optimizer */
	int optimizer;			/* a row of optimizers[] */
	struct optimizer_settings optimizing;
	double clip_grad, clip_value;	/* 0: never */
	const char *loss_scale;		/* as it was typed */
	double scale;			/* loss scale; below 0: dynamic; 0: by
					 * precision */
	double ema;			/* 0: no average is kept */
	int use_ema;			/* validate the average */
	int shard_optimizer;		/* FAST: a rank updates only the weights
					 * it owns; EXACT always does so */
	double label_smoothing;		/* 0: as in the network */
	const char *param_groups;
	double dropout;			/* below 0: as in the network */
	double classifier_std;		/* of initial weights; 0: as in the
					 * network */
	int bn_running;			/* 1: aggregate
					 * (train/optim/running.h) */
	struct learner_settings learners;
	/* validation */
	const char *validation;		/* as it was typed */
	const char *val;		/* the set of --val; NULL: none */
	double holdout;			/* --val=P%: that part of the data; 0:
					 * nothing */
	double val_every;		/* epochs; 0: at the end only */
	int64_t val_frames, val_crop;	/* 0: as in the last stage */
	const char *precise_bn;		/* as it was typed */
	int64_t precise;		/* clips of --precise-bn, PRECISE_AUTO
					 * (train/loop/precise.h), or 0 */
	/* the run */
	const char *output;		/* run directory; NULL: a dry run */
	const char *resume;		/* "auto", "never" or a file */
	struct option_list override;
	double save_every, stop_after;	/* seconds; 0: off */
	double max_loss;		/* 0: any finite loss is allowed */
	double step_timeout;		/* seconds; 0: off */
	int64_t save_steps;		/* 0: off */
	int64_t keep;			/* newest checkpoints to keep */
	int64_t log_every;		/* steps between lines of the log */
	int keep_best, tensorboard;
	const char *on_nan, *on_corrupt;	/* as they were typed */
	int64_t skips;			/* non-finite steps that may be skipped
					 * (train/guard/not_finite.h) */
	double corrupt;			/* part of the samples that may be
					 * damaged; below 0: the first one ends
					 * the run */
	int64_t audit;			/* 0: off */
	int audit_report;		/* continue after a failed audit */
	/* machine */
	const char *device;
	int precision, autotune;
	const char *loader_threads;	/* as it was typed */
	int64_t threads;		/* of a rank, to compute */
	int64_t loaders;		/* threads that load clips; 0:
					 * loader_threads() */
	int64_t loader_memory;
	struct sum_settings sums;

	struct modes modes;		/* requested by the settings above */
	int validates;			/* validations are due, also those of a
					 * replayed run */
	struct { int momentum, keep_best; } given;	/* by user */
};

/* The defaults. */
#define SETTINGS { .model = "tsm_r18", .videos = { .short_side = 256 }, \
	.focal_gamma = FOCUS_DEFAULT, .seed = 1, .clips = CLIP_SETTINGS, \
	.optimizing = { .momentum = 0.9, .decay = 1e-4, .beta1 = 0.9, \
		.beta2 = 0.999, .eps = 1e-8, .trust = 0.001 }, \
	.param_groups = "tsm", .dropout = -1, \
	.learners = LEARNER_SETTINGS, .val_every = 1, \
	.precise_bn = "auto", .precise = PRECISE_AUTO, .resume = "auto", \
	.save_every = 600, .step_timeout = 600, .keep = 3, .log_every = 10, \
	.on_nan = "fail", .on_corrupt = "fail", .corrupt = -1, \
	.device = "cpu", .loader_threads = "2", .loaders = 2, \
	.loader_memory = 512 << 20, .sums = { .allreduce = "auto" } }

#endif
