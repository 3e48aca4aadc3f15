#ifndef TRAIN_LOOP_WORK_H
#define TRAIN_LOOP_WORK_H

/*
 * The working state of a trainer: its plans, buffers and counters.  Only
 * lib/train includes this header; programs use trainer.h.
 */

#include "train/loop/cells.h"
#include "train/loop/feeder.h"
#include "train/loop/limit.h"
#include "train/loop/precise.h"
#include "train/loop/trainer.h"
#include "train/reduce/sync_bn.h"
#include "train/run/saver.h"

/* Requests for the next step boundary.  REQUEST_END: saves fail. */
enum { REQUEST_STOP = 1, REQUEST_SAVE = 2, REQUEST_END = 4 };

/* The report of one microbatch, or of a rank's part of one, sent to all
 * ranks. */
struct microbatch_report {
	double loss;			/* mean over its clips, all heads */
	double squares;			/* of its gradient's norm, with the loss
					 * scale; 0 if it is not measured */
	int32_t top1, top5, ranked;	/* clips, of the first head: struct
					 * outcome */
	int32_t request, status;	/* REQUEST_* bits; exit status, not 0 if
					 * it was not computed */
	int32_t bad;			/* damaged samples found while
					 * loading */
};

/* The reports of a step, joined over all ranks. */
struct step_report {
	double loss, norm;
	int top1, top5, ranked, request, status;
	int bad;			/* damaged samples found while
					 * loading */
	int skipped;			/* no update was made: OPTIM_SKIPPED
					 * (train/optim/optim.h) */
	int not_averaged;		/* learners are not averaged yet, or the
					 * gradient of a grown batch is not
					 * complete, so the state cannot be
					 * validated or saved */
	double squares;			/* sum over microbatches, without loss
					 * scale; 0 if it is not measured */
	int grown;			/* factor of the batch of this step; 0:
					 * it cannot grow */
	double noise_scale;		/* in clips, if ${grown} is not 0; NAN:
					 * unknown */
};

/* Seconds in each phase, since the last line of the log. */
struct phases { double wait, forward, backward, comm, comm_busy, update; };

/* Buffers of a step. */
struct step_buffers {
	int gradients;			/* gradient buffers */
	void **gradient;		/* [gradients], device memory */
	int free;			/* the first ones are free */
	int max_microbatches;		/* maximum over steps; parts count */
	struct microbatch_report *report;	/* [max_microbatches] */
	size_t *report_offset;		/* [ranks + 1] first byte of each
					 * rank */
	double *microbatch_loss;	/* [max_microbatches] */
	struct outcome *outcome;	/* device memory: losses and hits of
					 * this rank's microbatches */
	struct outcome *fetched;	/* their host copy, after the step */
};

/* Statistics that are measured before a validation (--precise-bn). */
struct measured_statistics {
	int64_t clips;			/* 0: none */
	int group;			/* clips normalized together */
	struct precise *precise;	/* NULL: nothing is measured */
	double seconds;			/* in the last validation */
};

/* The work done and left, for the ETA. */
struct work_progress {
	uint64_t steps;			/* of the whole schedule */
	double macs, macs_done;		/* forward multiply-adds of the steps
					 * left at the start; done since */
	double started, validating;	/* clock seconds; sum of seconds */
};

/* The checkpoints of a run. */
struct work_saving {
	struct saver *saver;		/* rank 0; elsewhere NULL */
	double at;			/* clock seconds of the last one */
	uint64_t step;			/* of the last one */
	int unsaved;			/* the state is not in a checkpoint */
	char history[33];		/* of the schedule up to ${step} */
};

/* Sums since the last line of the log. */
struct work_log {
	struct phases time;
	double at, loss;		/* time of that line */
	int64_t steps, clips, top1, ranked;
	double window_loss;		/* sum over window_steps steps */
	double first_loss;		/* mean loss of the first window */
	int window_steps, warned_high_loss;	/* steps in this window; has
						 * warned */
	int table_begun;		/* the header was printed */
};

struct trainer_work {
	struct planned_cells cells;
	struct step_buffers buffers;
	size_t base;			/* MEMORY_BASE, measured */
	struct sync_bn spread;
	struct tree tree;
	struct feeder feeder;
	struct bucket *bucket;
	struct audit *audit;
	struct corrupt *corrupt;
	struct learners *learners;	/* NULL: no K-step averaging */
	struct grown_batch *grown_batch;	/* NULL: the batch cannot grow,
						 * or that of learners does */
	struct measured_statistics measure;
	struct schedule_step at, seen;	/* the next step; the last one */
	struct work_progress progress;
	struct work_saving saving;
	int replicas_differ;		/* ranks have different weights */
	struct work_log log;
	struct limit_watch limit;
};

/* work_parts(t, c): return the microbatches of a step of cell ${c}.  If ranks
 * share BN groups, each part of a group counts as a microbatch, here and
 * below. */
struct step_split work_parts(const struct trainer *t, const struct cell *c);

/* work_buffers(t, microbatches, rank): return the maximal number of gradient
 * buffers that ${rank} holds at once in a step of ${microbatches}. */
int work_buffers(const struct trainer *t, int microbatches, int rank);

/*
 * work_microbatches_text(t, c, text): print to ${text} the number of
 * microbatches of cell ${c} on rank 0, "2", or its part of one, "1/4".  Return
 * ${text}.
 */
char *work_microbatches_text(const struct trainer *t, const struct cell *c,
    char text[16]);

/* work_open(t): allocate the buffers, and start loader and threads.  Return 0,
 * or an exit status that is the same on all ranks.  Collective: all ranks call
 * it. */
int work_open(struct trainer *t);

/*
 * work_step(t, s):
 * Make the step ${t}->work->at: run this rank's microbatches, sum their
 * gradients over all ranks, and update the weights.  Join the reports of all
 * ranks in ${s}.  Return 0, or an exit status that is the same on all ranks;
 * then weights and state are those of the last step boundary.
 * Collective: all ranks call it.
 */
int work_step(struct trainer *t, struct step_report *s);

/*
 * Parts of a step, also for learners_step:
 *
 * work_microbatches_of(t, microbatches, rank, first):
 * Return how many of ${microbatches} belong to ${rank}, and set ${*first} to
 * the index of the first one.
 *
 * work_join_reports(t, microbatches, s):
 * Fetch the losses from the device, share all reports with all ranks, and join
 * them in ${s}.  Return ${s}->status.  Collective: all ranks call it.
 *
 * work_count(t, loss):
 * Count a finished step of loss ${loss} in the state.
 */
int work_microbatches_of(const struct trainer *t, int microbatches, int rank,
    int *first);
int work_join_reports(struct trainer *t, int microbatches,
    struct step_report *s);
void work_count(struct trainer *t, double loss);

/*
 * work_microbatches(t, tree, leaf, first, count, reduced, status):
 * After feeder_begin, run forward and backward passes of the next ${count}
 * microbatches, which have the indices ${first}, ${first} + 1, ... in the step.
 * Fill in their reports, except losses.  Sum their gradients as leaves ${leaf},
 * ${leaf} + 1, ... of ${tree}.
 * If ${reduced} is not NULL, leave the additions of the last gradient to the
 * reduction (bucket_begin), in ${reduced}[TREE_MAX], which must live until
 * bucket_wait.  If it is NULL, do them here.
 * If a microbatch cannot be loaded, or ${status} is not 0, compute no further
 * passes.  The sum is then unusable, but it is still reduced, because other
 * ranks wait for it; they learn the status from the reports.
 * Return the status.
 */
int work_microbatches(struct trainer *t, struct tree *tree, int leaf, int first,
    int count, struct tree_sum *reduced, int status);

/* work_sure(t, result): return ${result}, or end all ranks if it is negative:
 * another rank cannot be reached. */
int work_sure(const struct trainer *t, int result);

/* work_diverged(t, what, value): on rank 0, print "step 3: ${what} ${value}:
 * the run has diverged".  Return EXIT_DIVERGED. */
int work_diverged(const struct trainer *t, const char *what, double value);

/*
 * work_log_step(t, s, now): add step ${s} to the sums of a log line.  Write the
 * line if it is due, or if ${now} is not 0.
 * work_log_rest(t, s): write the line of the steps up to ${s} that no line has
 * yet.
 */
void work_log_step(struct trainer *t, const struct step_report *s, int now);
void work_log_rest(struct trainer *t, const struct step_report *s);

/* work_log_validation(t, s, seconds, best): log a validation that took
 * ${seconds}.  ${best}: it is the best so far. */
void work_log_validation(struct trainer *t, const struct summary *s,
    double seconds, int best);

#endif
