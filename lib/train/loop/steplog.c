/*
 * The log of a run: a table on standard output, and JSON lines and event files
 * in its directory.  Rank 0 writes it.
 */
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
#include "base/ram.h"
#include "train/loop/work.h"

/* Means over the steps of a line; top1 is over the clips with a class, 0 if
 * there are none. */
struct steplog_line {
	double loss, top1;
	double seconds, rate;		/* all steps together; clips per
					 * second */
	struct phases per;		/* seconds per step */
};

static struct steplog_line
steplog_means(const struct trainer_work *w)
{
	double n = (double)w->log.steps;
	double seconds = clock_seconds() - w->log.at;
	const struct phases *t = &w->log.time;

	return (struct steplog_line){ .loss = w->log.loss / n,
		.top1 = w->log.ranked > 0 ? (double)w->log.top1 /
		    (double)w->log.ranked : 0,
		.seconds = seconds, .rate = (double)w->log.clips / seconds,
		.per = { w->feeder.waited / n, t->forward / n, t->backward / n,
			t->comm / n, t->comm_busy / n, t->update / n } };
}

/* If the reader of the table has closed its pipe, stop printing and keep
 * training: log.jsonl has everything. */
static void
steplog_check_out(struct trainer *t)
{
	if (fflush(t->out) == 0)
		return;
	if (errno == EPIPE || errno == EBADF)
		note("standard output is closed; the log continues in %s",
		    t->run != NULL ? t->run->log.file.path : "nothing");
	else
		warning("standard output: cannot write: %s; the log "
		    "continues in %s", strerror(errno), t->run != NULL ?
		    t->run->log.file.path : "nothing");
	t->out = NULL;
}

/*
 * Return 1 if ${f} is the controlling terminal of this process, so that a
 * person reads it.  isatty would not do: mpirun gives its ranks a terminal
 * even if their output goes to a file.
 */
static int
steplog_is_terminal(FILE *f)
{
	return tcgetpgrp(fileno(f)) >= 0;
}

/* Print a line in aligned columns, for a terminal. */
static void
steplog_print_columns(struct trainer *t, const struct steplog_line *l)
{
	const struct cell *c = t->work->seen.cell;
	char shape[32];

	if (!t->work->log.table_begun)
		fprintf(t->out, "%8s %8s %13s %10s %8s %7s %9s %7s\n", "step",
		    "epoch", "batch", "lr", "loss", "top1", "clips/s", "wait");
	t->work->log.table_begun = 1;
	snprintf(shape, sizeof(shape), "%dx%dx%d", c->batch, c->frames,
	    c->crop);
	fprintf(t->out, "%8" PRIu64 " %8.2f %13s %10.4g %8.4f %6.1f%% %9.4g "
	    "%6.1f%%\n", t->state.step, t->state.epoch, shape, t->work->seen.lr,
	    l->loss, 100 * l->top1, l->rate,
	    100 * l->per.wait * (double)t->work->log.steps / l->seconds);
}

/* ---- one list of values for the table, log.jsonl and TensorBoard ---- */

enum steplog_kind {
	STEPLOG_NUMBER,
	STEPLOG_MS,			/* seconds; the table has
					 * milliseconds */
	STEPLOG_FLAG,
	STEPLOG_COLUMN,			/* for the table only */
	STEPLOG_TAG			/* for TensorBoard only */
};

struct steplog_value {
	const char *key;		/* in log.jsonl and the table */
	double value;			/* log.jsonl omits what is not finite */
	enum steplog_kind kind;
	const char *tag;		/* in TensorBoard; NULL: omit */
	const char *format;		/* in the table; NULL: omit */
};

/* Print a row with tabs, for a file or a pipe, after the header. */
static void
steplog_print_row(struct trainer *t, const struct steplog_value *v, size_t n)
{
	struct buffer head = { 0 }, row = { 0 };

	for (size_t i = 0; i < n; i++) {
		int ms = v[i].kind == STEPLOG_MS;

		if (v[i].format == NULL)
			continue;
		buffer_printf(&head, "%c%s%s", head.n > 0 ? '\t' : '#',
		    v[i].key, ms ? "_ms" : "");
		buffer_text(&row, row.n > 0 ? "\t" : "");
		buffer_printf(&row, v[i].format, (ms ? 1e3 : 1) * v[i].value);
	}
	if (!t->work->log.table_begun)
		fprintf(t->out, "%s\n", head.data);
	t->work->log.table_begun = 1;
	fprintf(t->out, "%s\n", row.data);
	buffer_free(&head);
	buffer_free(&row);
}

/* Write ${v} to log.jsonl as a line of ${type}, and to TensorBoard. */
static void
steplog_write(struct trainer *t, const char *type,
    const struct steplog_value *v, size_t n)
{
	struct event_scalar *e = xcalloc(n, sizeof(*e));
	struct json_member *m = xcalloc(n, sizeof(*m));
	size_t members = 0;
	int tags = 0;

	for (const struct steplog_value *end = v + n; v < end; v++) {
		if (v->tag != NULL)
			e[tags++] = (struct event_scalar){ v->tag, v->value };
		if (v->kind < STEPLOG_COLUMN)
			m[members++] = (struct json_member){ v->key, v->kind ==
				STEPLOG_FLAG ? JSON_FLAG : JSON_NUMBER,
				v->value, NULL };
	}
	events_add(&t->run->events, t->state.step, e, tags);
	runlog_event(&t->run->log, type, t->state.step, m, members);
	free(e);
	free(m);
}

static void
steplog_write_line(struct trainer *t, const struct steplog_line *l,
    const struct step_report *s)
{
	const struct trainer_work *w = t->work;
	const struct schedule_step *at = &w->seen;
	const struct cell *c = at->cell;
	double scale = optim_loss_scale(&t->optim);
	/* The table has the columns in this order. */
	struct steplog_value v[] = {
		{ "step", (double)t->state.step, STEPLOG_COLUMN, NULL, "%.0f" },
		{ "epoch", t->state.epoch, STEPLOG_NUMBER, "schedule/epoch",
			"%.4f" },
		{ "clips", (double)t->state.clips, STEPLOG_NUMBER, NULL,
			"%.0f" },
		{ "batch", c->batch, STEPLOG_NUMBER, "schedule/batch", "%.0f" },
		{ "frames", c->frames, STEPLOG_NUMBER, "schedule/frames",
			"%.0f" },
		{ "crop", c->crop, STEPLOG_NUMBER, "schedule/crop", "%.0f" },
		{ "lr", at->lr, STEPLOG_NUMBER, "schedule/lr", "%.6g" },
		{ "loss", l->loss, STEPLOG_NUMBER, "loss/train", "%.9g" },
		{ "top1", l->top1, STEPLOG_NUMBER, "top1/train", "%.4f" },
		{ "clips_per_s", l->rate, STEPLOG_NUMBER, "time/clips_per_s",
			"%.4g" },
		{ "wait", l->per.wait, STEPLOG_MS, "time/wait", "%.3f" },
		{ "forward", l->per.forward, STEPLOG_MS, "time/forward",
			"%.3f" },
		{ "backward", l->per.backward, STEPLOG_MS, "time/backward",
			"%.3f" },
		{ "comm", l->per.comm, STEPLOG_MS, "time/comm", "%.3f" },
		{ "update", l->per.update, STEPLOG_MS, "time/update", "%.3f" },
		{ "bn", c->group, STEPLOG_NUMBER, NULL, NULL },
		{ "bn_run", c->run, STEPLOG_NUMBER, NULL, NULL },
		{ "comm_busy", l->per.comm_busy, STEPLOG_NUMBER, NULL, NULL },
		/* of the last step; omitted if it is not finite */
		{ "grad_norm", s->norm, STEPLOG_NUMBER, "gradient/norm", NULL },
		{ "loss_scale", scale != 1 ? scale : NAN, STEPLOG_NUMBER, NULL,
			NULL },
		{ "batch_growth", s->grown > 0 ? s->grown : NAN, STEPLOG_NUMBER,
			NULL, NULL },
		{ "noise_scale", s->grown > 0 ? s->noise_scale : NAN,
			STEPLOG_NUMBER, NULL, NULL },
		{ "peak_memory", (double)ram_peak(), STEPLOG_NUMBER, NULL,
			NULL },
		{ "seconds", l->seconds, STEPLOG_NUMBER, NULL, NULL },
		{ "step_seconds", l->seconds / (double)w->log.steps,
		    STEPLOG_TAG, "time/step", NULL } };
	size_t n = sizeof(v) / sizeof(v[0]);

	if (t->out != NULL) {
		progress_clear();
		if (steplog_is_terminal(t->out))
			steplog_print_columns(t, l);
		else
			steplog_print_row(t, v, n);
		steplog_check_out(t);
	}
	if (t->run != NULL)
		steplog_write(t, "step", v, n);
}

static void
steplog_show_progress(struct trainer *t, const struct step_report *s)
{
	const struct trainer_work *w = t->work;
	double done = w->progress.macs_done + 1e-9, left;
	char eta[32];

	if (!progress_due())
		return;
	left = (clock_seconds() - w->progress.started -
	    w->progress.validating) * (w->progress.macs - done) / done;
	progress_line("step %" PRIu64 "/%" PRIu64 "  epoch %.2f  %dx%dx%d  "
	    "loss %.4f  %s left", t->state.step, w->progress.steps,
	    t->state.epoch, w->seen.cell->batch, w->seen.cell->frames,
	    w->seen.cell->crop, s->loss, clock_text(eta, left));
}

/* Return the loss of a uniform guess over all classes, or 0 if the loss is not
 * a single softmax. */
static double
steplog_loss_of_guess(const struct graph *g)
{
	const struct op_loss *loss = &g->op[g->head[0].loss].loss;

	return g->heads == 1 && loss->kind == LOSS_SOFTMAX ? loss->weight *
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
steplog_warn_high_loss(struct trainer *t, double loss)
{
	enum { WINDOW = 20 };
	struct trainer_work *w = t->work;
	double guess = steplog_loss_of_guess(t->net->graph), mean;

	w->log.window_loss += loss;
	if (w->log.warned_high_loss || ++w->log.window_steps < WINDOW)
		return;
	mean = w->log.window_loss / WINDOW;
	if (w->log.first_loss == 0)
		w->log.first_loss = mean;
	if (guess > 0 && mean > 1.1 * fmax(guess, w->log.first_loss)) {
		progress_clear();
		warning("steps %" PRIu64 " to %" PRIu64 ": the mean loss is "
		    "%.3g, a uniform guess has %.3g: the learning rate may be "
		    "too high (wanted a lower --lr of vt-schedule, or "
		    "--clip-grad; vt-optimizers(7))",
		    t->state.step - WINDOW + 1, t->state.step, mean, guess);
		w->log.warned_high_loss = 1;
	}
	w->log.window_loss = w->log.window_steps = 0;
}

void
work_log_step(struct trainer *t, const struct step_report *s, int now)
{
	struct trainer_work *w = t->work;

	limit_count(t, loader_stats(w->feeder.loader));
	w->log.steps++;
	w->log.clips += w->seen.cell->batch;
	w->log.loss += s->loss;
	w->log.top1 += s->top1;
	w->log.ranked += s->ranked;
	if (t->comm->rank == 0) {
		steplog_show_progress(t, s);
		steplog_warn_high_loss(t, s->loss);
	}
	if (now || t->state.step % (uint64_t)t->o.log_every == 0)
		work_log_rest(t, s);
}

void
work_log_rest(struct trainer *t, const struct step_report *s)
{
	struct trainer_work *w = t->work;

	if (w->log.steps == 0)
		return;
	if (t->comm->rank == 0) {
		struct steplog_line l = steplog_means(w);

		steplog_write_line(t, &l, s);
	}
	w->log.steps = w->log.clips = 0;
	w->log.top1 = w->log.ranked = 0;
	w->log.loss = 0;
	w->log.time = (struct phases){ 0 };
	w->feeder.waited = 0;
	w->log.at = clock_seconds();
}

/* Append the metrics of ${s}: with percents on a terminal, else after tabs. */
static void
steplog_put_metrics(const struct trainer *t, const struct summary *s,
    int people, struct buffer *to)
{
	const struct graph *g = t->net->graph;

	for (int i = 0; i < METRICS; i++) {
		const struct metric *m = &metrics[i];
		const char *name = m->text;
		double v = s->value[i];

		if (isnan(v))
			continue;
		/* A validation has no focal loss (evaluator.c). */
		if (i == METRIC_LOSS && g->op[g->head[0].loss].loss.focus >
		    0)
			name = "cross-entropy";
		if (people)
			buffer_printf(to, m->fraction ? ", %s %.1f%%" :
			    ", %s %.4f", name, m->fraction ? 100 * v : v);
		else
			buffer_printf(to, m->fraction ? "\t%s %.4f" :
			    "\t%s %.6f", name, v);
	}
}

static void
steplog_print_validation(struct trainer *t, const struct summary *s,
    double seconds, int best)
{
	int people = steplog_is_terminal(t->out);
	struct buffer b = { 0 };

	progress_clear();
	steplog_put_metrics(t, s, people, &b);
	if (people)
		fprintf(t->out, "validation after step %" PRIu64 "%s%s\n",
		    t->state.step, b.data, best ? ", the best so far" : "");
	else
		fprintf(t->out, "# validation\tstep %" PRIu64 "%s\t%u samples"
		    "\t%.1f s%s\n", t->state.step, b.data, s->labeled,
		    seconds, best ? "\tbest so far" : "");
	buffer_free(&b);
}

void
work_log_validation(struct trainer *t, const struct summary *s, double seconds,
    int best)
{
	double measuring = t->work->measure.precise != NULL ?
	    t->work->measure.seconds : NAN;
	struct steplog_value v[METRICS + 5] = {
		{ "best", best, STEPLOG_FLAG, NULL, NULL },
		{ "epoch", t->state.epoch, STEPLOG_NUMBER, NULL, NULL },
		{ "precise_bn", measuring, STEPLOG_NUMBER, NULL, NULL },
		{ "samples", s->labeled, STEPLOG_NUMBER, NULL, NULL },
		{ "seconds", seconds, STEPLOG_NUMBER, "time/validation",
		    NULL } };
	size_t n = 5;

	if (t->comm->rank != 0)
		return;
	for (int i = 0; i < METRICS; i++)
		if (!isnan(s->value[i]))
			v[n++] = (struct steplog_value){ metrics[i].name,
				s->value[i], STEPLOG_NUMBER, metrics[i].tag,
				NULL };
	if (t->out != NULL) {
		steplog_print_validation(t, s, seconds, best);
		steplog_check_out(t);
	}
	if (t->run != NULL)
		steplog_write(t, "validation", v, n);
}
