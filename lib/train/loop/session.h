#ifndef TRAIN_LOOP_SESSION_H
#define TRAIN_LOOP_SESSION_H

/*
 * A session holds the inputs and the state of a run of vt-train.  session_open
 * opens and checks on all ranks what the options ask for, before the run
 * directory is touched (inputs.c, session.c).  session_begin then finds and
 * loads the checkpoint to resume from, and session_record takes the directory
 * (begin.c).
 */

#include "train/loop/planned.h"
#include "train/loop/trainer.h"
#include "train/loop/videos.h"
#include "train/run/resume.h"
#include "train/run/staging.h"

/* Choose algorithms by the library's rule, or by autotuning.  CHOOSE_AUTO
 * autotunes if the order of sums is free (FAST). */
enum choosing { CHOOSE_AUTO, CHOOSE_RULE, CHOOSE_FASTEST };

/* Options of vt-train(1), by their names there where no comment says more. */
struct session_options {
	const char *data, *val;		/* val: NULL for none */
	struct planned planned;		/* plan with this dataset, which
					 * messages call ${data} */
	struct staging staging;
	struct video_settings videos;
	const char *model, *schedule, *device;
	enum precision precision;	/* requested */
	const char *out;		/* run directory; NULL: a dry run */
	struct replay *replay;		/* NULL: an ordinary run */
	const char *resume;		/* "auto", "never" or a file */
	const char *loss;		/* for a network without a loss: the
					 * value of --loss */
	double focal_gamma;		/* of --loss=focal */
	const char *flips;		/* --flip-swap; NULL: none */
	double balance;			/* 0: off */
	const char *class_weight;	/* "inverse:P" or a file; NULL: none */
	const char *groups;		/* rule of parameter groups */
	const char *init;		/* a file of weights; NULL: none */
	int init_partial;		/* accept a file with few weights */
	const struct option_list *freeze;
	const struct option_list *override;
	struct modes modes;		/* requested by options */
	struct { int momentum, keep_best, precise; } given;	/* by user */
	struct sum_settings sums;
	enum choosing choosing;
	int plain;			/* do not fuse norms into
					 * convolutions */
	int sharded;			/* FAST: a rank updates only the weights
					 * it owns; EXACT always does so */
	int threads;			/* of a rank, to compute */
	int ranks;			/* ranks to plan a dry run for; 0: those
					 * of ${comm} */
	int plan_only;			/* the device may be absent */
	int keep;			/* newest checkpoints to keep */
	int tensorboard;		/* write event files */
	int estimates;			/* print how long the run will take */
	const struct optimizer *optimizer;
	struct optimizer_settings optimizing;
	double clip, clip_value, ema;	/* as in struct optim */
	double loss_scale;		/* below 0: dynamic; 0: by precision */
	double smoothing;		/* of labels; 0: as in the network */
	int aggregate;			/* --bn-running=aggregate
					 * (train/optim/running.h) */
	/* The session sets rank, ranks, needs, learners, spread and swaps of
	 * ${loading}, and the shape of ${viewing} where t or side is 0. */
	struct loader_options loading;	/* threads 0: loader_threads(); of
					 * ${viewing}, too */
	struct view_options viewing;
	struct trainer_options trainer;
};

/* The parts of the loaded checkpoint that rank 0 needs when it takes the run
 * directory. */
struct begun {
	int found;			/* 0: a new run */
	struct resume from;		/* skipped, newest and state.step */
	struct hash128 hash;		/* of the file */
	struct buffer init_table;	/* init.tsv; n = 0: none */
};

struct session {
	struct session_options o;
	struct comm *comm;
	struct comm *planned;		/* stands for o.ranks ranks; NULL: not
					 * a plan for other ranks */
	const char *build;
	char *schedule_text, *network_text, *network_path, *classes;
	struct schedule *schedule;
	char *facts[2];			/* tables of videos that are not packed;
					 * NULL: packed */
	size_t skipped;			/* videos left out */
	double decoding;		/* seconds to decode each training video
					 * once */
	char *staged[2];		/* copies of data and val; NULL: none */
	struct dataset *train, *val;
	const struct backend *backend;
	struct device *device;
	struct graph *graph;
	struct net *net;
	struct flip_map flip_map;
	struct class_balance *balance;	/* NULL: no --balance and no
					 * --class-weight */
	float *class_weight;		/* [classes]; NULL: none */
	struct begun begun;
	struct rundir run;
	struct trainer t;
	char history[33], dataset[33], settings_id[33], val_id[33];
	char class_hash[17], flips[33], class_weights[33];
	char *settings, *recipe, *order, *extract;
	/* Values of the same fields of struct state; NULL: none. */
	char *corrupt;
	char *init;
	char *choices;
	int finished;			/* the run was finished before this
					 * start */
};

/*
 * session_open(s, comm, o):
 * Open and check all inputs in the zeroed ${s}, and plan the run.  ${comm} and
 * the texts of ${o} must outlive ${s}.  Return 0, or an exit status that is the
 * same on all ranks.  Call session_close in either case.
 * Collective: all ranks call it.
 */
int session_open(struct session *s, struct comm *comm,
    const struct session_options *o);
void session_close(struct session *s);

/* session_history(s, step): set the history of the state to the hash of the
 * schedule up to ${step}, which checkpoints store. */
void session_history(struct session *s, uint64_t step);

/*
 * session_begin(s):
 * Find the checkpoint to resume from, and load weights and state on every rank.
 * Write nothing.  Without a checkpoint, initialize them.
 * If the run is finished and its directory is read-only, only set
 * ${s}->finished and return the exit status of the run, 0 or 3.  Otherwise
 * return 0, or an exit status that is the same on all ranks.  Collective: all
 * ranks call it.
 */
int session_begin(struct session *s);

/*
 * session_check_begin(s, f):
 * For a dry run: find and check what session_begin would begin from, and set
 * the state on every rank.  Load no tensors, and change no file.  Print to ${f}
 * (NULL: do not) how the weights of --init would be matched.
 * Return 0, or an exit status that is the same on all ranks.
 * Collective: all ranks call it.
 */
int session_check_begin(struct session *s, FILE *f);

/*
 * session_record(s, settings, argument):
 * On rank 0: make and lock the run directory, and write to it the inputs of the
 * run, ${settings} as a configuration file, and the command line ${argument} up
 * to a NULL.  Open the log.  A handler of exit(3) writes its last line however
 * the process ends, so ${s} must outlive main.  Return 0, or an exit status
 * after a message.
 */
int session_record(struct session *s, const char *settings,
    char *const *argument);

/*
 * session_end(s, status):
 * Write the last line of the log and close it, on rank 0.  Return ${status}.
 * If the log could not be written, return EXIT_FAILED instead of 0, 3 and 75.
 */
int session_end(struct session *s, int status);

#endif
