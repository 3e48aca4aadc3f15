#ifndef TRAIN_LOOP_WORK_H
#define TRAIN_LOOP_WORK_H

/*
 * What a trainer works with while it runs: private to trainer.c, step.c,
 * work.c and steplog.c.
 */

#include "sched/parts.h"
#include "train/loop/feeder.h"
#include "train/loop/precise.h"
#include "train/loop/trainer.h"
#include "train/reduce/spread.h"
#include "train/run/saver.h"

enum { WISH_STOP = 1, WISH_SAVE = 2 };

/* What a rank tells the others of one of its microbatches, or of its part. */
struct microbatch_report {
	double loss;			/* mean over its clips */
	int32_t top1, top5;		/* clips that were right */
	int32_t wish, status;		/* status: why it was not computed */
	int32_t bad, unused;		/* damaged samples that were found */
};

struct step_report {
	double loss, norm;
	int top1, top5, wish, status;
	int bad;			/* damaged samples that were found */
	int skipped;			/* nothing was updated: train/optim/optim.h */
	int between;			/* learners have not been averaged:
					 * nothing to validate or to save */
};

/* Seconds by phase, since the last line of the log. */
struct phases { double wait, forward, backward, comm, comm_busy, update; };

struct trainer_work {
	struct plan *(*plan)[SCHEDULE_CYCLE];	/* [stages] of each cell */
	int gradients;			/* buffers a step needs */
	void **gradient;
	int free;			/* of them, during a step */
	size_t base;			/* bytes before any buffer, measured */
	int most_microbatches;		/* in a step, parts of them counted */
	struct spread spread;
	struct tree tree;
	struct microbatch_report *report;	/* [most_microbatches] */
	size_t *report_at;		/* [ranks + 1] bytes: each rank's */
	double *microbatch_loss;
	struct outcome *outcome;	/* of the device: what the losses of
					 * this rank's microbatches say */
	struct outcome *fetched;	/* the same here, after the step */
	struct feeder feeder;
	struct bucket *bucket;
	struct audit *audit;
	struct corrupt *corrupt;
	struct learners *learners;	/* NULL: every step is of all ranks */
	struct saver *saver;
	int64_t measured;		/* clips to measure statistics on */
	int measured_group;		/* clips normalized together */
	struct precise *precise;	/* NULL if none are measured */
	struct schedule_step at, seen;	/* the next step, the last one */

	uint64_t steps;			/* of the whole schedule */
	double macs, macs_done;		/* forward, of what is left at start */
	double started, saved_at, validating;
	double measuring;		/* of the last validation */
	uint64_t saved_step;
	int apart;			/* the ranks' weights differ */
	int unsaved;			/* the state is not in a checkpoint */
	char history[33];		/* of the schedule up to there */
	struct phases time;
	double logged_at, logged_loss;	/* sums since the last line */
	int64_t logged_steps, logged_clips, logged_top1;
	double window_loss;		/* sum over window_steps steps */
	double first_loss;		/* mean loss of the first window */
	int window_steps, warned_of_heat;	/* steps in this window; has
						 * warned */
	int table_begun;
};

/* work_parts(t, c): the microbatches of a step of cell ${c}, or their parts: what
 * is called microbatches below. */
struct parts work_parts(const struct trainer *t, const struct cell *c);

/* work_buffers(t, microbatches, rank): the most gradient buffers that a rank with
 * its share of ${microbatches} holds at once. */
int work_buffers(const struct trainer *t, int microbatches, int rank);

/* work_share_text(t, c, text): how many microbatches of cell ${c} rank 0 has, "2",
 * or which part of one, "1/4". */
char *work_share_text(const struct trainer *t, const struct cell *c,
    char text[16]);

/* work_open(t): loader, threads, buffers; 0, or an exit status that all ranks
 * share. */
int work_open(struct trainer *t);

/*
 * work_step(t, s):
 * One step at t->work->at: forward and backward of this rank's microbatches,
 * their sum over all ranks, the update; ${s} is what all ranks' say together.
 * 0, or an exit status that all ranks share, and then weights and state are
 * still those of the last border.
 */
int work_step(struct trainer *t, struct step_report *s);

/*
 * Parts of a step, for those who make it in their own way.
 *
 * work_share(t, microbatches, rank, first): how many of the step's ${rank} has,
 * from ${*first} on.
 * work_join(t, microbatches, s): what the losses and reports of all ranks say
 * together; s->status.
 * work_count(t, loss): the step is done.
 */
int work_share(const struct trainer *t, int microbatches, int rank, int *first);
int work_join(struct trainer *t, int microbatches, struct step_report *s);
void work_count(struct trainer *t, double loss);

/*
 * work_microbatches(t, tree, leaf, first, count, reduced, status):
 * Run forward and backward passes of the next ${count} microbatches, numbers
 * ${first} and up of the step, after feeder_begin, and fill in their reports.
 * Add their gradients up as leaves ${leaf} and up of ${tree}.  Leave the
 * additions of the last one to the reduction (bucket_begin) in
 * ${reduced}[TREE_MOST], which must live until bucket_wait; NULL: do them here.
 * If a microbatch cannot be loaded, or ${status} is not 0, compute no more
 * passes: the sum is then unusable, but other ranks wait for it, and learn the
 * status from the reports.  Return the status.
 */
int work_microbatches(struct trainer *t, struct tree *tree, int leaf, int first,
    int count, struct tree_sum *reduced, int status);

/* work_diverged(t, what, value): EXIT_DIVERGED, which all ranks know and one
 * says: "step 3: <what> <value>: the run has diverged". */
int work_diverged(const struct trainer *t, const char *what, double value);

/* work_account(t, at): step ${at} is done: count its work for the forecast. */
void work_account(struct trainer *t, const struct schedule_step *at);

/* work_log_step(t, s, now): count a step; a line where it is due, or now. */
void work_log_step(struct trainer *t, const struct step_report *s, int now);
void work_log_validation(struct trainer *t, const struct summary *s,
    double seconds, int best);

#endif
