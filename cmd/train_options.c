/* The options of vt-train: the table, the checks, and the modes they
 * request. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cpus.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "media/fps.h"
#include "train/guard/corrupt.h"
#include "train/guard/not_finite.h"
#include "train/loop/precise.h"
#include "train/loop/session.h"
#include "train/run/export_run.h"
#include "train/run/fingerprint.h"
#include "train/run/rundir.h"
#include "train/run/versions.h"
#include "train_options.h"

static struct train_options o = {
	.model = "tsm_r50", .focal_gamma = FOCUS_DEFAULT, .resume = "auto", .device = "cpu",
	.fuse = 1, .on_nan = "fail", .on_corrupt = "fail",
	.clips = CLIP_SETTINGS, .optimizing = OPTIMIZER_OPTIONS,
	.sums = SUM_SETTINGS, .learners = LEARNER_SETTINGS,
	.precise = "auto", .seed = 1, .keep = 3, .save_every = 600, .log_every = 10,
	.val_every = 1, .short_side = 256, .step_timeout = 600,
	.loading = "2", .loader_memory = 512 << 20,
};

static const struct option_row rows[] = {
	OPTION_HEADING("What to train"),
	{ 'i', "data", OPTION_TEXT, &o.data, "DIR",
	    "train on a packed dataset, or on videos",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "root", OPTION_TEXT, &o.root, "DIR",
	    "start paths and keys of a list at DIR", NULL, 0, 0, 0 },
	{ 0, "short-side", OPTION_INT, &o.short_side, "N",
	    "downscale the short side of videos to N (256)",
	    NULL, 0, 16384, 0 },
	{ 0, "fps", OPTION_TEXT, &o.fps, "RATE",
	    "resample videos to RATE frames a second", NULL, 0, 0, 0 },
	{ 0, "on-error", OPTION_CHOICE, &o.on_error, "WHAT",
	    "stop at a refused video, or skip it (stop)", "stop|skip",
	    0, 0, 0 },
	{ 'm', "model", OPTION_TEXT, &o.model, "NET",
	    "choose an installed network or a .net file (tsm_r50)",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "schedule", OPTION_TEXT, &o.schedule, "FILE",
	    "read the schedule from vt-schedule; -: stdin",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "loss", OPTION_CHOICE, &o.loss, "KIND",
	    "set a missing loss: sigmoid, focal, ... (softmax)",
	    LOSS_NAMES, 0, 0, 0 },
	{ 0, "focal-gamma", OPTION_REAL, &o.focal_gamma, "X",
	    "set the exponent of --loss=focal (2)", NULL, 0, FOCUS_MAX, 0 },
	{ 0, "class-weight", OPTION_TEXT, &o.class_weight, "HOW",
	    "weight classes in the loss: inverse:P, or a FILE",
	    "inverse:P|FILE", 0, 0, OPTION_INPUT },
	{ 0, "init", OPTION_TEXT, &o.init, "FILE",
	    "load weights of vt, torchvision, TSM, ...",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "init-partial", OPTION_FLAG, &o.init_partial, NULL,
	    "accept a FILE that fits only in part",
	    NULL, 0, 0, 0 },
	{ 0, "freeze", OPTION_LIST, &o.freeze, "PATTERN",
	    "freeze these operators; may be repeated",
	    "backbone|partial-bn|PATTERN", 0, 0, 0 },
	{ 's', "seed", OPTION_INT, &o.seed, "N",
	    "seed weights, order, crops and flips (1)",
	    NULL, 0, 9e15, OPTION_COMMON },
	OPTION_HEADING("Clips"),
	OPTION_CLIPS(o.clips, 0),
	{ 0, "flip-swap", OPTION_TEXT, &o.flips, "FILE",
	    "swap classes of flips by FILE, or by something",
	    "something|FILE", 0, 0, OPTION_INPUT },
	{ 0, "balance", OPTION_REAL, &o.balance, "P",
	    "visit rare classes more often (0: as the data; 1)",
	    NULL, 0, 1, 0 },
	OPTION_OPTIMIZER(o.optimizing),
	{ 0, "bn-running", OPTION_CHOICE, &o.running, "RULE",
	    "average group variances, or aggregate them (mean)",
	    "mean|aggregate", 0, 0, 0 },
	OPTION_LEARNERS(o.learners),
	OPTION_HEADING("Validation"),
	{ 0, "val", OPTION_TEXT, &o.val, "DIR",
	    "validate on a packed dataset, or on videos",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "val-every", OPTION_REAL, &o.val_every, "EPOCHS",
	    "validate every EPOCHS (1; 0: only at the end)",
	    NULL, 0, 1e6, 0 },
	{ 0, "val-frames", OPTION_INT, &o.val_frames, "T",
	    "set the frames of a validation clip (last stage's)",
	    NULL, 0, 1024, 0 },
	{ 0, "val-crop", OPTION_INT, &o.val_crop, "PIXELS",
	    "set the crop size of validations (last stage's)", NULL, 0, 4096, 0 },
	{ 0, "precise-bn", OPTION_TEXT, &o.precise, "CLIPS",
	    "measure BN statistics over CLIPS, or off (auto)",
	    "auto|off|CLIPS", 0, 0, 0 },
	OPTION_HEADING("Run"),
	{ 'o', "output", OPTION_TEXT, &o.out, "DIR",
	    "write checkpoints and log to DIR",
	    RUNDIR_NAMES, 0, 0, OPTION_COMMON | OPTION_OUTPUT },
	{ 0, "resume", OPTION_TEXT, &o.resume, "WHAT",
	    "resume from the newest, a FILE, or never (auto)",
	    "auto|never|FILE", 0, 0, OPTION_INPUT },
	{ 0, "override", OPTION_LIST, &o.override, "NAME",
	    "resume although NAME differs; may be repeated",
	    NULL, 0, 0, 0 },
	{ 0, "save-every", OPTION_TIME, &o.save_every, "TIME",
	    "save a checkpoint every 30s, 2h, ...; 0: off (10m)",
	    NULL, 0, 1e9, OPTION_COMMON },
	{ 0, "save-steps", OPTION_INT, &o.save_steps, "N",
	    "save a checkpoint every N steps (0: off)", NULL, 0, 1e9, 0 },
	{ 0, "keep", OPTION_INT, &o.keep, "N",
	    "keep the N newest checkpoints (3)", NULL, 1, 1e6, 0 },
	{ 0, "keep-best", OPTION_CHOICE, &o.keep_best, "METRIC",
	    "keep the best by top1, map, loss or none (top1)",
	    "top1|loss|none|map", 0, 0, 0 },
	{ 0, "stop-after", OPTION_TIME, &o.stop_after, "TIME",
	    "save and stop after TIME, exit 75 (0: off)",
	    NULL, 0, 1e9, OPTION_COMMON },
	{ 0, "max-loss", OPTION_REAL, &o.max_loss, "X",
	    "treat a larger loss as divergence (0: NaN, Inf only)",
	    NULL, 0, 1e30, 0 },
	{ 0, "on-nan", OPTION_TEXT, &o.on_nan, "WHAT",
	    "fail at a step that is not finite, or skip:K (fail)",
	    "fail|skip:K", 0, 0, 0 },
	{ 0, "on-corrupt", OPTION_TEXT, &o.on_corrupt, "WHAT",
	    "fail at damaged clips, or replace: skip:RATE (fail)",
	    "fail|skip:RATE", 0, 0, 0 },
	{ 0, "step-timeout", OPTION_TIME, &o.step_timeout, "TIME",
	    "limit waits for clips, saves, ranks; 0: off (10m)",
	    NULL, 0, 1e9, 0 },
	{ 0, "log-every", OPTION_INT, &o.log_every, "STEPS",
	    "write a line of the log every STEPS (10)", NULL, 1, 1e6, 0 },
	{ 0, "tensorboard", OPTION_FLAG, &o.tensorboard, NULL,
	    "also write event files for TensorBoard",
	    NULL, 0, 0, 0 },
	{ 0, "audit", OPTION_INT, &o.audit, "STEPS",
	    "compute a microbatch twice every STEPS (0: off)",
	    NULL, 0, 1e9, 0 },
	{ 0, "audit-report", OPTION_FLAG, &o.audit_report, NULL,
	    "warn if audited gradients differ, and continue",
	    NULL, 0, 0, 0 },
	{ 0, "replay", OPTION_TEXT, &o.replay, "RUN",
	    "recompute a run and compare its checkpoints",
	    NULL, 0, 0, OPTION_INPUT },
	{ 0, "replay-steps", OPTION_TEXT, &o.steps, "A:B",
	    "replay only from checkpoint A to checkpoint B", NULL, 0, 0, 0 },
	{ 0, "status", OPTION_TEXT, &o.status, "DIR",
	    "print the state of a run: exit 0 done, 75 unfinished",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "export", OPTION_TEXT, &o.export, "FILE",
	    "export the weights of the run -o to FILE, and end",
	    EXPORT_BEGINS, 0, 0, OPTION_OUTPUT },
	{ 0, "names", OPTION_TEXT, &o.names, "PROGRAM",
	    "use the tensor names of PROGRAM in that file",
	    "torchvision|tsm|pyslowfast|mmaction2", 0, 0, 0 },
	{ 'n', "dry-run", OPTION_FLAG, &o.dry_run, NULL,
	    "print the plan: shapes, memory, steps, work",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "time", OPTION_FLAG, &o.time, NULL,
	    "time each shape with -n and estimate the run",
	    NULL, 0, 0, 0 },
	{ 0, "parity", OPTION_FLAG, &o.parity, NULL,
	    "compare each operator of the run with ref, and end",
	    NULL, 0, 0, 0 },
	OPTION_HEADING("Machine"),
	OPTION_DEVICE(&o.device, 0),
	OPTION_PRECISION(&o.precision, 0),
	OPTION_AUTOTUNE(&o.autotune, 0),
	OPTION_FUSE(&o.fuse, 0),
	OPTION_RANK_THREADS(&o.threads),
	{ 0, "loader-threads", OPTION_TEXT, &o.loading, "N",
	    "load clips with N threads in a rank, or auto (2)",
	    "auto|N", 0, 0, OPTION_COMMON },
	OPTION_LOADER_MEMORY(&o.loader_memory),
	{ 0, "stage", OPTION_TEXT, &o.stage, "DIR",
	    "copy the datasets to DIR on each host, and read them",
	    NULL, 0, 0, 0 },
	{ 0, "stage-command", OPTION_TEXT, &o.stage_command, "COMMAND",
	    "fetch shard {} of {dir} by COMMAND, which prints it",
	    NULL, 0, 0, 0 },
	{ 0, "trace-samples", OPTION_TEXT, &o.trace, "FILE",
	    "list every clip: step, key, frames, crop, effects",
	    "#step\tclip\tkey\t", 0, 0, OPTION_OUTPUT },
	OPTION_SUMS(o.sums),
	OPTION_HEADING("Common"),
	OPTION_CONFIG(&o.config),
	OPTION_PROGRESS(&o.progress),
	OPTION_QUIET(&o.quiet),
	OPTION_VERBOSE(&o.verbose),
	OPTION_END
};

/* Runs of version 0.2.0 have these settings. */
static const struct option_removed removed[] = {
	{ "learner-groups", "0" },
	{ "group-every", "1" },
	{ "outer-momentum", "0" },
	{ "outer-lr", "1" },
	{ NULL, NULL }
};

static const struct command command = {
	.usage = "[OPTION]... --data=DIR --schedule=FILE --output=DIR",
	.summary = "Train a network on videos; under mpirun, on all ranks together.",
	.example = "vt-train --data=train --model=tsm_tiny --schedule=s.tsv --output=run",
	.rows = rows,
	.versions = train_versions,
	.removed = removed
};

/*
 * For --replay, which reads the settings of the run: reset options about time,
 * files and machine of that run, unless they were typed.  Use the copies of
 * schedule and network in the run.
 */
static void
train_options_forget_place(void)
{
	o.val = NULL;
	if (!options_on_line("stage"))
		o.stage = o.stage_command = NULL;
	if (!options_on_line("output"))
		o.out = NULL;
	if (!options_on_line("trace-samples"))
		o.trace = NULL;
	if (!options_on_line("stop-after"))
		o.stop_after = 0;
	if (!options_on_line("audit"))
		o.audit = 0;
	if (!options_on_line("quiet"))
		o.quiet = 0;
	if (!options_on_line("threads"))
		o.threads = 0;
	if (!options_on_line("schedule"))
		o.schedule = path_join(o.replay, "schedule.tsv");
	if (!options_on_line("model"))
		o.model = path_join(o.replay, "network.net");
}

/* Check each value by itself, and parse values that are texts. */
static void
train_options_check_values(void)
{
	double power;

	for (size_t i = 0; i < o.override.n; i++)
		if (!fingerprint_may_override(o.override.item[i])) {
			struct buffer b = { 0 };

			fingerprint_overrides(&b);
			options_wrong("--override=%s (wanted one of %s)",
			    text_quote(o.override.item[i]), b.data);
		}
	if (o.class_weight != NULL && class_weights_power(o.class_weight,
	    &power) < 0)
		options_wrong("--class-weight=%s (wanted inverse:P, P from 0 to "
		    "1, or a file)", text_quote(o.class_weight));
	if (o.stage_command != NULL && strstr(o.stage_command, "{}") == NULL)
		options_wrong("--stage-command=%s: no {} for the name of the "
		    "shard", text_quote(o.stage_command));
	if (o.fps != NULL && fps_parse(o.fps, &o.rate) != 0)
		options_wrong("--fps=%s (wanted frames a second, up to 1000, "
		    "such as 12, 29.97 or 30000/1001)", text_quote(o.fps));
	optimizer_options_scale(&o.optimizing);
	clips_check(&o.clips);
	if (sums_check(o.sums.allreduce) != 0)
		options_wrong("--allreduce=%s (wanted auto, native, ring, torus, "
		    "torus:XxY or halving)", text_quote(o.sums.allreduce));
	if (precise_parse(o.precise, &o.precise_clips) != 0)
		options_wrong("--precise-bn=%s (wanted auto, off, or a number "
		    "of clips up to %d)", text_quote(o.precise),
		    PRECISE_CLIPS_MAX);
	if (o.precise_clips == 0)
		o.precise = "0";	/* the spelling that checkpoints
					 * store */
	if (strcmp(o.loading, "auto") != 0 && text_int(o.loading, 1, 1024,
	    &o.loader_threads) != 0)
		options_wrong("--loader-threads=%s (wanted auto, or a number from "
		    "1 to 1024)", text_quote(o.loading));
	if (not_finite_parse(o.on_nan, &o.skips) != 0)
		options_wrong("--on-nan=%s (wanted fail or skip:K)",
		    text_quote(o.on_nan));
	if (corrupt_parse(o.on_corrupt, &o.corrupt) != 0)
		options_wrong("--on-corrupt=%s (wanted fail or skip:RATE, of "
		    "all samples, 0 to 1)", text_quote(o.on_corrupt));
}

/* Return the first option set that needs --learners, NULL if there is none. */
static const char *
train_options_of_learners(const struct learner_settings *l)
{
	const struct learner_settings unset = LEARNER_SETTINGS;

	return l->every != unset.every ? "average-every" :
	    l->state != unset.state ? "average-state" :
	    l->noise ? "noise-scale" : NULL;
}

/* Return the first option set that needs --batch-growth-max, NULL if there is
 * none. */
static const char *
train_options_of_growth(const struct learner_settings *l)
{
	const struct learner_settings unset = LEARNER_SETTINGS;

	return l->grow_by != unset.grow_by ? "batch-growth-factor" :
	    l->grow_above != unset.grow_above ? "batch-growth-threshold" :
	    l->grow_after != unset.grow_after ? "batch-growth-patience" : NULL;
}

/* Set the modes that the options request.  session.c adds those of the device
 * and of the ranks. */
static void
train_options_set_modes(struct modes *m)
{
	const struct optimizer_options *p = &o.optimizing;
	const struct optimizer *by = &optimizers[p->optimizer];
	const struct learner_settings *l = &o.learners;
	const char *of_learners = train_options_of_learners(l);
	const char *of_growth = train_options_of_growth(l);
	int fast = o.sums.deterministic == FAST;
	const struct { enum mode mode; int on; const char *value; } set[] = {
		{ MODE_FAST, fast, NULL },
		{ MODE_ALLREDUCE, strcmp(o.sums.allreduce, "auto") != 0,
			o.sums.allreduce },
		{ MODE_ALLREDUCE_TABLE, o.sums.table != NULL, o.sums.table },
		{ MODE_COMM_16, o.sums.wire != WIRE_FP32,
			wires[o.sums.wire].name },
		{ MODE_LEARNERS, l->n > 0, NULL },
		{ MODE_ONE_LEARNER, l->n == 1, NULL },
		{ MODE_LEARNER_SETTING, of_learners != NULL, of_learners },
		{ MODE_NOISE, l->noise, NULL },
		{ MODE_GROWTH, l->grow > 0, NULL },
		{ MODE_GROWTH_SETTING, of_growth != NULL, of_growth },
		{ MODE_SGD, strcmp(by->name, "sgd") == 0, NULL },
		{ MODE_NESTEROV, p->set.nesterov, by->name },
		{ MODE_TRUST_RATIO, by->ratio != RATIO_NONE, NULL },
		{ MODE_TRUST_CLIP, p->set.trust_clip, by->name },
		{ MODE_CLIP_GRAD, p->clip > 0, NULL },
		{ MODE_CLIP_VALUE, p->clip_value > 0, NULL },
		{ MODE_DYNAMIC_SCALE, optimizer_options_scale(p) < 0 ||
			(p->loss_scale == NULL && o.precision ==
			PRECISION_FP16), NULL },
		{ MODE_EMA, p->ema > 0, NULL },
		{ MODE_USE_EMA, p->use_ema, NULL },
		{ MODE_AGGREGATED_BN, o.running, NULL },
		{ MODE_PRECISE_BN, o.precise_clips != 0, NULL },
		{ MODE_MIXING, o.clips.mixup > 0 || o.clips.cutmix > 0, NULL },
		{ MODE_BALANCE, o.balance > 0, NULL },
		{ MODE_CLASS_WEIGHT, o.class_weight != NULL, NULL },
		{ MODE_FOCAL, o.loss == FOCAL, NULL },
		{ MODE_FOCAL_GAMMA, o.focal_gamma != FOCUS_DEFAULT, NULL },
		{ MODE_FLIP_SWAP, o.flips != NULL, NULL },
		{ MODE_NO_FLIP, !o.clips.flip, NULL },
		{ MODE_AUDIT, o.audit > 0, NULL },
		{ MODE_ON_NAN, o.skips > 0, NULL },
		{ MODE_ON_CORRUPT, o.corrupt >= 0, NULL },
		{ MODE_AUTOTUNE, o.autotune == CHOOSE_FASTEST || (o.autotune ==
			CHOOSE_AUTO && fast), NULL },
		{ MODE_INIT, o.init != NULL, NULL },
		{ MODE_INIT_PARTIAL, o.init_partial, NULL },
		{ MODE_RESUME, strcmp(o.resume, "auto") != 0 && strcmp(o.resume,
			"never") != 0, o.resume },
		{ MODE_REPLAY, o.replay != NULL, NULL },
		{ MODE_REPLAY_STEPS, o.steps != NULL, NULL },
		{ MODE_OUTPUT, options_on_line("output"), NULL },
		{ MODE_DRY_RUN, o.dry_run, NULL },
		{ MODE_TIME, o.time, NULL },
		{ MODE_PARITY, o.parity, NULL },
		{ MODE_STAGE, o.stage != NULL, NULL },
		{ MODE_STAGE_COMMAND, o.stage_command != NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		modes_put(m, set[i].mode, set[i].on, set[i].value);
}

/* Refuse a run in the folder of its dataset, where both have a classes.txt. */
static void
train_options_refuse_dataset(const char *option, const char *path)
{
	struct stat a, b;

	if (path != NULL && o.out != NULL && stat(path, &a) == 0 &&
	    stat(o.out, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		options_wrong("--output=%s is also an input, by --%s (wanted another "
		    "directory)", text_quote(o.out), option);
}

static void
train_options_check(void)
{
	char *refused;
	int ranks, rank = launch_rank(&ranks);

	if (o.data == NULL)
		options_wrong("no dataset (wanted --data=DIR)");
	if (o.schedule == NULL)
		options_wrong("no schedule (wanted --schedule=FILE; vt-schedule "
		    "makes one)");
	train_options_check_values();
	train_options_set_modes(&o.modes);
	if ((refused = modes_refused(&o.modes)) != NULL)
		options_wrong("%s", refused);
	if (o.out == NULL && !o.dry_run && !o.parity && o.replay == NULL)
		options_wrong("no run directory (wanted --output=DIR)");
	train_options_refuse_dataset("data", o.data);
	train_options_refuse_dataset("val", o.val);
	if (o.out == NULL && options_on_line("resume"))
		options_wrong("--resume without --output=DIR");
	if (o.out != NULL && file_size(o.out) >= 0 && !file_is_dir(o.out))
		options_wrong("--output=%s is a file (wanted a directory for "
		    "checkpoints and log)",
		    text_quote(o.out));
	if (o.trace != NULL && ranks > 1)
		options_writes("trace-samples", xprintf("%s.%d", o.trace, rank));
}

struct train_options *
train_options_read(int *argc, char ***argv)
{
	int operand;

	*argv = options_from("replay", "config", argc, *argv);
	operand = options_parse(&command, *argc, *argv);
	program_quiet(o.quiet);
	program_verbose(o.verbose);
	if (operand < *argc)
		options_wrong("%s: no operands are taken",
		    text_quote((*argv)[operand]));
	o.uses_run = o.status != NULL || o.export != NULL ||
	    o.names != NULL;
	if (o.uses_run)
		return &o;
	o.validates = o.val != NULL;
	if (o.replay != NULL)
		train_options_forget_place();
	train_options_check();
	return &o;
}
