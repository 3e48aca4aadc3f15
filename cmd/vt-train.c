/* vt-train: shards, a network and a schedule become checkpoints. */
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
#include "train/clips.h"
#include "train/corrupt.h"
#include "train/export_run.h"
#include "train/facts.h"
#include "train/freeze.h"
#include "train/learner_options.h"
#include "train/memory.h"
#include "train/optimizer_options.h"
#include "train/not_finite.h"
#include "train/options.h"
#include "train/parity.h"
#include "train/replay.h"
#include "train/room.h"
#include "train/session.h"
#include "train/status.h"
#include "train/sum_options.h"
#include "train/versions.h"

static const char *config, *data, *val, *model = "tsm_r50", *schedule_path;
static const char *out, *resume = "auto", *status_dir, *trace;
static const char *replayed, *steps, *on_nan = "fail";
static const char *on_corrupt = "fail";
static const char *device = "cpu", *init, *export, *names;
static const char *flips;
static struct clip_settings clips = CLIP_SETTINGS;
static int running, loss, keep_best, tensorboard, dry_run, parity;
static int init_partial, precision, quiet, verbose, progress, audit_report;
static int64_t threads, loader_threads = 2, loader_memory = 512 << 20;
static int64_t seed = 1, keep = 3, save_steps, log_every = 10;
static int64_t val_frames, val_crop, precise;
static int64_t audit, skips;
static struct optimizer_options optimizing = OPTIMIZER_OPTIONS;
static double corrupt, save_every = 600;
static double val_every = 1, stop_after, max_loss, step_timeout = 600;
static struct sum_settings sums = SUM_OPTIONS;
static struct learner_options learners = LEARNER_OPTIONS;
static struct option_list freeze, override;
static struct replay again;

static const struct option_row rows[] = {
	OPTION_HEADING("What to train"),
	{ 'i', "data", OPTION_TEXT, &data, "DIR",
	    "packed dataset to train on", NULL, 0, 0, 0 },
	{ 'm', "model", OPTION_TEXT, &model, "NET",
	    "network that is installed, or a .net file (tsm_r50)",
	    NULL, 0, 0, 0 },
	{ 0, "schedule", OPTION_TEXT, &schedule_path, "FILE",
	    "shapes and lr by epoch, from vt-schedule; - is stdin",
	    NULL, 0, 0, 0 },
	{ 0, "loss", OPTION_CHOICE, &loss, "KIND",
	    "of a network without one: softmax, sigmoid (softmax)",
	    "softmax|sigmoid", 0, 0, 0 },
	{ 0, "init", OPTION_TEXT, &init, "FILE",
	    "begin from weights: of vt, torchvision, TSM, ...",
	    NULL, 0, 0, 0 },
	{ 0, "init-partial", OPTION_FLAG, &init_partial, NULL,
	    "although less than half of the backbone is in FILE",
	    NULL, 0, 0, 0 },
	{ 0, "freeze", OPTION_LIST, &freeze, "PATTERN",
	    "do not train these operators; may be repeated",
	    "backbone|partial-bn|PATTERN", 0, 0, 0 },
	{ 's', "seed", OPTION_INT, &seed, "N",
	    "weights, order, crops and flips follow from it (1)",
	    NULL, 0, 9e15, 0 },
	OPTION_HEADING("Clips"),
	OPTION_CLIPS(clips),
	{ 0, "flip-swap", OPTION_TEXT, &flips, "FILE",
	    "classes that a flip swaps: something, or a table",
	    "something|FILE", 0, 0, 0 },
	OPTION_OPTIMIZER(optimizing),
	{ 0, "bn-running", OPTION_CHOICE, &running, "RULE",
	    "running variances: mean or aggregate of groups",
	    "mean|aggregate", 0, 0, 0 },
	OPTION_LEARNERS(learners),
	OPTION_HEADING("Validation"),
	{ 0, "val", OPTION_TEXT, &val, "DIR",
	    "packed dataset to validate on", NULL, 0, 0, 0 },
	{ 0, "val-every", OPTION_REAL, &val_every, "EPOCHS",
	    "epochs between validations; 0: at the end only (1)",
	    NULL, 0, 1e6, 0 },
	{ 0, "val-frames", OPTION_INT, &val_frames, "T",
	    "frames of a clip there (as in the last stage)",
	    NULL, 0, 1024, 0 },
	{ 0, "val-crop", OPTION_INT, &val_crop, "PIXELS",
	    "crop size there (as in the last stage)", NULL, 0, 4096, 0 },
	{ 0, "precise-bn", OPTION_INT, &precise, "CLIPS",
	    "measure BN statistics on so many first; 0: no (0)",
	    NULL, 0, SCHEDULE_BATCH / 2, 0 },
	OPTION_HEADING("Run"),
	{ 'o', "out", OPTION_TEXT, &out, "DIR",
	    "directory of the run: checkpoints and log", NULL, 0, 0, 0 },
	{ 0, "resume", OPTION_TEXT, &resume, "WHAT",
	    "from the newest in DIR (auto), from a FILE, or never",
	    "auto|never|FILE", 0, 0, 0 },
	{ 0, "override", OPTION_LIST, &override, "NAME",
	    "resume although NAME differs; may be repeated",
	    NULL, 0, 0, 0 },
	{ 0, "save-every", OPTION_TIME, &save_every, "TIME",
	    "between checkpoints, as 30s, 10m, 2h; 0: never (10m)",
	    NULL, 0, 1e9, 0 },
	{ 0, "save-steps", OPTION_INT, &save_steps, "N",
	    "steps between checkpoints; 0: never (0)", NULL, 0, 1e9, 0 },
	{ 0, "keep", OPTION_INT, &keep, "N",
	    "newest checkpoints to keep (3)", NULL, 1, 1e6, 0 },
	{ 0, "keep-best", OPTION_CHOICE, &keep_best, "METRIC",
	    "of best.safetensors: top1, map, loss or none (top1)",
	    "top1|loss|none|map", 0, 0, 0 },
	{ 0, "stop-after", OPTION_TIME, &stop_after, "TIME",
	    "save and stop after this, exit 75; 0: never (0)",
	    NULL, 0, 1e9, 0 },
	{ 0, "max-loss", OPTION_REAL, &max_loss, "X",
	    "a larger loss is divergence; 0: only NaN, Inf (0)",
	    NULL, 0, 1e30, 0 },
	{ 0, "on-nan", OPTION_TEXT, &on_nan, "WHAT",
	    "a step that is not finite: fail or skip:K (fail)",
	    "fail|skip:K", 0, 0, 0 },
	{ 0, "on-corrupt", OPTION_TEXT, &on_corrupt, "WHAT",
	    "damaged clips: fail or replace, skip:RATE (fail)",
	    "fail|skip:RATE", 0, 0, 0 },
	{ 0, "step-timeout", OPTION_TIME, &step_timeout, "TIME",
	    "to wait for clips, saves, ranks; 0: for ever (10m)",
	    NULL, 0, 1e9, 0 },
	{ 0, "log-every", OPTION_INT, &log_every, "STEPS",
	    "steps that a line of the log stands for (10)", NULL, 1, 1e6, 0 },
	{ 0, "tensorboard", OPTION_FLAG, &tensorboard, NULL,
	    "write the log as event files of TensorBoard, too",
	    NULL, 0, 0, 0 },
	{ 0, "audit", OPTION_INT, &audit, "STEPS",
	    "compute a microbatch twice every STEPS; 0: never (0)",
	    NULL, 0, 1e9, 0 },
	{ 0, "audit-report", OPTION_FLAG, &audit_report, NULL,
	    "go on when its gradients differ, with a warning",
	    NULL, 0, 0, 0 },
	{ 0, "replay", OPTION_TEXT, &replayed, "RUN",
	    "compute a run again, hold it against its checkpoints",
	    NULL, 0, 0, 0 },
	{ 0, "steps", OPTION_TEXT, &steps, "A:B",
	    "only from that checkpoint to this one", NULL, 0, 0, 0 },
	{ 0, "status", OPTION_TEXT, &status_dir, "DIR",
	    "say how a run stands: exit 0 done, 75 to go on, ...",
	    NULL, 0, 0, 0 },
	{ 0, "export", OPTION_TEXT, &export, "FILE",
	    "write the weights in DIR for others, and end",
	    NULL, 0, 0, 0 },
	{ 0, "names", OPTION_TEXT, &names, "PROGRAM",
	    "whose names the weights in that file have",
	    "torchvision|tsm|pyslowfast|mmaction2", 0, 0, 0 },
	{ 'n', "dry-run", OPTION_FLAG, &dry_run, NULL,
	    "print the plan: shapes, memory, steps, work",
	    NULL, 0, 0, 0 },
	{ 0, "parity", OPTION_FLAG, &parity, NULL,
	    "hold each operator of the run against ref, and end",
	    NULL, 0, 0, 0 },
	OPTION_HEADING("Machine"),
	OPTION_DEVICE(&device),
	OPTION_PRECISION(&precision),
	OPTION_RANK_THREADS(&threads),
	OPTION_LOADER_THREADS(&loader_threads),
	OPTION_LOADER_MEMORY(&loader_memory),
	{ 0, "trace-samples", OPTION_TEXT, &trace, "FILE",
	    "list every clip: step, key, frames, crop, flip",
	    NULL, 0, 0, 0 },
	OPTION_SUMS(sums),
	OPTION_HEADING("Common"),
	OPTION_CONFIG(&config),
	OPTION_PROGRESS(&progress),
	OPTION_QUIET(&quiet),
	OPTION_VERBOSE(&verbose),
	OPTION_END
};

static const struct command command = {
	"[OPTION]... --data=DIR --schedule=FILE --out=DIR",
	"Train a network on packed clips; under mpirun, on all ranks together.",
	"vt-train --data=train --model=tsm_tiny --schedule=s.tsv --out=run",
	rows, train_versions, NULL
};

static void
check_options(void)
{
	if (init != NULL && strcmp(resume, "auto") != 0 &&
	    strcmp(resume, "never") != 0)
		options_wrong("--init and --resume=%s: a run begins from "
		    "weights, or goes on from a checkpoint (wanted one of "
		    "them)", text_quote(resume));
	if (init == NULL && init_partial)
		options_wrong("--init-partial without --init=FILE");
	if (data == NULL)
		options_wrong("no dataset (wanted --data=DIR)");
	if (schedule_path == NULL)
		options_wrong("no schedule (wanted --schedule=FILE; vt-schedule "
		    "makes one)");
	for (size_t i = 0; i < override.n; i++)
		if (!facts_may_override(override.item[i])) {
			struct buffer b = { 0 };

			facts_overrides(&b);
			options_wrong("--override=%s (wanted one of %s)",
			    text_quote(override.item[i]), b.data);
		}
	optimizer_options_check(&optimizing);
	clips_check(&clips);
	if (flips != NULL && !clips.flip)
		options_wrong("--flip-swap and --no-flip (wanted one of them)");
	sum_options_check(&sums);
	learner_options_check(&learners);
	if (parity && dry_run)
		options_wrong("--parity and --dry-run (wanted one of them)");
	if (sums.deterministic == FAST && (audit > 0 || replayed != NULL))
		options_wrong("%s is for --deterministic=exact (it is fast)",
		    audit > 0 ? "--audit" : "--replay");
	if (learners.n > 0 && (audit > 0 || strcmp(on_nan, "fail") != 0 ||
	    strcmp(on_corrupt, "fail") != 0))
		options_wrong("--learners cannot be with --audit, --on-nan=skip or "
		    "--on-corrupt=skip");
	if (on_nan_parse(on_nan, &skips) != 0)
		options_wrong("--on-nan=%s (wanted fail or skip:K)",
		    text_quote(on_nan));
	if (corrupt_parse(on_corrupt, &corrupt) != 0)
		options_wrong("--on-corrupt=%s (wanted fail or skip:RATE, of "
		    "all samples, 0 to 1)", text_quote(on_corrupt));
	if (steps != NULL && replayed == NULL)
		options_wrong("--steps without --replay=RUN");
	if (replayed != NULL && (options_typed("out") || dry_run || parity))
		options_wrong("--replay only compares (wanted no --out, "
		    "--dry-run or --parity)");
	if (out == NULL && !dry_run && !parity && replayed == NULL)
		options_wrong("nowhere to put the run (wanted --out=DIR)");
}

/*
 * All settings, as they are kept in the run: paths in it are good from any
 * directory, and a schedule that came by a pipe is the run's own copy.
 */
static char *
kept_settings(void)
{
	const char **const path[] = { &data, &val, &out, &trace, &schedule_path,
		&model, &resume, &init, &flips, &sums.table };
	enum { PATHS = sizeof(path) / sizeof(path[0]) };
	const char *typed[PATHS];
	char *whole[PATHS] = { 0 }, *text;

	for (int i = 0; i < PATHS; i++)
		typed[i] = *path[i];
	for (int i = 0; i < PATHS; i++) {
		const char *p = typed[i];

		if (p == NULL || (path[i] == &model && strchr(p, '/') == NULL &&
		    !text_ends(p, ".net")) ||
		    (path[i] == &flips && strchr(p, '/') == NULL &&
		    !text_ends(p, ".tsv")) ||
		    (path[i] == &resume && (strcmp(p, "auto") == 0 ||
		    strcmp(p, "never") == 0)))
			continue;
		if (path[i] == &schedule_path && strcmp(p, "-") == 0)
			whole[i] = path_join(out, "schedule.tsv");
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

/* The copy of a network in a run has the loss that --loss gave it. */
static int
has_loss(void)
{
	return replayed != NULL && !options_typed("model");
}

static struct session_options
asked(struct comm *c)
{
	static const enum keep_best best[] = { BEST_TOP1, BEST_LOSS, BEST_NONE,
		BEST_MAP };
	int own = cores(c);		/* of all ranks, whatever is set here */

	struct session_options o = {
		.data = data, .val = val, .model = model,
		.schedule = schedule_path, .device = device,
		.precision = (enum precision)precision, .out = out,
		.resume = resume, .loss = loss && !has_loss() ? LOSS_SIGMOID :
			LOSS_SOFTMAX,
		.flips = flips, .groups = optimizing.groups, .init = init,
		.init_partial = init_partial, .freeze = &freeze,
		.override = &override, .sums = sums,
		.sharded = optimizing.sharded,
		.threads = threads > 0 ? (int)threads : own,
		.keep = (int)keep, .tensorboard = tensorboard,
		.optimizer = &optimizers[optimizing.optimizer],
		.optimizing = optimizing.set, .clip = optimizing.clip,
		.clip_value = optimizing.clip_value,
		.ema = optimizing.ema,
		.loss_scale = optimizer_options_scale(&optimizing),
		.smoothing = optimizing.smoothing,
		.aggregate = running,
		.loading = { .seed = (uint64_t)seed,
			.threads = (int)loader_threads,
			.audit = audit, .replaces = corrupt >= 0,
			.memory = (size_t)loader_memory },
		.viewing = { .threads = (int)loader_threads,
			.sampler = (enum sampler)clips.sampler, .validate = 1,
			.rule = crop_view((enum crop_rule)clips.augment),
			.clips = 1, .crops = 1, .n = 8, .t = (int)val_frames,
			.side = (int)val_crop,
			.memory = (size_t)loader_memory },
		.trainer = { .save_every = save_every,
			.save_steps = save_steps, .val_every = val_every,
			.precise = precise,
			.best = best[keep_best], .log_every = log_every,
			.stop_after = stop_after, .max_loss = max_loss,
			.use_ema = optimizing.use_ema,
			.learners = learners, .skips = skips,
			.corrupt = corrupt, .audit_report = audit_report },
	};

	clips_set(&clips, &o.loading);
	return o;
}

/*
 * --replay: what the settings of the run say of its own time and place is not
 * meant; schedule and network are the copies in it.
 */
static void
forget_place(void)
{
	static const char *const text[] = { "out", "val", "trace-samples" };
	const char **to[] = { &out, &val, &trace };

	for (int i = 0; i < 3; i++)
		if (!options_typed(text[i]))
			*to[i] = NULL;
	if (!options_typed("stop-after"))
		stop_after = 0;
	if (!options_typed("audit"))
		audit = 0;
	if (!options_typed("quiet"))
		quiet = 0;
	if (!options_typed("threads"))
		threads = 0;
	if (!options_typed("schedule"))
		schedule_path = path_join(replayed, "schedule.tsv");
	if (!options_typed("model"))
		model = path_join(replayed, "network.net");
}

/* Not a run: a file of one. */
static int
export_weights(void)
{
	if (export == NULL || names == NULL || out == NULL)
		options_wrong("%s (wanted --export=FILE --names=PROGRAM "
		    "--out=RUN)", export == NULL ? "--names, and no file to "
		    "export" : names == NULL ? "--export, and no names" :
		    "--export, and no run");
	return export_run(out, export, names, optimizing.use_ema);
}

/* What a run that there is can be asked for: how far it is, its weights. */
static int
use_run(void)
{
	int status;

	if (status_dir == NULL)
		return export_weights();
	status = run_status(status_dir, stdout);
	return stdout_done() != 0 ? EXIT_FAILED : status;
}

static FILE *
open_trace(const struct comm *c)
{
	char *path = c->size == 1 ? xstrdup(trace) :
	    xprintf("%s.%d", trace, c->rank);
	FILE *f = fopen(path, "w");

	if (f == NULL)
		fail_errno("%s: cannot create", text_quote(path));
	free(path);
	return f;
}

/* What a run is, for those who ask. */
static void
say_run(const struct session *s)
{
	uint64_t samples = dataset_samples(s->train);

	detail("%s: %" PRIu64 " samples of %d classes", text_quote(data), samples,
	    dataset_classes(s->train));
	detail("%s: %" PRIu64 " parameters on %s in %s, %d rank%s of %d "
	    "thread%s",
	    s->graph->name, (uint64_t)graph_parameters(s->graph),
	    s->backend->name, s->device->precision, s->comm->size,
	    s->comm->size == 1 ? "" : "s",
	    s->o.threads, s->o.threads == 1 ? "" : "s");
	if (sums.deterministic == FAST)
		detail("gradients: %s", s->t.sums.text);
	if (freeze.n > 0)
		detail("%s: %zu parameters are frozen", s->graph->name,
		    freeze_count(s->graph));
	detail("%s: epochs %d, steps %" PRIu64 ", done %" PRIu64,
	    text_quote(schedule_path), schedule_epochs(s->schedule),
	    schedule_steps(s->schedule, samples), s->t.state.step);
}

/* Rank 0 writes down what the run was started with. */
static int
write_record(struct session *s, char *const *argument)
{
	char *settings = kept_settings();
	int status = session_record(s, settings, argument);

	free(settings);
	return status;
}

static int
train(struct session *s, char *const *argument)
{
	int status = 0;

	if ((status = session_begin(s)) != 0)
		return status;
	say_run(s);
	if (trace != NULL &&
	    (s->t.loading.trace = open_trace(s->comm)) == NULL)
		status = EXIT_FAILED;
	if (s->comm->rank == 0 && status == 0)
		status = write_record(s, argument);
	if ((status = comm_agree(s->comm, status)) != 0)
		return status;
	progress_start(s->comm->rank == 0 && quiet == 0 ?
	    (enum progress_mode)progress : PROGRESS_NEVER);
	if (s->comm->rank == 0 && quiet == 0)
		stop_say("\nvt-train: note: the step is finished and saved first; "
		    "a second Ctrl-C ends at once\n");
	/* A pipe that is closed must not end the run: the log has everything. */
	signal(SIGPIPE, SIG_IGN);
	status = trainer_run(&s->t);
	if (s->t.loading.trace != NULL && fclose(s->t.loading.trace) != 0 &&
	    status == 0) {
		fail_errno("%s: cannot write", text_quote(trace));
		status = EXIT_FAILED;
	}
	return status;
}

/* Nothing is written but what comes of it. */
static int
replay(struct session *s)
{
	int status = session_begin(s);

	if (status != 0)
		return status;
	say_run(s);
	progress_start(s->comm->rank == 0 && quiet == 0 ?
	    (enum progress_mode)progress : PROGRESS_NEVER);
	if (s->comm->rank == 0)
		puts("#step\tresult\tdiffer\tfirst");
	return trainer_run(&s->t);
}

static void
print_plan(const struct session *s)
{
	trainer_print_plan(&s->t, stdout);
	if (verbose)
		trainer_explain(&s->t, stdout);
	if (out != NULL)
		room_check(&s->t.optim.slots, out, (int)keep, val != NULL &&
		    s->t.o.best != BEST_NONE, stdout);
}

int
main(int argc, char **argv)
{
	static struct session s;	/* its log ends after main */
	struct session_options o;
	struct comm *comm;
	char **arguments = xcalloc((size_t)argc + 1, sizeof(*arguments));
	int status, operand;

	/* As they were typed: what is no option is moved behind the others. */
	memcpy(arguments, argv, (size_t)argc * sizeof(*arguments));
	program_start(argv[0]);
	argv = options_from("replay", "config", &argc, argv);
	operand = options_parse(&command, argc, argv);
	program_quiet(quiet);
	program_verbose(verbose);
	if (operand < argc)
		options_wrong("%s: no operands are taken",
		    text_quote(argv[operand]));
	if (status_dir != NULL || export != NULL || names != NULL) {
		free(arguments);
		return use_run();
	}
	if (replayed != NULL)
		forget_place();
	check_options();
	stop_handle();
	if ((comm = comm_open(&argc, &argv)) == NULL)
		return EXIT_USAGE;
	program_rank(comm->rank, comm->size);
	comm_watch(comm, step_timeout);
	o = asked(comm);
	comm_hold(comm);
	status = replayed != NULL ? replay_open(&again, comm, replayed, steps) :
	    0;
	again.override = &override;
	again.out = stdout;
	o.replay = replayed != NULL ? &again : NULL;
	if (status == 0)
		status = session_open(&s, comm, &o);
	comm_unhold(comm);
	if (status == 0 && dry_run)
		status = session_look(&s, verbose && comm->rank == 0 ? stdout :
		    NULL);
	if (status == 0 && (dry_run || parity))
		status = trainer_shares(&s.t, 0);
	if (status == 0 && dry_run && comm->rank == 0)
		print_plan(&s);
	if (parity && status == 0)
		status = comm_agree(comm, comm->rank == 0 ?
		    trainer_parity(&s.t, stdout) : 0);
	if (status == 0 && !dry_run && !parity)
		status = memory_fits(&s.t);
	if (status == 0 && !dry_run && !parity)
		status = replayed != NULL ? replay(&s) :
		    session_end(&s, train(&s, arguments));
	session_close(&s);
	comm_close(comm);
	replay_close(&again);
	if ((dry_run || parity || replayed != NULL) && stdout_done() != 0 &&
	    status == 0)
		status = EXIT_FAILED;
	free(arguments);
	return status;
}
