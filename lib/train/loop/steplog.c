/* The log of a run: a table on standard output, JSON lines in its directory. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/progress.h"
#include "train/loop/work.h"

/* The same means go into both forms. */
struct steplog_line {
	double loss, top1, norm;
	double seconds, rate;		/* of all its steps; clips a second */
	struct phases per;		/* seconds of a step */
};

static struct steplog_line
steplog_means(const struct trainer_work *w, const struct step_report *s)
{
	double n = (double)w->logged_steps;
	double seconds = clock_seconds() - w->logged_at;
	const struct phases *t = &w->time;

	return (struct steplog_line){ .loss = w->logged_loss / n,
	    .norm = s->norm,
		.top1 = (double)w->logged_top1 / (double)w->logged_clips,
		.seconds = seconds, .rate = (double)w->logged_clips / seconds,
		.per = { w->feeder.waited / n, t->forward / n, t->backward / n,
			t->comm / n, t->comm_busy / n, t->update / n } };
}

/* Who reads the table may stop: that is no reason to stop training. */
static void
steplog_check_out(struct trainer *t)
{
	if (fflush(t->out) == 0)
		return;
	if (errno == EPIPE || errno == EBADF)
		note("standard output is closed; the log goes on in %s",
		    t->run != NULL ? t->run->log.file.path : "nothing");
	else
		warning("standard output: cannot write: %s; the log goes on in "
		    "%s", strerror(errno), t->run != NULL ?
		    t->run->log.file.path : "nothing");
	t->out = NULL;
}

/*
 * A terminal that somebody works at: one that controls this process.  mpirun
 * gives its ranks one that leads to a file as well as to anything else.
 */
static int
steplog_print(FILE *f)
{
	return tcgetpgrp(fileno(f)) >= 0;
}

/* For people: short, in columns; log.jsonl has all. */
static void
steplog_print_columns(struct trainer *t, const struct steplog_line *l)
{
	const struct cell *c = t->work->seen.cell;
	char shape[32];

	if (!t->work->table_begun)
		fprintf(t->out, "%8s %8s %13s %10s %8s %7s %9s %7s\n", "step",
		    "epoch", "batch", "lr", "loss", "top1", "clips/s", "wait");
	t->work->table_begun = 1;
	snprintf(shape, sizeof(shape), "%dx%dx%d", c->batch, c->frames, c->crop);
	fprintf(t->out, "%8" PRIu64 " %8.2f %13s %10.4g %8.4f %6.1f%% %9.4g "
	    "%6.1f%%\n", t->state.step, t->state.epoch, shape, t->work->seen.lr,
	    l->loss, 100 * l->top1, l->rate,
	    100 * l->per.wait * (double)t->work->logged_steps / l->seconds);
}

static void
steplog_print_row(struct trainer *t, const struct steplog_line *l)
{
	const struct schedule_step *at = &t->work->seen;

	progress_clear();
	if (steplog_print(t->out)) {
		steplog_print_columns(t, l);
		steplog_check_out(t);
		return;
	}
	if (!t->work->table_begun)
		fprintf(t->out, "#step\tepoch\tclips\tbatch\tframes\tcrop\tlr\t"
		    "loss\ttop1\tclips_per_s\twait_ms\tforward_ms\tbackward_ms\t"
		    "comm_ms\tupdate_ms\n");
	t->work->table_begun = 1;
	fprintf(t->out, "%" PRIu64 "\t%.4f\t%" PRIu64 "\t%d\t%d\t%d\t%.6g\t%.9g\t"
	    "%.4f\t%.4g\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", t->state.step,
	    t->state.epoch, t->state.clips, at->cell->batch, at->cell->frames,
	    at->cell->crop, at->lr, l->loss, l->top1, l->rate,
	    1e3 * l->per.wait, 1e3 * l->per.forward, 1e3 * l->per.backward,
	    1e3 * l->per.comm, 1e3 * l->per.update);
	steplog_check_out(t);
}

static void
steplog_write_json(struct trainer *t, const struct steplog_line *l)
{
	const struct schedule_step *at = &t->work->seen;
	struct json_writer w = { 0 };
	char now[32];

	json_open(&w, NULL, '{');
	json_put_real(&w, "backward", l->per.backward);
	json_put_int(&w, "batch", at->cell->batch);
	json_put_int(&w, "bn", at->cell->group);
	json_put_int(&w, "bn_run", at->cell->run);
	json_put_int(&w, "clips", (int64_t)t->state.clips);
	json_put_real(&w, "clips_per_s", l->rate);
	json_put_real(&w, "comm", l->per.comm);
	json_put_real(&w, "comm_busy", l->per.comm_busy);
	json_put_int(&w, "crop", at->cell->crop);
	json_put_real(&w, "epoch", t->state.epoch);
	json_put_real(&w, "forward", l->per.forward);
	json_put_int(&w, "frames", at->cell->frames);
	if (isfinite(l->norm))		/* of the last step, if it was made */
		json_put_real(&w, "grad_norm", l->norm);
	json_put_real(&w, "loss", l->loss);
	if (optim_loss_scale(&t->optim) != 1)
		json_put_real(&w, "loss_scale", optim_loss_scale(&t->optim));
	json_put_real(&w, "lr", at->lr);
	json_put_int(&w, "peak_memory", runlog_memory());
	json_put_real(&w, "seconds", l->seconds);
	json_put_int(&w, "step", (int64_t)t->state.step);
	json_put_text(&w, "time", clock_utc(now));
	json_put_real(&w, "top1", l->top1);
	json_put_text(&w, "type", "step");
	json_put_real(&w, "update", l->per.update);
	json_put_real(&w, "wait", l->per.wait);
	json_close(&w);
	runlog_line(&t->run->log, &w);
}

static void
steplog_write_events(struct trainer *t, const struct steplog_line *l)
{
	const struct schedule_step *at = &t->work->seen;
	const struct event_scalar v[] = { { "loss/train", l->loss },
		{ "top1/train", l->top1 }, { "gradient/norm", l->norm },
		{ "schedule/lr", at->lr }, { "schedule/epoch", t->state.epoch },
		{ "schedule/batch", at->cell->batch },
		{ "schedule/frames", at->cell->frames },
		{ "schedule/crop", at->cell->crop },
		{ "time/clips_per_s", l->rate },
		{ "time/step", l->seconds / (double)t->work->logged_steps },
		{ "time/wait", l->per.wait }, { "time/forward", l->per.forward },
		{ "time/backward", l->per.backward }, { "time/comm", l->per.comm },
		{ "time/update", l->per.update } };

	events_add(&t->run->events, t->state.step, v, sizeof(v) / sizeof(v[0]));
}

static void
steplog_show_progress(struct trainer *t, const struct step_report *s)
{
	const struct trainer_work *w = t->work;
	double done = w->macs_done + 1e-9, left;
	char eta[32];

	if (!progress_due())
		return;
	left = (clock_seconds() - w->started - w->validating) *
	    (w->macs - done) / done;
	progress_line("step %" PRIu64 "/%" PRIu64 "  epoch %.2f  %dx%dx%d  "
	    "loss %.4f  %s left", t->state.step, w->steps, t->state.epoch,
	    w->seen.cell->batch, w->seen.cell->frames, w->seen.cell->crop,
	    s->loss, clock_text(eta, left));
}

/* Return the loss of a uniform guess over all classes, or 0 if the loss is not
 * a single softmax. */
static double
steplog_loss_of_guess(const struct graph *g)
{
	const struct op *loss = &g->op[g->head[0].loss];

	return g->heads == 1 && loss->loss == LOSS_SOFTMAX ? loss->weight *
	    log(g->head[0].classes) : 0;
}

/*
 * Warn once if the mean loss of 20 steps is 10 % above two losses: that of a
 * uniform guess, and the mean of the first 20 steps.  The second one is needed
 * because random weights may give large logits.  tsm_tiny started 18 % above a
 * uniform guess and reached 98 % top-1.
 *
 * Measured on six actions: with TSM's parameter groups, SGD at 0.01 and batches
 * of 8, the loss rose to 5.5, where a uniform guess has 1.8.  Validation was
 * useless for 60 steps.  Runs that learned from the first epoch never exceeded
 * 1.05 times the guess.
 */
static void
steplog_warn_of_heat(struct trainer *t, double loss)
{
	enum { WINDOW = 20 };
	struct trainer_work *w = t->work;
	double guess = steplog_loss_of_guess(t->net->graph), mean;

	w->window_loss += loss;
	if (w->warned_of_heat || ++w->window_steps < WINDOW)
		return;
	mean = w->window_loss / WINDOW;
	if (w->first_loss == 0)
		w->first_loss = mean;
	if (guess > 0 && mean > 1.1 * fmax(guess, w->first_loss)) {
		progress_clear();
		warning("steps %" PRIu64 " to %" PRIu64 ": the mean loss is %.3g, "
		    "a uniform guess has %.3g: the learning rate may be too high "
		    "(wanted a lower --lr of vt-schedule, or --clip-grad; "
		    "vt-train(1), CAVEATS)", t->state.step - WINDOW + 1,
		    t->state.step, mean, guess);
		w->warned_of_heat = 1;
	}
	w->window_loss = w->window_steps = 0;
}

void
work_log_step(struct trainer *t, const struct step_report *s, int now)
{
	struct trainer_work *w = t->work;
	struct steplog_line l;

	w->logged_steps++;
	w->logged_clips += w->seen.cell->batch;
	w->logged_loss += s->loss;
	w->logged_top1 += s->top1;
	if (t->comm->rank == 0) {
		steplog_show_progress(t, s);
		steplog_warn_of_heat(t, s->loss);
	}
	if (!now && t->state.step % (uint64_t)t->o.log_every != 0)
		return;
	if (t->comm->rank == 0) {
		l = steplog_means(w, s);
		if (t->out != NULL)
			steplog_print_row(t, &l);
		if (t->run != NULL) {
			steplog_write_json(t, &l);
			steplog_write_events(t, &l);
		}
	}
	w->logged_steps = w->logged_clips = w->logged_top1 = 0;
	w->logged_loss = 0;
	w->time = (struct phases){ 0 };
	w->feeder.waited = 0;
	w->logged_at = clock_seconds();
}

static void
steplog_print_validation(struct trainer *t, const struct summary *s,
    double seconds, int best)
{
	int people = steplog_print(t->out);
	char map[40] = "";

	progress_clear();
	if (dataset_sets(t->val))
		snprintf(map, sizeof(map), people ? "mAP %.1f%%, " :
		    "mAP %.4f\t", people ? 100 * s->map : s->map);
	if (people)
		fprintf(t->out, "validation after step %" PRIu64 ": %stop1 "
		    "%.1f%%, top5 %.1f%%, loss %.4f%s\n", t->state.step, map,
		    100 * s->top1, 100 * s->top5, s->loss,
		    best ? ", the best so far" : "");
	else
		fprintf(t->out, "# validation\tstep %" PRIu64 "\t%stop1 %.4f\t"
		    "top5 %.4f\tloss %.6f\t%u samples\t%.1f s%s\n",
		    t->state.step, map, s->top1, s->top5, s->loss, s->labelled,
		    seconds, best ? "\tbest so far" : "");
}

void
work_log_validation(struct trainer *t, const struct summary *s, double seconds,
    int best)
{
	enum { VALUES = 5 };		/* the last one of sets of classes only */
	const struct event_scalar v[VALUES] = { { "loss/validation", s->loss },
		{ "top1/validation", s->top1 }, { "top5/validation", s->top5 },
		{ "time/validation", seconds }, { "map/validation", s->map } };
	struct json_writer w = { 0 };
	char now[32];

	t->work->logged_at += seconds;	/* it was not training */
	if (t->comm->rank != 0)
		return;
	if (t->out != NULL) {
		steplog_print_validation(t, s, seconds, best);
		steplog_check_out(t);
	}
	if (t->run == NULL)
		return;
	json_open(&w, NULL, '{');
	json_put_bool(&w, "best", best);
	json_put_real(&w, "epoch", t->state.epoch);
	json_put_real(&w, "loss", s->loss);
	if (dataset_sets(t->val))
		json_put_real(&w, "map", s->map);
	if (t->work->precise != NULL)
		json_put_real(&w, "precise_bn", t->work->measuring);
	json_put_int(&w, "samples", s->labelled);
	json_put_real(&w, "seconds", seconds);
	json_put_int(&w, "step", (int64_t)t->state.step);
	json_put_text(&w, "time", clock_utc(now));
	json_put_real(&w, "top1", s->top1);
	json_put_real(&w, "top5", s->top5);
	json_put_text(&w, "type", "validation");
	json_close(&w);
	runlog_line(&t->run->log, &w);
	events_add(&t->run->events, t->state.step, v, dataset_sets(t->val) ?
	    VALUES : VALUES - 1);
}
