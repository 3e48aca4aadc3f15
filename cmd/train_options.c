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
#include "train/run/export.h"
#include "train/run/identity.h"
#include "train/run/rundir.h"
#include "train_options.h"

static struct train_options o = { .set = SETTINGS };

static const struct option_row rows[] = {
	OPTION_HEADING("What to train"),
	{ 'i', "data", OPTION_TEXT, &o.set.data, "DIR",
	    "train on a packed dataset, or on videos",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | FREE_FACT },
	{ 0, "root", OPTION_TEXT, &o.set.videos.root, "DIR",
	    "start paths and keys of a list at DIR", NULL, 0, 0, FREE_HOST },
	{ 0, "group", OPTION_TEXT, &o.set.videos.group, "COLUMN",
	    "let rows with one value of COLUMN be one recording",
	    NULL, 0, 0, RESUME_FACT },
	{ 0, "short-side", OPTION_INT, &o.set.videos.short_side, "N",
	    "downscale the short side of videos to N (%)",
	    NULL, 0, 16384, RESUME_FACT },
	{ 0, "fps", OPTION_TEXT, &o.set.fps, "RATE",
	    "resample videos to RATE frames a second", NULL, 0, 0, RESUME_FACT },
	{ 0, "cache", OPTION_TEXT, &o.set.videos.cache, "DIR",
	    "keep the packed videos in DIR, for other runs, too",
	    NULL, 0, 0, FREE_HOST },
	{ 0, "on-error", OPTION_CHOICE, &o.set.videos.skip, "WHAT",
	    "stop at a refused video, or skip it (%)", "stop|skip",
	    0, 0, RESUME_FACT },
	{ 'm', "model", OPTION_TEXT, &o.set.model, "NET",
	    "choose an installed network or a .net file (%)",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | RESUME_FACT },
	{ 0, "schedule", OPTION_TEXT, &o.set.schedule, "FILE",
	    "read the schedule from vt-schedule; -: stdin",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | RESUME_FACT },
	{ 0, "epochs", OPTION_INT, &o.by.epochs, "N",
	    "train N epochs without --schedule (%: by rule)",
	    NULL, 0, SCHEDULE_EPOCHS, OPTION_COMMON | RESUME_FACT },
	{ 0, "batch", OPTION_INT, &o.by.batch, "CLIPS",
	    "set the clips of its batches (%: by rule)",
	    NULL, 0, SCHEDULE_BATCH, RESUME_FACT },
	{ 0, "lr", OPTION_REAL, &o.by.lr, "LR",
	    "set its learning rate (%: of the recipe)",
	    NULL, 0, 1e6, RESUME_FACT },
	{ 0, "frames", OPTION_INT, &o.by.frames, "T",
	    "set the frames of its clips (%: by rule)",
	    NULL, 0, SCHEDULE_FRAMES, RESUME_FACT },
	{ 0, "crop", OPTION_INT, &o.by.crop, "PIXELS",
	    "set its crop size (%: by rule)",
	    NULL, 0, SCHEDULE_CROP, RESUME_FACT },
	{ 0, "loss", OPTION_CHOICE, &o.set.loss, "KIND",
	    "set a missing loss: sigmoid, focal, ... (%)",
	    LOSS_NAMES, 0, 0, 0 },
	{ 0, "focal-gamma", OPTION_REAL, &o.set.focal_gamma, "X",
	    "set the exponent of --loss=focal (%)", NULL, 0, FOCUS_MAX, 0 },
	{ 0, "class-weight", OPTION_TEXT, &o.set.class_weight, "HOW",
	    "weight classes in the loss: inverse:P, or a FILE",
	    "inverse:P|FILE", 0, 0, OPTION_INPUT | FREE_FACT },
	{ 0, "init", OPTION_TEXT, &o.set.init, "FILE",
	    "load weights of vt, torchvision, TSM, ...",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | FREE_RANK_0 },
	{ 0, "init-partial", OPTION_FLAG, &o.set.init_partial, NULL,
	    "accept a FILE that fits only in part",
	    NULL, 0, 0, RESUME_START },
	{ 0, "freeze", OPTION_LIST, &o.set.freeze, "PATTERN",
	    "freeze these operators; may be repeated",
	    "backbone|partial-bn|PATTERN", 0, 0, 0 },
	{ 's', "seed", OPTION_INT, &o.set.seed, "N",
	    "seed weights, order, crops and flips (%)",
	    NULL, 0, 9e15, OPTION_COMMON },
	OPTION_HEADING("Clips"),
	OPTION_CLIPS(o.set.clips, 0),
	{ 0, "flip-swap", OPTION_TEXT, &o.set.flip_swap, "FILE",
	    "swap classes of flips by FILE, or by something",
	    "something|FILE", 0, 0, OPTION_INPUT | FREE_FACT },
	{ 0, "balance", OPTION_REAL, &o.set.balance, "P",
	    "visit rare classes more often (%: as the data; 1)",
	    NULL, 0, 1, 0 },
	OPTION_OPTIMIZER(o.set),
	{ 0, "bn-running", OPTION_CHOICE, &o.set.bn_running, "RULE",
	    "average group variances, or aggregate them (%)",
	    "mean|aggregate", 0, 0, 0 },
	OPTION_LEARNERS(o.set.learners),
	OPTION_HEADING("Validation"),
	{ 0, "val", OPTION_TEXT, &o.set.validation, "WHAT",
	    "validate on a set, on videos, or on a part of -i",
	    "none|P%|DIR", 0, 0, OPTION_COMMON | OPTION_INPUT | FREE_FACT },
	{ 0, "val-every", OPTION_REAL, &o.set.val_every, "EPOCHS",
	    "validate every EPOCHS (%; 0: only at the end)",
	    NULL, 0, 1e6, RESUME_VALIDATION },
	{ 0, "val-frames", OPTION_INT, &o.set.val_frames, "T",
	    "set the frames of a validation clip (last stage's)",
	    NULL, 0, 1024, RESUME_VALIDATION },
	{ 0, "val-crop", OPTION_INT, &o.set.val_crop, "PIXELS",
	    "set the crop size of validations (last stage's)",
	    NULL, 0, 4096, RESUME_VALIDATION },
	{ 0, "precise-bn", OPTION_TEXT, &o.set.precise_bn, "CLIPS",
	    "measure BN statistics over CLIPS, or off (%)",
	    "auto|off|CLIPS", 0, 0, 0 },
	OPTION_HEADING("Run"),
	{ 'o', "output", OPTION_TEXT, &o.set.output, "DIR",
	    "write checkpoints and log to DIR",
	    RUNDIR_NAMES, 0, 0, OPTION_COMMON | OPTION_OUTPUT | FREE_HOST },
	{ 0, "resume", OPTION_TEXT, &o.set.resume, "WHAT",
	    "resume from the newest, a FILE, or never (%)",
	    "auto|never|FILE", 0, 0, OPTION_INPUT | RESUME_START },
	{ 0, "override", OPTION_LIST, &o.set.override, "NAME",
	    "resume although NAME differs; may be repeated",
	    NULL, 0, 0, FREE_RANK_0 },
	{ 0, "save-every", OPTION_TIME, &o.set.save_every, "TIME",
	    "save a checkpoint every 30s, 2h, ...; 0: off (%)",
	    NULL, 0, 1e9, OPTION_COMMON | RESUME_GUARD },
	{ 0, "save-steps", OPTION_INT, &o.set.save_steps, "N",
	    "save a checkpoint every N steps (%: off)",
	    NULL, 0, 1e9, RESUME_GUARD },
	{ 0, "keep", OPTION_INT, &o.set.keep, "N",
	    "keep the N newest checkpoints (%)", NULL, 1, 1e6, RESUME_GUARD },
	{ 0, "keep-best", OPTION_CHOICE, &o.set.keep_best, "METRIC",
	    "keep the best by top1, map, loss or none (%)",
	    BEST_NAMES, 0, 0, RESUME_GUARD },
	{ 0, "stop-after", OPTION_TIME, &o.set.stop_after, "TIME",
	    "save and stop after TIME, exit 75 (%: off)",
	    NULL, 0, 1e9, RESUME_GUARD },
	{ 0, "max-loss", OPTION_REAL, &o.set.max_loss, "X",
	    "treat a larger loss as divergence (%: NaN, Inf only)",
	    NULL, 0, 1e30, RESUME_GUARD },
	{ 0, "on-nan", OPTION_TEXT, &o.set.on_nan, "WHAT",
	    "fail at a step that is not finite, or skip:K (%)",
	    "fail|skip:K", 0, 0, RESUME_GUARD },
	{ 0, "on-corrupt", OPTION_TEXT, &o.set.on_corrupt, "WHAT",
	    "fail at damaged clips, or replace: skip:RATE (%)",
	    "fail|skip:RATE", 0, 0, RESUME_GUARD },
	{ 0, "step-timeout", OPTION_TIME, &o.set.step_timeout, "TIME",
	    "limit waits for clips, saves, ranks; 0: off (%)",
	    NULL, 0, 1e9, RESUME_GUARD },
	{ 0, "log-every", OPTION_INT, &o.set.log_every, "STEPS",
	    "write a line of the log every STEPS (%)",
	    NULL, 1, 1e6, RESUME_GUARD },
	{ 0, "tensorboard", OPTION_FLAG, &o.set.tensorboard, NULL,
	    "also write event files for TensorBoard",
	    NULL, 0, 0, RESUME_GUARD },
	{ 0, "audit", OPTION_INT, &o.set.audit, "STEPS",
	    "compute a microbatch twice every STEPS (%: off)",
	    NULL, 0, 1e9, RESUME_GUARD },
	{ 0, "audit-report", OPTION_FLAG, &o.set.audit_report, NULL,
	    "warn if audited gradients differ, and continue",
	    NULL, 0, 0, RESUME_GUARD },
	{ 0, "replay", OPTION_TEXT, &o.replay, "RUN",
	    "recompute a run and compare its checkpoints",
	    NULL, 0, 0, OPTION_INPUT | FREE_RANK_0 },
	{ 0, "replay-steps", OPTION_TEXT, &o.replay_steps, "A:B",
	    "replay only from checkpoint A to checkpoint B",
	    NULL, 0, 0, RESUME_START },
	{ 0, "status", OPTION_TEXT, &o.status, "DIR",
	    "print the state of a run: exit 0 done, 75 unfinished",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | RESUME_START },
	{ 0, "export", OPTION_TEXT, &o.export, "FILE",
	    "export the weights of the run -o to FILE, and end",
	    EXPORT_BEGINS, 0, 0, OPTION_OUTPUT | RESUME_START },
	{ 0, "names", OPTION_TEXT, &o.names, "PROGRAM",
	    "use the tensor names of PROGRAM in that file",
	    "torchvision|tsm|pyslowfast|mmaction2", 0, 0, RESUME_START },
	{ 'n', "dry-run", OPTION_FLAG, &o.dry_run, NULL,
	    "print the plan: shapes, memory, steps, work",
	    NULL, 0, 0, OPTION_COMMON | RESUME_START },
	{ 0, "time", OPTION_FLAG, &o.time, NULL,
	    "time each shape with -n and estimate the run",
	    NULL, 0, 0, RESUME_START },
	{ 0, "parity", OPTION_FLAG, &o.parity, NULL,
	    "compare each operator of the run with ref, and end",
	    NULL, 0, 0, RESUME_START },
	OPTION_HEADING("Machine"),
	OPTION_DEVICE(&o.set.device, 0),
	OPTION_PRECISION(&o.set.precision, 0),
	OPTION_AUTOTUNE(&o.set.autotune, 0),
	OPTION_RANK_THREADS(&o.set.threads),
	{ 0, "loader-threads", OPTION_TEXT, &o.set.loader_threads, "N",
	    "load clips with N threads in a rank, or auto (%)",
	    "auto|N", 0, 0, FREE_HOST },
	OPTION_LOADER_MEMORY(&o.set.loader_memory),
	{ 0, "trace-samples", OPTION_TEXT, &o.trace_samples, "FILE",
	    "list every clip: step, key, frames, crop, effects",
	    "#step\tclip\tkey\t", 0, 0, OPTION_OUTPUT | FREE_HOST },
	OPTION_SUMS(o.set.sums),
	OPTION_HEADING("Common"),
	OPTION_RECIPE(&o.recipe),
	OPTION_CONFIG(&o.config),
	OPTION_PROGRESS(&o.progress),
	OPTION_QUIET(&o.quiet),
	OPTION_VERBOSE(&o.verbose),
	OPTION_END
};

/* Runs of commit 72104f0 have these settings; "" stands for unset. */
static const struct option_removed removed[] = {
	{ "learner-groups", "0" },
	{ "group-every", "1" },
	{ "outer-momentum", "0" },
	{ "outer-lr", "1" },
	{ "fuse", "yes" },
	{ "stage", "" },
	{ "stage-command", "" },
	{ NULL, NULL }
};

/* Return the directory with the run that would be resumed, NULL if a new run
 * would begin.  The caller frees it. */
static char *
train_options_resumed(void)
{
	uint64_t *steps = NULL;
	char *dir = NULL;

	if (strcmp(o.set.resume, "auto") != 0)
		return strcmp(o.set.resume, "never") != 0 ?
		    path_dir(o.set.resume) : NULL;
	if (o.set.output != NULL && rundir_checkpoints(o.set.output, "",
	    &steps) > 0)
		dir = xstrdup(o.set.output);
	free(steps);
	return dir;
}

/* Return the recipe.  At a resume, that of the run holds, with its network. */
static const char *
train_options_recipe(void)
{
	static char *own;
	char *dir = train_options_resumed();

	if (dir == NULL)
		return o.recipe != NULL || options_given("schedule") ||
		    o.status != NULL || o.export != NULL ? o.recipe : "small";
	own = path_join(dir, RUNDIR_RECIPE);
	free(dir);
	if (file_size(own) >= 0)
		return own;
	/* The run is of version 0.2.0, which kept no recipe. */
	if (!options_given("model"))
		o.set.model = "tsm_r50";
	return o.recipe;
}

static const struct command command = {
	.usage = "[OPTION]... --data=DIR [--schedule=FILE] --output=DIR",
	.summary = "Train a network on videos; under mpirun, on all ranks together.",
	.example = "vt-train --data=train --model=tsm_tiny --schedule=s.tsv --output=run",
	.rows = rows,
	.versions = common_versions,
	.removed = removed,
	.packed = ": vt-extract OPTION... VIDEO... | vt-pack -o SET, and vt-train "
	    "--data=SET",
	.recipe = train_options_recipe
};

/*
 * For --replay, which reads the settings of the run: reset options about time,
 * files and machine of that run, unless they were typed.  Use the copies of
 * schedule and network in the run.
 */
static void
train_options_forget_place(void)
{
	o.set.val = NULL;
	if (!options_on_line("output"))
		o.set.output = NULL;
	if (!options_on_line("trace-samples"))
		o.trace_samples = NULL;
	if (!options_on_line("stop-after"))
		o.set.stop_after = 0;
	if (!options_on_line("audit"))
		o.set.audit = 0;
	if (!options_on_line("quiet"))
		o.quiet = 0;
	if (!options_on_line("threads"))
		o.set.threads = 0;
	if (!options_on_line("schedule"))
		o.set.schedule = path_join(o.replay, "schedule.tsv");
	if (!options_on_line("model"))
		o.set.model = path_join(o.replay, "network.net");
}

/* Parse --val, of which a path with '%' at its end begins with a folder. */
static void
train_options_parse_val(void)
{
	const char *text = o.set.validation;
	char *number;

	if (text == NULL || strcmp(text, "none") == 0)
		return;
	if (!text_ends(text, "%") || strchr(text, '/') != NULL) {
		o.set.val = text;
		return;
	}
	number = xprintf("%.*s", (int)strlen(text) - 1, text);
	if (text_real(number, 1, 50, &o.set.holdout) != 0)
		options_wrong("--val=%s (wanted 1%% to 50%%, none, or a "
		    "directory)", text_quote(text));
	o.set.holdout /= 100;
	free(number);
}

/* Check each value by itself, and parse values that are texts. */
static void
train_options_check_values(void)
{
	double power;

	for (size_t i = 0; i < o.set.override.n; i++) {
		struct buffer names = { 0 };

		if (!identity_may_override(o.set.override.item[i], &names))
			options_wrong("--override=%s (wanted one of %s)",
			    text_quote(o.set.override.item[i]), names.data);
		buffer_free(&names);
	}
	if (o.set.class_weight != NULL && class_weights_power(o.set.class_weight,
	    &power) < 0)
		options_wrong("--class-weight=%s (wanted inverse:P, P from 0 to "
		    "1, or a file)", text_quote(o.set.class_weight));
	if (o.set.fps != NULL && fps_parse(o.set.fps, &o.set.videos.fps) != 0)
		options_wrong("--fps=%s (wanted frames a second, up to 1000, "
		    "such as 12, 29.97 or 30000/1001)", text_quote(o.set.fps));
	if (o.set.loss_scale != NULL && strcmp(o.set.loss_scale,
	    "dynamic") == 0)
		o.set.scale = -1;
	else if (o.set.loss_scale != NULL && text_real(o.set.loss_scale, 1,
	    1e9, &o.set.scale) != 0)
		options_wrong("--loss-scale=%s (wanted dynamic, or a number from "
		    "1 to 1e9)", text_quote(o.set.loss_scale));
	clips_check(&o.set.clips);
	if (sums_check(o.set.sums.allreduce) != 0)
		options_wrong("--allreduce=%s (wanted auto, native, ring, torus, "
		    "torus:XxY or halving)", text_quote(o.set.sums.allreduce));
	if (precise_parse(o.set.precise_bn, &o.set.precise) != 0)
		options_wrong("--precise-bn=%s (wanted auto, off, or a number "
		    "of clips up to %d)", text_quote(o.set.precise_bn),
		    PRECISE_CLIPS_MAX);
	if (o.set.precise == 0)
		o.set.precise_bn = "0";	/* the spelling that checkpoints
					 * store */
	if (strcmp(o.set.loader_threads, "auto") == 0)
		o.set.loaders = 0;
	else if (text_int(o.set.loader_threads, 1, 1024,
	    &o.set.loaders) != 0)
		options_wrong("--loader-threads=%s (wanted auto, or a number from "
		    "1 to 1024)", text_quote(o.set.loader_threads));
	if (not_finite_parse(o.set.on_nan, &o.set.skips) != 0)
		options_wrong("--on-nan=%s (wanted fail or skip:K)",
		    text_quote(o.set.on_nan));
	if (corrupt_parse(o.set.on_corrupt, &o.set.corrupt) != 0)
		options_wrong("--on-corrupt=%s (wanted fail or skip:RATE, of "
		    "all samples, 0 to 1)", text_quote(o.set.on_corrupt));
}

/* Set the modes that the options request, the last row of each with its value.
 * session.c adds those of the device and of the ranks. */
static void
train_options_set_modes(struct modes *m)
{
	const struct settings *p = &o.set;
	const struct optimizer *by = &optimizers[p->optimizer];
	const struct learner_settings *l = &o.set.learners;
	const struct learner_settings unset = LEARNER_SETTINGS;
	int fast = o.set.sums.deterministic == FAST;
	const struct { enum mode mode; int on; const char *value; } set[] = {
		{ MODE_FAST, fast, NULL },
		{ MODE_ALLREDUCE, strcmp(o.set.sums.allreduce, "auto") != 0,
			o.set.sums.allreduce },
		{ MODE_ALLREDUCE_TABLE, o.set.sums.table != NULL, o.set.sums.table },
		{ MODE_COMM_16, o.set.sums.wire != WIRE_FP32,
			wires[o.set.sums.wire].name },
		{ MODE_LEARNERS, l->n > 0, NULL },
		{ MODE_ONE_LEARNER, l->n == 1, NULL },
		{ MODE_LEARNER_SETTING, l->noise, "noise-scale" },
		{ MODE_LEARNER_SETTING, l->state != unset.state,
			"average-state" },
		{ MODE_LEARNER_SETTING, l->every != unset.every,
			"average-every" },
		{ MODE_NOISE, l->noise, NULL },
		{ MODE_GROWTH, l->grow > 0, NULL },
		{ MODE_GROWTH_SETTING, l->grow_after != unset.grow_after,
			"batch-growth-patience" },
		{ MODE_GROWTH_SETTING, l->grow_above != unset.grow_above,
			"batch-growth-threshold" },
		{ MODE_GROWTH_SETTING, l->grow_by != unset.grow_by,
			"batch-growth-factor" },
		{ MODE_SGD, strcmp(by->name, "sgd") == 0, NULL },
		{ MODE_NESTEROV, p->optimizing.nesterov, by->name },
		{ MODE_TRUST_RATIO, by->ratio != RATIO_NONE, NULL },
		{ MODE_TRUST_CLIP, p->optimizing.trust_clip, by->name },
		{ MODE_CLIP_GRAD, p->clip_grad > 0, NULL },
		{ MODE_CLIP_VALUE, p->clip_value > 0, NULL },
		{ MODE_DYNAMIC_SCALE, p->scale < 0 ||
			(p->loss_scale == NULL && o.set.precision ==
			PRECISION_FP16), NULL },
		{ MODE_EMA, p->ema > 0, NULL },
		{ MODE_USE_EMA, p->use_ema, NULL },
		{ MODE_AGGREGATED_BN, o.set.bn_running, NULL },
		{ MODE_PRECISE_BN, o.set.precise != 0, NULL },
		{ MODE_MIXING, o.set.clips.mixup > 0 || o.set.clips.cutmix > 0, NULL },
		{ MODE_BALANCE, o.set.balance > 0, NULL },
		{ MODE_CLASS_WEIGHT, o.set.class_weight != NULL, NULL },
		{ MODE_FOCAL, o.set.loss == FOCAL, NULL },
		{ MODE_FOCAL_GAMMA, o.set.focal_gamma != FOCUS_DEFAULT, NULL },
		{ MODE_FLIP_SWAP, o.set.flip_swap != NULL, NULL },
		{ MODE_NO_FLIP, !o.set.clips.flip, NULL },
		{ MODE_AUDIT, o.set.audit > 0, NULL },
		{ MODE_ON_NAN, o.set.skips > 0, NULL },
		{ MODE_ON_CORRUPT, o.set.corrupt >= 0, NULL },
		{ MODE_AUTOTUNE, o.set.autotune == CHOOSE_FASTEST || (o.set.autotune ==
			CHOOSE_AUTO && fast), NULL },
		{ MODE_INIT, o.set.init != NULL, NULL },
		{ MODE_INIT_PARTIAL, o.set.init_partial, NULL },
		{ MODE_RESUME, strcmp(o.set.resume, "auto") != 0 && strcmp(o.set.resume,
			"never") != 0, o.set.resume },
		{ MODE_REPLAY, o.replay != NULL, NULL },
		{ MODE_REPLAY_STEPS, o.replay_steps != NULL, NULL },
		{ MODE_OUTPUT, options_on_line("output"), NULL },
		{ MODE_DRY_RUN, o.dry_run, NULL },
		{ MODE_TIME, o.time, NULL },
		{ MODE_PARITY, o.parity, NULL },
	};

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		if (set[i].on)
			modes_put(m, set[i].mode, 1, set[i].value);
}

/* Refuse a run in the folder of its dataset, where both have a classes.txt. */
static void
train_options_refuse_dataset(const char *option, const char *path)
{
	struct stat a, b;

	if (path != NULL && o.set.output != NULL && stat(path, &a) == 0 &&
	    stat(o.set.output, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		options_wrong("--output=%s is also an input, by --%s (wanted another "
		    "directory)", text_quote(o.set.output), option);
}

/* Choose the schedule of a run without --schedule: that of the run that it
 * resumes, unless the command line has numbers for a new one. */
static void
train_options_check_schedule(void)
{
	static const char *const names[] = { "epochs", "batch", "lr", "frames",
		"crop" };
	char *dir = train_options_resumed();
	int numbers = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (options_on_line(names[i]) && options_given("schedule"))
			options_wrong("--%s with --schedule=%s (wanted one of "
			    "them)", names[i], text_quote(o.set.schedule));
		numbers |= options_on_line(names[i]);
	}
	o.set.make_schedule = train_schedule_text;
	o.set.schedule_how = &o.by;
	if (o.set.schedule == NULL && dir != NULL && !numbers)
		o.run_schedule = path_join(dir, "schedule.tsv");
	free(dir);
}

static void
train_options_check(void)
{
	char *refused;
	int ranks, rank = launch_rank(&ranks);

	if (o.set.data == NULL)
		options_wrong("no dataset (wanted --data=DIR)");
	train_options_check_schedule();
	train_options_check_values();
	train_options_set_modes(&o.set.modes);
	if ((refused = modes_refused(&o.set.modes)) != NULL)
		options_wrong("%s", refused);
	if (o.set.output == NULL && !o.dry_run && !o.parity && o.replay == NULL)
		options_wrong("no run directory (wanted --output=DIR)");
	train_options_refuse_dataset("data", o.set.data);
	train_options_refuse_dataset("val", o.set.val);
	if (o.set.output == NULL && options_on_line("resume"))
		options_wrong("--resume without --output=DIR");
	if (o.set.output != NULL && file_size(o.set.output) >= 0 && !file_is_dir(o.set.output))
		options_wrong("--output=%s is a file (wanted a directory for "
		    "checkpoints and log)",
		    text_quote(o.set.output));
	if (o.trace_samples != NULL && ranks > 1)
		options_writes("trace-samples", xprintf("%s.%d", o.trace_samples, rank));
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
	train_options_parse_val();
	o.set.validates = o.set.val != NULL || o.set.holdout > 0;
	o.set.by_rule = o.set.schedule == NULL;
	if (o.replay != NULL)
		train_options_forget_place();
	train_options_check();
	return &o;
}
