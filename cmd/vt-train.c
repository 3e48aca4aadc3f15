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
#include "comm/watch.h"
#include "ingest/extract_worker.h"
#include "net/parity/plans.h"
#include "train/guard/replay.h"
#include "train/loop/estimate.h"
#include "train/loop/inputs.h"
#include "train/loop/memory.h"
#include "train/loop/session.h"
#include "train/loop/videos.h"
#include "train/run/export.h"
#include "train/run/snapshot.h"
#include "train/run/resume.h"
#include "train/weights/freeze.h"
#include "train_options.h"

/*
 * Return all settings as a configuration file for the run directory, which the
 * caller frees.  Relative paths in ${o} become absolute.  A schedule from
 * standard input, or made by rule, becomes the copy in the run, and ${holdout}
 * is the part of the data that validates.
 */
static char *
vt_train_kept_settings(struct train_options *o, double holdout)
{
	struct settings *s = &o->set;
	const char **const path[] = { &s->data, &s->validation, &s->output,
		&o->trace_samples, &s->schedule, &s->model, &s->resume,
		&s->init, &s->flip_swap, &s->sums.table, &s->class_weight,
		&s->videos.root, &s->videos.cache };
	enum { PATHS = sizeof(path) / sizeof(path[0]) };
	double power;

	for (int i = 0; i < PATHS; i++) {
		const char *p = *path[i];

		if (p == NULL || (path[i] == &s->model &&
		    strchr(p, '/') == NULL && !text_ends(p, ".net")) ||
		    (path[i] == &s->validation && s->val == NULL) ||
		    (path[i] == &s->flip_swap && strchr(p, '/') == NULL &&
		    !text_ends(p, ".tsv")) ||
		    (path[i] == &s->class_weight &&
		    class_weights_power(p, &power) != 0) ||
		    (path[i] == &s->resume && (strcmp(p, "auto") == 0 ||
		    strcmp(p, "never") == 0)))
			continue;
		*path[i] = path[i] == &s->schedule && strcmp(p, "-") == 0 ?
		    path_join(s->output, "schedule.tsv") : path_absolute(p);
	}
	if (s->schedule == NULL)
		s->schedule = path_join(s->output, "schedule.tsv");
	if (s->validation == NULL && holdout > 0)
		s->validation = xprintf("%g%%", 100 * holdout);
	o->recipe = NULL;		/* its settings are among these */
	return options_config(0);
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
	static const struct settings unset = SETTINGS;
	const struct video_settings *v = &o->set.videos;
	const struct { const char *name; int set; } option[] = {
		{ "root", v->root != NULL }, { "group", v->group != NULL }, { "fps", o->set.fps != NULL },
		{ "short-side", v->short_side != unset.videos.short_side },
		{ "on-error", v->skip }, { "cache", v->cache != NULL },
	};

	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i++)
		if (option[i].set || options_on_line(option[i].name))
			return option[i].name;
	return NULL;
}

/* Return the settings of the run on ${own} cores. */
static struct settings
vt_train_settings(const struct train_options *o, int own)
{
	struct settings s = o->set;
	const char *instead = modes_fallback(&s.modes, MODE_AUTOTUNE);

	if (instead != NULL) {
		s.autotune = CHOOSE_RULE;
		detail("autotuning falls back: %s", instead);
	}
	if (vt_train_has_loss(o))
		s.loss = 0;
	if (s.threads == 0)
		s.threads = own;
	if (o->run_schedule != NULL)
		s.schedule = o->run_schedule;
	s.videos.given = vt_train_video_option(o);
	/* A configuration file lists all settings.  So --momentum in it does
	 * not contradict a schedule that sets the momentum. */
	s.given.momentum = options_given("momentum") &&
	    !options_given("config");
	s.given.keep_best = options_given("keep-best");
	return s;
}

/* --export: write the weights of a run to a file. */
static int
vt_train_export_weights(const struct train_options *o)
{
	if (o->export == NULL || o->names == NULL || o->set.output == NULL)
		options_wrong("%s (wanted --export=FILE --names=PROGRAM "
		    "--output=RUN)", o->export == NULL ? "--names without "
		    "--export" : o->names == NULL ? "--export without --names" :
		    "--export without --output");
	return export_run(o->set.output, o->export, o->names, o->set.use_ema);
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
	uint64_t samples = dataset_samples(s->t.train);

	detail("%s: %" PRIu64 " samples of %d classes", text_quote(o->set.data),
	    samples, dataset_classes(s->t.train));
	detail("%s: %" PRIu64 " parameters on %s in %s, %d rank%s of %d "
	    "thread%s",
	    s->graph->name, (uint64_t)graph_parameters(s->graph),
	    s->backend->name, s->device->precision, s->comm->size,
	    s->comm->size == 1 ? "" : "s",
	    (int)s->t.o.threads, s->t.o.threads == 1 ? "" : "s");
	if (o->set.sums.deterministic == FAST)
		detail("gradients: %s", s->t.sums.text);
	if (o->set.freeze.n > 0)
		detail("%s: %zu parameters are frozen", s->graph->name,
		    freeze_count(s->graph));
	detail("%s: epochs %d, steps %" PRIu64 ", done %" PRIu64,
	    s->t.schedule->path, schedule_epochs(s->t.schedule),
	    schedule_steps(s->t.schedule, samples), s->t.state.step);
}

/* On rank 0: record in the run directory how the run was started. */
static int
vt_train_write_record(struct train_options *o, struct session *s,
    char *const *argument)
{
	char *settings = vt_train_kept_settings(o, s->t.o.holdout);
	int status = session_record(s, settings, argument);

	free(settings);
	return status;
}

static int
vt_train_run(struct train_options *o, struct session *s, char *const *argument)
{
	const char *trace = o->trace_samples;
	int status = 0;

	if ((status = session_begin(s, 0, NULL)) != 0 || s->finished)
		return status;
	vt_train_say_run(o, s);
	if (trace != NULL && (s->t.loading.trace = vt_train_open_trace(trace,
	    s->comm)) == NULL)
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
		fail_errno("%s: cannot write", text_quote(trace));
		status = EXIT_FAILED;
	}
	return status;
}

/* --replay: recompute steps and print the comparison.  Write nothing to the
 * run. */
static int
vt_train_replay(const struct train_options *o, struct session *s)
{
	int status = session_begin(s, 0, NULL);

	if (status != 0)
		return status;
	vt_train_say_run(o, s);
	if ((status = trainer_open(&s->t)) != 0)
		return status;
	if (s->comm->rank == 0)
		puts("#step\tresult\tdiffer\tfirst");
	return trainer_run(&s->t);
}

/*
 * Pack the videos of the run.  First plan it with what the lists say, so that
 * no refusal comes after hours of packing.
 */
static int
vt_train_pack(struct videos *p, const struct settings *set,
    struct session_use use)
{
	static struct session s;
	struct comm *c = p->comm;
	double bytes = 0;
	int status;

	use.opens_again = 1;
	status = session_open(&s, c, set, &use);

	if (status == 0 && (status = memory_fits(&s.t)) == 0)
		bytes = snapshot_space(&s.t.optim.slots, set->output,
		    (int)set->keep, s.t.val != NULL && s.t.best != BEST_NONE);
	session_close(&s);
	watch_stop_ends(c->watch, 0);
	if ((status = comm_agree(c, status)) != 0)
		return status;
	comm_unhold(c);
	status = videos_run(p, bytes);
	comm_hold(c);
	return status;
}

/*
 * Let the run train on the sets of its videos.  Pack them if they do not exist;
 * ${write} 0: plan with what the lists say instead.
 */
static int
vt_train_open_videos(struct videos *p, struct settings *set,
    struct session_use *use, int write)
{
	int status;

	for (int i = 0; i < 2; i++)
		use->plan[i] = p->of[i].plan;
	if (videos_due(p) && write) {
		if ((status = vt_train_pack(p, set, *use)) != 0)
			return status;
		use->plan[0] = use->plan[1] = NULL;
	}
	status = videos_use(p, set);
	use->skipped = p->skipped;
	return status;
}

static int
vt_train_print_plan(const struct train_options *o, const struct session *s,
    struct estimate *e, const struct videos *videos)
{
	char *recipe = options_from_recipe();

	trainer_print_plan(&s->t, stdout);
	if (recipe != NULL)
		printf("%-22s %s\n", "# recipe", recipe);
	free(recipe);
	inputs_print_classes(s, stdout);
	if (videos_print(videos, stdout) != 0)
		return -1;
	if (e->steps > 0)
		estimate_print(&s->t, e, stdout);
	else if (o->time)
		printf("%-22s 0 s: all steps are done\n", "# time");
	if (o->verbose) {
		modes_print(&s->t.o.modes, stdout);
		trainer_explain(&s->t, stdout);
	}
	if (o->set.output != NULL)
		snapshot_check_space(&s->t.optim.slots, o->set.output,
		    (int)o->set.keep, s->t.val != NULL &&
		    s->t.best != BEST_NONE, stdout);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct session s;	/* a handler of exit(3) uses it */
	static struct replay again;
	struct videos videos = { .comm = NULL };
	struct train_options *o;
	struct settings set;
	struct session_use use = { 0 };
	struct comm *comm;
	struct estimate time = { 0 };
	char **arguments = xcalloc((size_t)argc + 1, sizeof(*arguments));
	int status = 0, own;

	/* Copy the command line before getopt permutes it. */
	memcpy(arguments, argv, (size_t)argc * sizeof(*arguments));
	program_start(argv[0]);
	if (argc == 3 && strcmp(argv[1], EXTRACT_WORKER) == 0)
		extract_worker_run(argv[2]);
	o = train_options_read(&argc, &argv);
	if (o->uses_run) {
		free(arguments);
		return vt_train_use_run(o);
	}
	if (!o->dry_run && !o->parity)	/* these write nothing: end at once */
		stop_handle();
	if ((comm = comm_open(&argc, &argv, o->set.step_timeout)) == NULL)
		return EXIT_USAGE;
	program_rank(comm->rank, comm->size);
	own = cores_threads(comm);	/* collective: call it even if
					 * --threads is set */
	set = vt_train_settings(o, own);
	use.cores = own;
	use.estimates = o->quiet == 0;
	use.plan_only = o->dry_run && !o->time;
	/* Until the session is open, rank 0 prints each message once for all
	 * ranks that have it. */
	comm_hold(comm);
	if (o->replay != NULL) {
		status = replay_open(&again, comm, o->replay, o->replay_steps);
		again.override = &o->set.override;
		again.out = stdout;
		use.replay = &again;
	}
	if (!o->dry_run && !o->parity)
		progress_start(comm->rank == 0 && o->quiet == 0 ?
		    (enum progress_mode)o->progress : PROGRESS_NEVER);
	if (status == 0)
		status = videos_open(&videos, comm, &set, o->replay != NULL ?
		    o->replay : set.output, o->replay != NULL);
	if (status == 0)
		status = vt_train_open_videos(&videos, &set, &use,
		    !o->dry_run && !o->parity && o->replay == NULL);
	if (status == 0)
		status = session_open(&s, comm, &set, &use);
	comm_unhold(comm);
	if (status == 0 && o->dry_run)
		status = session_begin(&s, 1, o->verbose && comm->rank == 0 ?
		    stdout : NULL);
	if (status == 0 && o->parity)
		status = trainer_check_ranks(&s.t, 0);
	if (status == 0 && o->time)
		status = comm_agree(comm, estimate_measure(&s.t, own, &time) ?
		    EXIT_FAILED : 0);
	if (status == 0 && o->dry_run && comm->rank == 0)
		status = vt_train_print_plan(o, &s, &time, &videos) != 0 ?
		    EXIT_FAILED : 0;
	if (o->parity && status == 0)
		status = comm_agree(comm, comm->rank == 0 ?
		    parity_plans(s.t.net, s.t.state.seed, stdout) : 0);
	if (status == 0 && !o->dry_run && !o->parity)
		status = o->replay != NULL ? vt_train_replay(o, &s) :
		    session_end(&s, vt_train_run(o, &s, arguments));
	session_close(&s);
	videos_close(&videos);
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
