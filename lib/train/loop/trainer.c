/*
 * The training loop.  At each step boundary it logs, validates, saves and
 * stops, in that order.  step.c makes the steps.
 *
 * Every decision at a boundary is a function of the state and of the joined
 * reports, which are the same on all ranks.  So all ranks make the same
 * collective calls.
 */
#include <math.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/text.h"
#include "comm/watch.h"
#include "train/guard/audit.h"
#include "train/guard/corrupt.h"
#include "train/guard/replay.h"
#include "train/loop/trainer.h"
#include "train/loop/work.h"
#include "train/run/saver.h"

static int
trainer_is_better(const struct trainer *t, const struct summary *s,
    double *metric)
{
	if (t->best == BEST_NONE)
		return 0;
	*metric = metrics[t->best].better * s->value[t->best];
	return *metric > t->state.best;
}

/* Swap the weights with their average if ${wanted}.  A second call swaps them
 * back. */
static void
trainer_swap_weights(struct trainer *t, int wanted)
{
	if (wanted)
		work_sure(t, optim_swap(&t->optim, t->net));
}

/* Measure the statistics of --precise-bn.  Return 0, or an exit status. */
static int
trainer_measure(struct trainer *t)
{
	struct trainer_work *w = t->work;
	int status;

	status = precise_measure(w->measure.precise, w->buffers.gradient[0], t);
	return status == EXIT_DIVERGED ? work_diverged(t, "a mean or variance "
	    "of --precise-bn is", INFINITY) : status;
}

/*
 * Measure the statistics of the weights and, if the run keeps one, of their
 * average: a checkpoint stores both.  Leave the average in place of the weights
 * if ${average}.
 *
 * ${t}->state.due counts what is done.  Skip that, and stop at ${until}.
 */
static int
trainer_measure_both(struct trainer *t, int average, int until)
{
	int status = 0, *due = &t->state.due;

	if (t->work->measure.precise != NULL && t->optim.ema > 0 &&
	    *due < DUE_SECOND && until > DUE_ALL) {
		trainer_swap_weights(t, !average);
		status = trainer_measure(t);
		trainer_swap_weights(t, !average);
		*due = status == 0 ? DUE_SECOND : *due;
	}
	trainer_swap_weights(t, average);
	if (status == 0 && t->work->measure.precise != NULL &&
	    *due < DUE_VALIDATION && until > DUE_SECOND) {
		status = trainer_measure(t);
		*due = status == 0 ? DUE_VALIDATION : *due;
	}
	return status;
}

/*
 * Measure and validate, with the average if --use-ema is set.  Return 0, or an
 * exit status; then t->state.due says what is left to do.
 *
 * A measurement changes the statistics, and may find damaged samples, which the
 * next one replaces.  So a checkpoint says which ones were done, and a resumed
 * run does the others only.
 */
static int
trainer_validate(struct trainer *t, int *best)
{
	struct trainer_work *w = t->work;
	struct evaluation e;
	struct summary s;
	double start = clock_seconds(), metric, seconds;
	int status;

	if (!t->state.due)
		t->state.due = DUE_ALL;
	status = trainer_measure_both(t, t->o.use_ema, DUE_VALIDATION);
	w->measure.seconds = clock_seconds() - start;
	if (status == 0 && t->val != NULL)
		status = evaluator_run(t->net, t->val, &t->viewing, t->comm,
		    NULL, &e);
	trainer_swap_weights(t, t->o.use_ema);
	seconds = clock_seconds() - start;
	w->log.at += seconds;	/* it was not training */
	w->limit.began += seconds;
	w->progress.validating += seconds;
	if (status != 0)
		return status;
	t->state.due = 0;
	if (t->val == NULL)
		return 0;
	s = evaluation_summary(&e);
	evaluation_free(&e);
	*best = trainer_is_better(t, &s, &metric);
	if (*best) {
		t->state.best = metric;
		t->state.best_step = t->state.step;
		t->state.best_metric = t->best_metric;
	}
	work_log_validation(t, &s, seconds, *best);
	return 0;
}

/* Measure what the run that is replayed had measured when it saved its
 * checkpoint of this step. */
static int
trainer_remeasure(struct trainer *t)
{
	int until = replay_due(t->replay, t), status;

	t->state.due = DUE_ALL;
	status = trainer_measure_both(t, t->o.use_ema, until);
	trainer_swap_weights(t, t->o.use_ema);
	t->state.due = 0;
	return status;
}

/*
 * Start to save the state of this step boundary.  Rank 0 gathers the parameters
 * and the optimizer state from their owners, and writes the file in the
 * background.
 */
static void
trainer_save(struct trainer *t, int how)
{
	struct trainer_work *w = t->work;
	struct snapshot *copy;
	int wait, ready;

	w->saving.at = clock_seconds();
	w->saving.step = t->state.step;
	w->saving.unsaved = 0;
	/* Rank 0 may wait here for the previous save.  It tells the others
	 * whether to take a copy, because taking one is collective. */
	wait = watch_enter(t->comm->watch, "saving", 0);
	ready = t->run != NULL && saver_ready(w->saving.saver, t->state.step,
	    how) == 0;
	watch_leave(t->comm->watch, wait);
	hash128_text(schedule_prefix_hash(t->schedule,
	    dataset_samples(t->train), t->state.step), w->saving.history);
	t->state.history = w->saving.history;
	if (comm_broadcast(t->comm, &ready, sizeof(ready), 0) != 0 || (ready &&
	    snapshot_take(&copy, t->net, &t->optim.slots, &t->state) != 0))
		comm_abort(t->comm, EXIT_RANKS);
	if (ready && t->run != NULL)
		saver_start(w->saving.saver, copy, t->state.step, how);
}

/*
 * Return 1 if a validation is due: a multiple of --val-every lies between epoch
 * ${before} and the current one, or this is the ${end}.  A run without
 * validations measures its statistics once, at the end.
 */
static int
trainer_validation_due(const struct trainer *t, double before, int end)
{
	if (!t->o.validates)
		return end && t->work->measure.precise != NULL;
	return end || (t->o.val_every > 0 && floor(before / t->o.val_every) <
	    floor(t->state.epoch / t->o.val_every));
}

/* Return 1 if weights, running statistics and optimizer state of all ranks are
 * finite.  Collective. */
static int
trainer_is_finite(struct trainer *t)
{
	return work_sure(t, optim_finite(&t->optim, t->net));
}

static int
trainer_check_finite(struct trainer *t)
{
	return trainer_is_finite(t) ? 0 : work_diverged(t,
	    "a weight, running statistic or optimizer state is", NAN);
}

/* Check that all ranks have the same weights, because only those of rank 0 are
 * saved.  Return 0, or an exit status.  Collective. */
static int
trainer_check_replicas(struct trainer *t)
{
	int status = work_sure(t, replica_check(t));

	t->work->replicas_differ = status != 0;
	return status;
}

/*
 * After a step: log, validate, save.  ${before} is the epoch before the step.
 * ${end}: it was the last one.  Return 0, or an exit status: EXIT_AGAIN if a
 * validation was due, but a stop was requested before or in it.  The resumed
 * run does it (trainer_catch_up).
 */
static int
trainer_step_boundary(struct trainer *t, const struct step_report *s,
    double before, int end)
{
	struct trainer_work *w = t->work;
	int best = 0, status = 0;
	int due = trainer_validation_due(t, before, w->at.cell == NULL);
	int saving = end || (s->request & (REQUEST_STOP | REQUEST_SAVE)) ||
	    (t->o.save_steps > 0 && t->state.step -
	    w->saving.step >= (uint64_t)t->o.save_steps);

	work_log_step(t, s, end || (s->request & REQUEST_STOP));
	if (t->replay != NULL) {
		/* A replay skips validations, but measures their statistics,
		 * which are part of the checkpoints to compare with. */
		status = due && w->measure.precise != NULL ?
		    trainer_remeasure(t) : 0;
		return status != 0 ? status : replay_step_boundary(t->replay,
		    t);
	}
	watch_phase(t->comm->watch, due ? "validating" : NULL, t->state.step);
	/* Never save or validate weights that are not finite, or that differ
	 * between ranks. */
	if ((due || saving) && ((status = trainer_check_finite(t)) != 0 ||
	    (status = trainer_check_replicas(t)) != 0))
		return status;
	if (due && (s->request & REQUEST_STOP)) {
		t->state.due = DUE_ALL;
		status = EXIT_AGAIN;
	} else if (due) {
		status = trainer_validate(t, &best);
	}
	if (status != 0 && status != EXIT_AGAIN)
		return status;
	if (status != 0)
		work_log_rest(t, s);
	if (best || saving || status != 0)
		trainer_save(t, best ? SAVE_BEST : 0);
	return status;
}

/*
 * After a failure: save the state of the last step boundary, if it is finite
 * and the same on all ranks.  After a divergence remove no older checkpoint,
 * whatever --keep says: the newest finite one may already be on the way to
 * divergence.
 */
static void
trainer_rescue(struct trainer *t, int status)
{
	if (!t->work->saving.unsaved || t->state.step == 0 ||
	    !trainer_is_finite(t) || t->work->replicas_differ)
		return;
	trainer_save(t, status == EXIT_DIVERGED ? SAVE_KEEP_ALL : 0);
	if (t->comm->rank == 0)
		note("the state after step %llu is saved",
		    (unsigned long long)t->state.step);
}

/* Repair best.safetensors on rank 0 if an earlier start was killed before it
 * named that file. */
static int
trainer_repair(struct trainer *t)
{
	return t->run != NULL && t->best != BEST_NONE &&
	    t->state.best_step > 0 ? rundir_repair_best(t->run,
	    t->state.best_step) : 0;
}

/*
 * On rank 0: wait until the last save is durable.  If the run is ${done}, name
 * that checkpoint final.safetensors, and only then remove old ones.  Check that
 * best.safetensors is the checkpoint that the state names.  Return 0, or -1
 * after a message.
 */
static int
trainer_resolve(struct trainer *t, int done)
{
	int bad = saver_wait(t->work->saving.saver);

	if (!bad && done)
		bad = rundir_link(t->run, t->state.step, "final.safetensors",
		    NULL);
	if (!bad && done)
		rundir_prune(t->run, UINT64_MAX);
	return bad ? bad : trainer_repair(t);
}

/* Return the exit status of a finished schedule: EXIT_SKIPPED after a note if
 * damaged samples were replaced, else 0. */
static int
trainer_skipped_status(const struct trainer *t)
{
	size_t n = corrupt_known(t->work->corrupt)->n;

	if (n == 0)
		return 0;
	note("%zu of %u samples are damaged and were replaced by others",
	    n, dataset_samples(t->train));
	return EXIT_SKIPPED;
}

static int
trainer_finish(struct trainer *t, int status, int end)
{
	int64_t failed = 0;
	int wait;

	if (t->replay != NULL) {	/* a replay saves nothing */
		if (status == EXIT_AGAIN && t->comm->rank == 0)
			fail("stopped after step %llu: later ones were not "
			    "compared", (unsigned long long)t->state.step);
		return status == EXIT_AGAIN ? EXIT_FAILED : status;
	}
	wait = watch_enter(t->comm->watch, "saving", 0);
	if (status != 0 && status != EXIT_AGAIN)
		trainer_rescue(t, status);
	if (t->run != NULL && trainer_resolve(t, end && status == 0) != 0)
		failed = EXIT_FAILED;
	watch_leave(t->comm->watch, wait);
	if (comm_max(t->comm, &failed) != 0)
		failed = EXIT_FAILED;
	if (!failed && status == EXIT_AGAIN)
		note("stopped after step %llu, which is saved in %s: the same "
		    "command resumes", (unsigned long long)t->state.step,
		    text_quote(t->run != NULL ? t->run->path : ""));
	if (failed && (status == 0 || status == EXIT_AGAIN))
		return (int)failed;
	return status == 0 && end ? trainer_skipped_status(t) : status;
}

/*
 * If the validation at the step of the resumed checkpoint failed or was
 * stopped, validate first, and save that step again.  The run then continues as
 * if the validation had not ended early.  A signal stops this one, too;
 * --stop-after does not, so that each start of a run advances it.
 */
static int
trainer_catch_up(struct trainer *t)
{
	int best = 0, status;

	if (!t->state.due)
		return 0;
	watch_phase(t->comm->watch, "validating", t->state.step);
	status = trainer_validate(t, &best);
	if (status == 0 || status == EXIT_AGAIN)
		trainer_save(t, best ? SAVE_BEST : 0);
	return status;
}

/*
 * A signal has ended all ranks at once until here (session_open).
 * watch_stop_ends is off on every rank before the ranks agree, so none ends
 * after another has begun to write.
 */
int
trainer_open(struct trainer *t)
{
	int status = work_open(t), stopped;

	watch_stop_ends(t->comm->watch, 0);
	if (status != 0)
		return status;
	stopped = comm_agree(t->comm, stop_signal() != 0 ? EXIT_AGAIN : 0);
	if (stopped == EXIT_AGAIN && t->comm->rank == 0)
		note(WATCH_STOPPED);
	return stopped;
}

int
trainer_run(struct trainer *t)
{
	struct trainer_work *w = t->work;
	uint64_t samples = dataset_samples(t->train);
	double before = t->state.epoch;
	int status, end = 0;

	w->progress.started = w->saving.at = w->log.at = clock_seconds();
	if (t->run != NULL)
		w->saving.saver = saver_new(t->run, t->safe_step);
	trainer_repair(t);	/* trainer_resolve tries again */
	status = trainer_catch_up(t);
	stop_at(t->o.stop_after > 0 ? w->progress.started + t->o.stop_after :
	    0);
	w->at = schedule_seek(t->schedule, samples, t->state.step);
	end = w->at.cell == NULL;
	if (status == 0 && end && w->saving.unsaved)
		trainer_save(t, 0);	/* a finished run of another
					 * directory */
	while (!end && status == 0) {
		struct step_report s = { 0 };

		watch_phase(t->comm->watch, NULL, t->state.step + 1);
		if ((status = work_step(t, &s)) != 0)
			break;
		w->progress.macs_done += cells_of(t, &w->at)->macs;
		w->seen = w->at;
		w->at = schedule_next(t->schedule, samples, &w->at);
		end = w->at.cell == NULL || (t->replay != NULL &&
		    t->state.step == t->replay->to);
		if (s.not_averaged) {
			work_log_step(t, &s, 0);
			continue;
		}
		status = trainer_step_boundary(t, &s, before, end);
		before = t->state.epoch;
		if (status == 0 && !end && (s.request & REQUEST_END)) {
			if (t->comm->rank == 0)
				fail("step %llu: the run ends, because %d "
				    "saves in a row have failed",
				    (unsigned long long)t->state.step,
				    SAVER_FAILURES);
			status = EXIT_FAILED;
		} else if (status == 0 && !end && (s.request & REQUEST_STOP))
			status = EXIT_AGAIN;
	}
	progress_end();
	return trainer_finish(t, status, end);
}
