#ifndef TRAIN_LOOP_SESSION_H
#define TRAIN_LOOP_SESSION_H

/*
 * All that a run of vt-train has open: what the options ask for, checked, on
 * all ranks, before the run's directory is touched (inputs.c, session.c); then
 * the checkpoint to go on from, and the directory (begin.c).
 */

#include "train/loop/trainer.h"

/* How to choose algorithms: by the library's rule, or the fastest by trying; auto:
 * the fastest, if sums have no fixed order. */
enum choosing { CHOOSE_AUTO, CHOOSE_RULE, CHOOSE_FASTEST };

/* As vt-train(1) names them; what is not listed is filled in by the session. */
struct session_options {
	const char *data, *val;		/* val: NULL for none */
	const char *model, *schedule, *device;
	enum precision precision;	/* asked for */
	const char *out;		/* NULL: only to look */
	struct replay *replay;		/* NULL: an ordinary run */
	const char *resume;		/* "auto", "never" or a file */
	enum loss_kind loss;		/* where the network leaves it open */
	const char *flips;		/* a table of classes; NULL: none */
	const char *groups;		/* of parameters */
	const char *init;		/* a file of weights; NULL: none */
	int init_partial;		/* it may have few of them */
	const struct option_list *freeze;
	const struct option_list *override;
	struct modes modes;		/* that the options ask for */
	struct { int momentum, keep_best, precise; } given;	/* by the user */
	struct sum_settings sums;
	enum choosing choosing;
	int plain;			/* convolutions do no work of norms */
	int sharded;			/* update a part of the weights, with
					 * FAST; always so with EXACT */
	int threads;			/* of a rank, to compute */
	int ranks;			/* to plan for, only to look; 0: those
					 * that are there */
	int keep;			/* newest checkpoints */
	int tensorboard;		/* write events for it */
	const struct optimizer *optimizer;
	struct optimizer_settings optimizing;
	double clip, clip_value, ema;	/* as in struct optim */
	double loss_scale;		/* below 0: dynamic; 0: as the precision
					 * needs it */
	double smoothing;		/* of labels; 0: as the network says */
	int aggregate;			/* running variances: train/optim/running.h */
	struct loader_options loading;	/* less rank, ranks, needs, trace */
	struct view_options viewing;	/* t, side 0: as in the last stage */
	struct trainer_options trainer;
};

struct session {
	struct session_options o;
	struct comm *comm;
	struct comm *planned;		/* of o.ranks; NULL: none */
	const char *build;
	char *schedule_text, *network_text, *network_path, *classes;
	struct schedule *schedule;
	struct dataset *train, *val;
	const struct backend *backend;
	struct device *device;
	struct graph *graph;
	struct net *net;
	struct swaps swaps;
	struct rundir run;
	struct trainer t;
	char history[33], dataset[33], settings_id[33], val_id[33];
	char class_hash[17], flips[33];
	char *settings, *recipe, *order, *extract;
	char *corrupt;			/* as checkpoints say it; NULL: none */
	char *init;			/* as checkpoints say it; NULL: none */
	char *choices;			/* the same */
	int finished;			/* the run was finished before this
					 * start */
};

/*
 * session_open(s, comm, o):
 * Everything up to the plan, on all ranks of ${comm}, which stays the caller's;
 * the texts of ${o} must stay.  0, or an exit status that all ranks share; then
 * session_close all the same.
 */
int session_open(struct session *s, struct comm *comm,
    const struct session_options *o);
void session_close(struct session *s);

/* session_history(s, step): the hash of the schedule up to ${step}, as
 * checkpoints keep it, becomes that of the state. */
void session_history(struct session *s, uint64_t step);

/*
 * session_begin(s):
 * Find the checkpoint to go on from, lock the directory, and have weights and
 * state on every rank.  0, or an exit status that all ranks share.
 */
int session_begin(struct session *s);

/*
 * session_look(s, f):
 * For a dry run: find what session_begin would begin from, have its state on
 * every rank, and refuse what session_begin refuses of it.  Load no checkpoint
 * and touch nothing.  Print what would become of the weights of --init to ${f}
 * unless that is NULL.  Return 0, or an exit status that all ranks share.
 */
int session_look(struct session *s, FILE *f);

/*
 * session_record(s, settings, argument):
 * On rank 0: write beside the checkpoints what the run was started with, the
 * ${settings} as a configuration file and the command line up to a NULL, and
 * begin its log, which says how the process ended whatever happens: ${s} must
 * outlive main.  0, or an exit status.
 */
int session_record(struct session *s, const char *settings,
    char *const *argument);

/* session_end(s, status): the log's last line; the run's exit status. */
int session_end(struct session *s, int status);

#endif
