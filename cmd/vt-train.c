/*
 * vt-train: train a network on shards by a schedule, and save checkpoints.
 *
 * Ranks first connect and compare their settings.  An error of usage therefore
 * ends all ranks with the same status.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/text.h"
#include "comm/cores.h"
#include "net/parity/plans.h"
#include "train/guard/replay.h"
#include "train/loop/estimate.h"
#include "train/loop/imbalance.h"
#include "train/loop/session.h"
#include "train/run/export_run.h"
#include "train/run/disk_space.h"
#include "train/run/status.h"
#include "train/weights/freeze.h"
#include "train_options.h"

/*
 * Return all settings as a configuration file for the run directory, which the
 * caller frees.  Relative paths become absolute.  A schedule from standard
 * input becomes the copy in the run.
 */
static char *
vt_train_kept_settings(struct train_options *o)
{
	const char **const path[] = { &o->data, &o->val, &o->out, &o->trace,
		&o->schedule, &o->model, &o->resume, &o->init, &o->flips,
		&o->sums.table, &o->stage, &o->class_weight, &o->root };
	enum { PATHS = sizeof(path) / sizeof(path[0]) };
	const char *typed[PATHS];
	char *whole[PATHS] = { 0 }, *text;
	double power;

	for (int i = 0; i < PATHS; i++)
		typed[i] = *path[i];
	for (int i = 0; i < PATHS; i++) {
		const char *p = typed[i];

		if (p == NULL || (path[i] == &o->model &&
		    strchr(p, '/') == NULL && !text_ends(p, ".net")) ||
		    (path[i] == &o->flips && strchr(p, '/') == NULL &&
		    !text_ends(p, ".tsv")) ||
		    (path[i] == &o->class_weight &&
		    class_weights_power(p, &power) != 0) ||
		    (path[i] == &o->resume && (strcmp(p, "auto") == 0 ||
		    strcmp(p, "never") == 0)))
			continue;
		if (path[i] == &o->schedule && strcmp(p, "-") == 0)
			whole[i] = path_join(o->out, "schedule.tsv");
		else
			whole[i] = path_absolute(p);
		*path[i] = whole[i];
	}
	text = options_config(NULL);
	for (int i = 0; i < PATHS; i++) {
		*path[i] = typed[i];
		free(whole[i]);
	}
	return text;
}

/* Return 1 if the network is the copy in a replayed run, which already contains
 * the loss of --loss. */
static int
vt_train_has_loss(const struct train_options *o)
{
	return o->replay != NULL && !options_on_line("model");
}

/*
 * Return the first option of videos that was given, NULL if none was.  The
 * configuration of a run has all options, so defaults count only on the command
 * line.
 */
static const char *
vt_train_video_option(const struct train_options *o)
{
	const struct { const char *name; int set; } option[] = {
		{ "root", o->root != NULL }, { "fps", o->fps != NULL },
		{ "short-side", o->short_side != 256 },
		{ "on-error", o->on_error },
	};

	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i++)
		if (option[i].set || options_on_line(option[i].name))
			return option[i].name;
	return NULL;
}

static struct session_options
vt_train_session_options(const struct train_options *o, int own)
{
	static const char *const losses[] = { "softmax", "sigmoid", "focal" };
	static const int best[] = { METRIC_TOP1, METRIC_LOSS, BEST_NONE,
		METRIC_MAP };
	const char *instead = modes_fallback(&o->modes, MODE_AUTOTUNE);
	struct session_options s = {
		.data = o->data, .val = o->val, .model = o->model,
		.videos = { .root = o->root, .fps = o->rate,
			.short_side = (int)o->short_side, .skip = o->on_error,
			.given = vt_train_video_option(o) },
		.staging = { .dir = o->stage, .command = o->stage_command,
			.only_look = o->dry_run || o->parity },
		.plan_only = o->dry_run && !o->time,
		.schedule = o->schedule, .device = o->device,
		.precision = (enum precision)o->precision, .out = o->out,
		.resume = o->resume,
		.loss = losses[vt_train_has_loss(o) ? 0 : o->loss],
		.focal_gamma = o->focal_gamma, .balance = o->balance,
		.class_weight = o->class_weight,
		.flips = o->flips, .groups = o->optimizing.groups,
		.init = o->init, .init_partial = o->init_partial,
		.freeze = &o->freeze,
		.override = &o->override, .modes = o->modes, .sums = o->sums,
		/* A configuration file lists all settings.  So --momentum in it
		 * does not contradict a schedule that sets the momentum. */
		.given = { .momentum = options_given("momentum") &&
				!options_given("config"),
			.keep_best = options_given("keep-best"),
			.precise = options_given("precise-bn") },
		.choosing = instead != NULL ? CHOOSE_RULE :
			(enum choosing)o->autotune,
		.plain = !o->fuse, .sharded = o->optimizing.sharded,
		.threads = o->threads > 0 ? (int)o->threads : own,
		.keep = (int)o->keep, .tensorboard = o->tensorboard,
		.estimates = o->quiet == 0,
		.optimizer = &optimizers[o->optimizing.optimizer],
		.optimizing = o->optimizing.set, .clip = o->optimizing.clip,
		.clip_value = o->optimizing.clip_value,
		.ema = o->optimizing.ema,
		.loss_scale = optimizer_options_scale(&o->optimizing),
		.smoothing = o->optimizing.smoothing,
		.aggregate = o->running,
		.loading = { .seed = (uint64_t)o->seed,
			.threads = (int)o->loader_threads,
			.audit = o->audit, .replaces = o->corrupt >= 0,
			.memory = (size_t)o->loader_memory },
		.viewing = { .threads = (int)o->loader_threads,
			.sampler = (enum sampler)o->clips.sampler, .validate = 1,
			.rule = crop_view((enum crop_rule)o->clips.crop_rule),
			.clips = 1, .crops = 1, .n = 8, .t = (int)o->val_frames,
			.side = (int)o->val_crop,
			.largest = o->clips.level == LEVEL_LARGEST,
			.memory = (size_t)o->loader_memory },
		.trainer = { .save_every = o->save_every,
			.save_steps = o->save_steps, .val_every = o->val_every,
			.validates = o->validates,
			.precise = o->precise_clips,
			.best = best[o->keep_best], .log_every = o->log_every,
			.cores = own,
			.stop_after = o->stop_after, .max_loss = o->max_loss,
			.use_ema = o->optimizing.use_ema,
			.learners = o->learners, .skips = o->skips,
			.corrupt = o->corrupt, .audit_report = o->audit_report },
	};

	if (instead != NULL)
		detail("autotuning falls back: %s", instead);
	clips_set(&o->clips, &s.loading);
	return s;
}

/* --export: write the weights of a run to a file. */
static int
vt_train_export_weights(const struct train_options *o)
{
	if (o->export == NULL || o->names == NULL || o->out == NULL)
		options_wrong("%s (wanted --export=FILE --names=PROGRAM "
		    "--output=RUN)", o->export == NULL ? "--names without "
		    "--export" : o->names == NULL ? "--export without --names" :
		    "--export without --output");
	return export_run(o->out, o->export, o->names, o->optimizing.use_ema);
}

/* --status and --export, which use an existing run. */
static int
vt_train_use_run(const struct train_options *o)
{
	int status;

	if (o->status == NULL)
		return vt_train_export_weights(o);
	status = run_status(o->status, stdout);
	return stdout_done() != 0 ? EXIT_FAILED : status;
}

static FILE *
vt_train_open_trace(const char *trace, const struct comm *c)
{
	char *path = c->size == 1 ? xstrdup(trace) :
	    xprintf("%s.%d", trace, c->rank);
	FILE *f = fopen(path, "w");

	if (f == NULL)
		fail_errno("%s: cannot create", text_quote(path));
	free(path);
	return f;
}

/* With --verbose, describe the run. */
static void
vt_train_say_run(const struct train_options *o, const struct session *s)
{
	uint64_t samples = dataset_samples(s->train);

	detail("%s: %" PRIu64 " samples of %d classes", text_quote(o->data),
	    samples, dataset_classes(s->train));
	detail("%s: %" PRIu64 " parameters on %s in %s, %d rank%s of %d "
	    "thread%s",
	    s->graph->name, (uint64_t)graph_parameters(s->graph),
	    s->backend->name, s->device->precision, s->comm->size,
	    s->comm->size == 1 ? "" : "s",
	    s->o.threads, s->o.threads == 1 ? "" : "s");
	if (o->sums.deterministic == FAST)
		detail("gradients: %s", s->t.sums.text);
	if (o->freeze.n > 0)
		detail("%s: %zu parameters are frozen", s->graph->name,
		    freeze_count(s->graph));
	detail("%s: epochs %d, steps %" PRIu64 ", done %" PRIu64,
	    text_quote(o->schedule), schedule_epochs(s->schedule),
	    schedule_steps(s->schedule, samples), s->t.state.step);
}

/* On rank 0: record in the run directory how the run was started. */
static int
vt_train_write_record(struct train_options *o, struct session *s,
    char *const *argument)
{
	char *settings = vt_train_kept_settings(o);
	int status = session_record(s, settings, argument);

	free(settings);
	return status;
}

static int
vt_train_run(struct train_options *o, struct session *s, char *const *argument)
{
	int status = 0;

	if ((status = session_begin(s)) != 0 || s->finished)
		return status;
	vt_train_say_run(o, s);
	if (o->trace != NULL &&
	    (s->t.loading.trace = vt_train_open_trace(o->trace, s->comm)) ==
	    NULL)
		status = EXIT_FAILED;
	if ((status = comm_agree(s->comm, status)) != 0 ||
	    (status = trainer_open(&s->t)) != 0)
		return status;
	if (s->comm->rank == 0)
		status = vt_train_write_record(o, s, argument);
	if ((status = comm_agree(s->comm, status)) != 0)
		return status;
	if (s->comm->rank == 0 && o->quiet == 0)
		stop_message("\nvt-train: note: the step is finished and saved "
		    "first; a second Ctrl-C ends at once\n");
	/* A closed pipe must not end the run: log.jsonl has all lines. */
	signal(SIGPIPE, SIG_IGN);
	status = trainer_run(&s->t);
	if (s->t.loading.trace != NULL && fclose(s->t.loading.trace) != 0 &&
	    status == 0) {
		fail_errno("%s: cannot write", text_quote(o->trace));
		status = EXIT_FAILED;
	}
	return status;
}

/* --replay: recompute steps and print the comparison.  Write nothing to the
 * run. */
static int
vt_train_replay(const struct train_options *o, struct session *s)
{
	int status = session_begin(s);

	if (status != 0)
		return status;
	vt_train_say_run(o, s);
	if ((status = trainer_open(&s->t)) != 0)
		return status;
	if (s->comm->rank == 0)
		puts("#step\tresult\tdiffer\tfirst");
	return trainer_run(&s->t);
}

static void
vt_train_print_plan(const struct train_options *o, const struct session *s,
    struct estimate *e)
{
	trainer_print_plan(&s->t, stdout);
	imbalance_print(s, stdout);
	if (e->steps > 0)
		estimate_print(&s->t, e, stdout);
	else if (o->time)
		printf("%-22s 0 s: all steps are done\n", "# time");
	if (o->verbose) {
		modes_print(&s->t.modes, stdout);
		trainer_explain(&s->t, stdout);
	}
	if (o->out != NULL)
		disk_space_check(&s->t.optim.slots, o->out, (int)o->keep,
		    o->val != NULL && s->t.o.best != BEST_NONE, stdout);
}

int
main(int argc, char **argv)
{
	static struct session s;	/* a handler of exit(3) uses it */
	static struct replay again;
	struct train_options *o;
	struct session_options want;
	struct comm *comm;
	struct estimate time = { 0 };
	char **arguments = xcalloc((size_t)argc + 1, sizeof(*arguments));
	int status = 0, own;

	/* Copy the command line before getopt permutes it. */
	memcpy(arguments, argv, (size_t)argc * sizeof(*arguments));
	program_start(argv[0]);
	o = train_options_read(&argc, &argv);
	if (o->uses_run) {
		free(arguments);
		return vt_train_use_run(o);
	}
	if (!o->dry_run && !o->parity)	/* these write nothing: end at once */
		stop_handle();
	if ((comm = comm_open(&argc, &argv, o->step_timeout)) == NULL)
		return EXIT_USAGE;
	program_rank(comm->rank, comm->size);
	own = cores_threads(comm);		/* cores_threads() is collective, so call it
					 * whatever --threads says */
	want = vt_train_session_options(o, own);
	/* Until the session is open, rank 0 prints each message once for all
	 * ranks that have it. */
	comm_hold(comm);
	if (o->replay != NULL) {
		status = replay_open(&again, comm, o->replay, o->steps);
		again.override = &o->override;
		again.out = stdout;
		want.replay = &again;
	}
	if (!o->dry_run && !o->parity)
		progress_start(comm->rank == 0 && o->quiet == 0 ?
		    (enum progress_mode)o->progress : PROGRESS_NEVER);
	if (status == 0)
		status = session_open(&s, comm, &want);
	comm_unhold(comm);
	if (status == 0 && o->dry_run)
		status = session_check_begin(&s, o->verbose && comm->rank == 0 ?
		    stdout : NULL);
	if (status == 0 && o->parity)
		status = trainer_check_ranks(&s.t, 0);
	if (status == 0 && o->time)
		status = comm_agree(comm, estimate_measure(&s.t, own, &time) ?
		    EXIT_FAILED : 0);
	if (status == 0 && o->dry_run && comm->rank == 0)
		vt_train_print_plan(o, &s, &time);
	if (o->parity && status == 0)
		status = comm_agree(comm, comm->rank == 0 ?
		    parity_plans(s.t.net, s.t.state.seed, stdout) : 0);
	if (status == 0 && !o->dry_run && !o->parity)
		status = o->replay != NULL ? vt_train_replay(o, &s) :
		    session_end(&s, vt_train_run(o, &s, arguments));
	session_close(&s);
	comm_close(comm);
	replay_close(&again);
	if ((o->dry_run || o->parity || o->replay != NULL) &&
	    stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	if (o->replay != NULL && status == EXIT_FAILED)
		stop_reraise();
	free(arguments);
	return status;
}
