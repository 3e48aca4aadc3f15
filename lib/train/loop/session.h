#ifndef TRAIN_LOOP_SESSION_H
#define TRAIN_LOOP_SESSION_H

/*
 * A session holds the inputs and the state of a run of vt-train.  session_open
 * opens and checks on all ranks what the options ask for, before the run
 * directory is touched (inputs.c, session.c).  session_begin then finds and
 * loads the checkpoint to resume from (begin.c), and session_record takes the
 * directory (record.c).
 */

#include "train/loop/planned.h"
#include "train/loop/trainer.h"
#include "train/run/resume.h"

/* How a session uses its settings. */
struct session_use {
	struct planned planned;		/* plan with this dataset, which
					 * messages call o.data */
	const char *plan[2];		/* --data, --val: plan with these
					 * samples (planned_videos); NULL: open
					 * the set */
	int opens_again;		/* 1: another session of the run
					 * follows, which prints the advice */
	size_t skipped;			/* videos left out of the sets: a run
					 * that is done ends with
					 * EXIT_SKIPPED */
	struct replay *replay;		/* NULL: an ordinary run */
	int ranks;			/* ranks to plan a dry run for; 0: those
					 * of ${comm} */
	int plan_only;			/* the device may be absent */
	int estimates;			/* print how long the run will take */
	int cores;			/* of this rank */
};

/* The parts of the loaded checkpoint that rank 0 needs when it takes the run
 * directory. */
struct begun {
	int found;			/* 0: a new run */
	struct resume from;		/* skipped, newest and state.step */
	struct hash128 hash;		/* of the file */
	struct buffer init_table;	/* init.tsv; n = 0: none */
};

/* The texts of the inputs.  Most are values of struct state. */
struct session_texts {
	char *schedule, *network, *network_path, *classes;
	char history[33], dataset[33], settings_id[33], val_id[33];
	char class_hash[17], flips[33], class_weights[33];
	char *recipe, *extract;
	char *init, *choices, *split;	/* NULL: none */
	struct buffer resumed;		/* texts of t.state that rank 0 sent */
};

struct session {
	struct session_use use;
	struct comm *comm;
	struct comm *planned;		/* stands for use.ranks ranks; NULL: not
					 * a plan for other ranks */
	const struct backend *backend;
	struct device *device;
	struct graph *graph;
	struct flip_map flip_map;
	struct class_balance *balance;	/* NULL: no --balance and no
					 * --class-weight */
	float *class_weight;		/* [classes]; NULL: none */
	struct begun begun;
	struct rundir run;
	struct trainer t;		/* its settings, net, schedule and
					 * datasets are those of the session */
	struct session_texts text;
	int finished;			/* the run was finished before this
					 * start */
};

/*
 * session_open(s, comm, o, use):
 * Open and check all inputs in the zeroed ${s}, and plan the run.  ${comm} and
 * the texts of ${o} must outlive ${s}.  Return 0, or an exit status that is the
 * same on all ranks.  Call session_close in either case.
 * Collective: all ranks call it.
 */
int session_open(struct session *s, struct comm *comm,
    const struct settings *o, const struct session_use *use);
void session_close(struct session *s);

/* session_history(s, step): set the history of the state to the hash of the
 * schedule up to ${step}, which checkpoints store. */
void session_history(struct session *s, uint64_t step);

/*
 * session_begin(s, dry, f):
 * Find the checkpoint to resume from, and load weights and state on every rank.
 * Write nothing.  Without a checkpoint, initialize them.
 * With ${dry}, only find and check it, and set the state on every rank.
 * Print to ${f} (NULL: do not) how the weights of --init are matched.
 * If the run is finished and its directory is read-only, only set
 * ${s}->finished and return the exit status of the run, 0 or 3.  Otherwise
 * return 0, or an exit status that is the same on all ranks.  Collective: all
 * ranks call it.
 */
int session_begin(struct session *s, int dry, FILE *f);

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
