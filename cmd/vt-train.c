/* vt-train: shards, a network and a schedule become checkpoints. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/isa.h"
#include "base/lock.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/share.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/version.h"
#include "comm/cores.h"
#include "shard/stream.h"
#include "train/agree.h"
#include "train/best.h"
#include "train/memory.h"
#include "train/record.h"
#include "train/resume.h"
#include "train/room.h"
#include "train/status.h"
#include "train/trainer.h"

static const char *config, *data, *val, *model = "tsm_r50", *schedule_path;
static const char *out, *resume = "auto", *status_dir, *trace;
static const char *device = "cpu", *groups = "tsm";
static int sampler, augment, flip = 1, nesterov, keep_best, dry_run;
static int quiet, verbose, progress;
static int64_t threads, loader_threads = 2, loader_memory = 512 << 20;
static int64_t seed = 1, keep = 3, save_steps, log_every = 10;
static int64_t val_frames, val_crop, bucket = 4 << 20;
static double momentum = 0.9, decay = 1e-4, clip, save_every = 600;
static double val_every = 1, stop_after, max_loss, step_timeout = 600;
static struct option_list override;

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
	{ 's', "seed", OPTION_INT, &seed, "N",
	    "weights, order, crops and flips follow from it (1)",
	    NULL, 0, 9e15, 0 },
	OPTION_HEADING("Clips"),
	{ 0, "sampler", OPTION_CHOICE, &sampler, "RULE",
	    "choice of frames: tsm, tsm-upstream or dense (tsm)",
	    "tsm|tsm-upstream|dense", 0, 0, 0 },
	{ 0, "augment", OPTION_CHOICE, &augment, "RULE",
	    "choice of crops: multiscale or centre (multiscale)",
	    "multiscale|centre", 0, 0, 0 },
	{ 0, "flip", OPTION_FLAG, &flip, NULL,
	    "flip half of the clips horizontally (yes)",
	    NULL, 0, 0, 0 },
	OPTION_HEADING("Optimiser"),
	{ 0, "momentum", OPTION_REAL, &momentum, "X",
	    "of stochastic gradient descent (0.9)", NULL, 0, 0.99999, 0 },
	{ 0, "nesterov", OPTION_FLAG, &nesterov, NULL,
	    "Nesterov momentum", NULL, 0, 0, 0 },
	{ 0, "weight-decay", OPTION_REAL, &decay, "X",
	    "L2 penalty on weights (0.0001)", NULL, 0, 1, 0 },
	{ 0, "clip-grad", OPTION_REAL, &clip, "NORM",
	    "clip the gradient to this norm; 0: never (0)",
	    NULL, 0, 1e9, 0 },
	{ 0, "param-groups", OPTION_TEXT, &groups, "RULE",
	    "lr, decay of groups: tsm, tsm-fine, plain (tsm)",
	    "tsm|tsm-fine|plain", 0, 0, 0 },
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
	    "of best.safetensors: top1, loss or none (top1)",
	    "top1|loss|none", 0, 0, 0 },
	{ 0, "stop-after", OPTION_TIME, &stop_after, "TIME",
	    "save and stop after this, exit 75; 0: never (0)",
	    NULL, 0, 1e9, 0 },
	{ 0, "max-loss", OPTION_REAL, &max_loss, "X",
	    "a larger loss is divergence; 0: only NaN, Inf (0)",
	    NULL, 0, 1e30, 0 },
	{ 0, "step-timeout", OPTION_TIME, &step_timeout, "TIME",
	    "to wait for clips, saves, ranks; 0: for ever (10m)",
	    NULL, 0, 1e9, 0 },
	{ 0, "log-every", OPTION_INT, &log_every, "STEPS",
	    "steps that a line of the log stands for (10)", NULL, 1, 1e6, 0 },
	{ 0, "status", OPTION_TEXT, &status_dir, "DIR",
	    "say how a run stands: exit 0 done, 75 to go on, ...",
	    NULL, 0, 0, 0 },
	{ 'n', "dry-run", OPTION_FLAG, &dry_run, NULL,
	    "print the plan: shapes, memory, steps, work",
	    NULL, 0, 0, 0 },
	OPTION_HEADING("Machine"),
	{ 0, "device", OPTION_TEXT, &device, "NAME",
	    "back end: cpu, cuda, or the slow ref and ref64 (cpu)",
	    "cpu|cuda|ref|ref64", 0, 0, 0 },
	{ 'j', "threads", OPTION_INT, &threads, "N",
	    "to compute in a rank; 0: its share of the cores (0)",
	    NULL, 0, 1024, 0 },
	{ 0, "loader-threads", OPTION_INT, &loader_threads, "N",
	    "to load clips in a rank (2)", NULL, 1, 1024, 0 },
	{ 0, "loader-memory", OPTION_SIZE, &loader_memory, "BYTES",
	    "pixels loaded ahead in each rank, at most (512M)",
	    NULL, 1, 9e15, 0 },
	{ 0, "bucket", OPTION_SIZE, &bucket, "BYTES",
	    "gradient that ranks all-reduce at a time (4M)", NULL, 4096, 9e15, 0 },
	{ 0, "trace-samples", OPTION_TEXT, &trace, "FILE",
	    "list every clip: step, key, frames, crop, flip",
	    NULL, 0, 0, 0 },
	OPTION_HEADING("Common"),
	OPTION_CONFIG(&config),
	OPTION_PROGRESS(&progress),
	OPTION_QUIET(&quiet),
	OPTION_VERBOSE(&verbose),
	OPTION_END
};

static void
versions(FILE *f)
{
	fprintf(f, "ranks: %s\nprocessor: %s, %d to run on\nback ends:",
	    comm_library(), isa_name(isa_best()), cpus());
	for (int i = 0; backends[i] != NULL; i++)
		if (backends[i]->library != NULL)
			fprintf(f, " %s (%s)", backends[i]->name,
			    backends[i]->library());
		else
			fprintf(f, " %s", backends[i]->name);
	fprintf(f, "\ncheckpoint format 1, shard format 1\n");
}

static const struct command command = {
	"[OPTION]... --data=DIR --schedule=FILE --out=DIR",
	"Train a network on packed clips; under mpirun, on all ranks together.",
	"vt-train --data=train --model=tsm_tiny --schedule=s.tsv --out=run",
	rows, versions, NULL
};

/* What main opens and closes again. */
struct session {
	struct comm *comm;
	int threads;
	const char *build;
	char *schedule_text, *network_text, *network_path, *classes;
	struct schedule *schedule;
	struct dataset *train, *val;
	const struct backend *backend;
	struct device *device;
	struct graph *graph;
	struct net *net;
	struct rundir run;
	struct trainer t;
	char history[33], dataset[33], settings_id[33], val_id[33];
	char class_hash[17];
	char *settings, *recipe, *order;
	char **arguments;
};

/* ---- setting up ---- */

/*
 * The text of a file that rank 0 can read, on every rank: standard input
 * belongs to rank 0 alone, and files may differ from host to host.
 */
static char *
shared_text(struct comm *c, const char *path)
{
	struct buffer b = { 0 };
	int64_t n = -1;

	if (c->rank == 0 && file_read_text(path, &b) == 0)
		n = (int64_t)b.n;
	if (comm_broadcast(c, &n, sizeof(n), 0) != 0 || n < 0) {
		buffer_free(&b);
		return NULL;
	}
	if (c->rank != 0)
		b.data = xcalloc((size_t)n + 1, 1);
	if (comm_broadcast(c, b.data, (size_t)n, 0) != 0)
		buffer_free(&b);
	return b.data;
}

static void
check_options(void)
{
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
	if (out == NULL && !dry_run)
		options_wrong("nowhere to put the run (wanted --out=DIR)");
}

static int
open_schedule(struct session *s)
{
	struct table *t;

	s->schedule_text = shared_text(s->comm, schedule_path);
	if (s->schedule_text == NULL)
		return EXIT_USAGE;
	t = table_parse(strcmp(schedule_path, "-") == 0 ? "standard input" :
	    text_quote(schedule_path), s->schedule_text);
	if (t != NULL)
		s->schedule = schedule_from_table(t);
	table_free(t);
	return s->schedule != NULL ? 0 : EXIT_USAGE;
}

/* Class names, one a line, as checkpoints keep them. */
static char *
class_lines(const struct dataset *d)
{
	struct buffer b = { 0 };

	for (int i = 0; i < dataset_classes(d); i++)
		buffer_printf(&b, "%s\n", dataset_class(d, i));
	return b.data != NULL ? b.data : xstrdup("");
}

/*
 * A sample to train on has one label; of a set to validate on, those that
 * have none do not count, but some must.
 */
static int
check_labels(const struct dataset *d, const char *path, int training)
{
	uint32_t n = dataset_samples(d), none = 0, several = 0;
	const char *key = "", *keys = "";	/* the first of each kind */

	for (uint32_t i = n; i-- > 0;) {
		struct sample m = dataset_sample(d, i);

		if (m.label >= 0)
			continue;
		if (m.flags & SHARD_LABELS) {
			several++;
			keys = m.key;
		} else {
			none++;
			key = m.key;
		}
	}
	if (n == 0)
		return fail("%s: no samples in it", text_quote(path));
	if (none == n)
		return fail("%s: none of its %u samples has a label (vt-extract "
		    "--label-from=dir or --list gives labels)", text_quote(path),
		    n);
	if (several > 0 && (training || several + none == n))
		return fail("%s: %u of %u samples have several labels, %s first "
		    "(wanted one each)", text_quote(path), several, n, keys);
	if (none > 0 && training)
		return fail("%s: %u of %u samples have no label, %s first",
		    text_quote(path), none, n, key);
	return 0;
}

static int
open_data(struct session *s)
{
	int bad;

	if ((s->train = dataset_open(data, &bad)) == NULL)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if (check_labels(s->train, data, 1) != 0)
		return EXIT_USAGE;
	if (dataset_classes(s->train) < 2) {
		fail("%s: %d classes (wanted at least 2)", text_quote(data),
		    dataset_classes(s->train));
		return EXIT_USAGE;
	}
	if (val == NULL)
		return 0;
	if ((s->val = dataset_open(val, &bad)) == NULL)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if (check_labels(s->val, val, 0) != 0)
		return EXIT_USAGE;
	if (dataset_class_hash(s->val) != dataset_class_hash(s->train)) {
		fail("%s: its classes are not those of %s", text_quote(val),
		    text_quote(data));
		return EXIT_USAGE;
	}
	return 0;
}

/* NULL after a message. */
static char *
find_network(void)
{
	char *text = path_join(model, "network.net");

	/* A run is often called as its network is: the network is meant. */
	if (!file_is_dir(model) || share_has("models", model, ".net")) {
		free(text);
		return share_find("models", model, ".net");
	}
	if (file_size(text) >= 0)
		fail("%s: is a directory: --model=%s is the network of that run, "
		    "--out=%s resumes it", text_quote(model), text, model);
	else
		fail("%s: is a directory (wanted the name of a network, or a "
		    ".net file)", text_quote(model));
	free(text);
	return NULL;
}

static int
open_network(struct session *s)
{
	const struct device_options o = { .threads = s->threads };

	s->backend = backend_find(device);
	if (s->comm->rank == 0 && s->backend != NULL)
		s->network_path = find_network();
	if (comm_agree(s->comm, s->backend == NULL || (s->comm->rank == 0 &&
	    s->network_path == NULL)) != 0)
		return EXIT_USAGE;
	s->network_text = shared_text(s->comm, s->network_path);
	if (s->network_text == NULL)
		return EXIT_USAGE;
	s->graph = graph_parse(s->network_path != NULL ? s->network_path : model,
	    s->network_text, dataset_classes(s->train));
	if (s->graph == NULL || loader_has(s->train, &s->graph->needs,
	    s->graph->name) != 0 || (s->val != NULL && loader_has(s->val,
	    &s->graph->needs, s->graph->name) != 0))
		return EXIT_USAGE;
	s->device = device_open(s->backend, &o);
	if (s->device == NULL || (s->net = net_new(s->graph, s->device)) == NULL)
		return EXIT_FAILED;
	return 0;
}

/*
 * How the ranks were started, before they do anything together that depends on
 * it.
 */
static int
check_start(struct session *s)
{
	char program[33];
	struct identity mine = { .program = agree_program(program),
		.build = s->build, .isa = isa_name(isa_best()),
		.settings = s->settings };

	return agree_ranks(s->comm, &mine) == 0 ? 0 : EXIT_RANKS;
}

/* What they have opened. */
static int
check_ranks(struct session *s)
{
	struct identity mine = resume_identity(&s->t.state);
	char schedule[33];

	hash128_text(hash128(s->schedule_text, strlen(s->schedule_text)),
	    schedule);
	mine.schedule = schedule;
	mine.val = s->val_id;
	return agree_ranks(s->comm, &mine) == 0 ? 0 : EXIT_RANKS;
}

/* The shape of validation: asked for, or that of the last stage. */
static void
set_viewing(struct session *s)
{
	const struct stage *last =
	    &s->schedule->stage[s->schedule->stages - 1];
	const struct cell *c = &last->cell[last->cells - 1];

	s->t.state.frames = c->frames;
	s->t.state.crop = c->crop;
	s->t.viewing = (struct view_options){ .threads = (int)loader_threads,
		.sampler = (enum sampler)sampler, .validate = 1, .clips = 1,
		.crops = 1, .n = 8, .t = val_frames > 0 ? (int)val_frames :
		c->frames, .side = val_crop > 0 ? (int)val_crop : c->crop,
		.memory = (size_t)loader_memory, .needs = &s->graph->needs };
}

static FILE *
open_trace(struct session *s)
{
	char *path;
	FILE *f;

	if (trace == NULL)
		return NULL;
	path = s->comm->size == 1 ? xstrdup(trace) :
	    xprintf("%s.%d", trace, s->comm->rank);
	if ((f = fopen(path, "w")) == NULL)
		fail_errno("%s: cannot create", text_quote(path));
	free(path);
	return f;
}

static void
set_trainer(struct session *s)
{
	struct trainer *t = &s->t;

	t->o = (struct trainer_options){ .save_every = save_every,
		.save_steps = save_steps, .val_every = val_every,
		.best = keep_best == 0 ? BEST_TOP1 : keep_best == 1 ? BEST_LOSS :
		BEST_NONE, .log_every = log_every, .stop_after = stop_after,
		.max_loss = max_loss, .bucket = bucket };
	t->comm = s->comm;
	t->net = s->net;
	t->schedule = s->schedule;
	t->train = s->train;
	t->val = s->val;
	t->out = s->comm->rank == 0 ? stdout : NULL;
	t->loading = (struct loader_options){ .seed = (uint64_t)seed,
		.threads = (int)loader_threads, .rank = s->comm->rank,
		.ranks = s->comm->size, .sampler = (enum sampler)sampler,
		.crop = augment == 0 ? CROP_MULTISCALE : CROP_CENTRE,
		.flip = flip, .memory = (size_t)loader_memory,
		.needs = &s->graph->needs };
	t->optim.momentum = momentum;
	t->optim.decay = decay;
	t->optim.nesterov = nesterov;
	t->optim.clip = clip;
	t->state = (struct state){ .seed = (uint64_t)seed, .best = BEST_WORST,
		.best_metric = keep_best == 0 ? "top1" : keep_best == 1 ?
		"loss" : "",
		.build = s->build, .isa = isa_name(isa_best()),
		.library = backend_library(s->backend), .classes = s->classes,
		.class_hash = s->class_hash, .config = s->recipe,
		.dataset = s->dataset, .settings_id = s->settings_id,
		.generation = dataset_generation(s->train),
		.history = s->history, .model = s->graph->name,
		.network = s->network_text, .order = s->order };
	set_viewing(s);
}

/* The hash of the schedule up to a step, as it is kept in checkpoints. */
static void
set_history(struct session *s, uint64_t step)
{
	hash128_text(schedule_prefix_hash(s->schedule,
	    dataset_samples(s->train), step), s->history);
}

static void
describe(struct session *s)
{
	hash128_text(dataset_id(s->train), s->dataset);
	hash128_text(dataset_settings_id(s->train), s->settings_id);
	if (s->val != NULL)
		hash128_text(dataset_id(s->val), s->val_id);
	else
		strcpy(s->val_id, "none");
	snprintf(s->class_hash, sizeof(s->class_hash), "%016" PRIx64,
	    dataset_class_hash(s->train));
	s->recipe = facts_recipe();
	s->classes = class_lines(s->train);
	s->order = xstrdup("v1");
	set_history(s, 0);
}

/* ---- resuming ---- */

/*
 * What was the best so far must have been so by the same metric, and a file
 * must say so; otherwise what comes is compared with nothing.
 */
static void
check_best(struct session *s, struct state *was)
{
	const char *metric = s->t.state.best_metric;
	int other = *was->best_metric != '\0' &&
	    strcmp(was->best_metric, metric) != 0;

	if (was->best_step == 0 && !other)	/* of version 0.1.0, or none */
		was->best_step = best_step_of(out, was->best);
	if (was->best_step > 0 && !other)
		return;
	if (was->best > BEST_WORST && s->t.o.best != BEST_NONE)
		note("the best by %s so far is not known; it is counted anew",
		    metric);
	was->best = BEST_WORST;
	was->best_step = 0;
}

/*
 * Rank 0 finds and checks the checkpoint: 1 found, 0 none, or -status.
 * Nothing is touched before it fits.
 */
static int
find_checkpoint(struct session *s, struct resume *r)
{
	char holder[256];
	int got = 0;

	if (dir_locked(out, RUNDIR_LOCK, holder, sizeof(holder))) {
		fail("%s: in use by another process (host and pid: %s)",
		    text_quote(out), holder);
		return -EXIT_FAILED;
	}
	if (strcmp(resume, "never") == 0) {
		uint64_t *steps;

		got = rundir_checkpoints(out, "", &steps);
		free(steps);
		if (got > 0)
			fail("%s: holds a run already (--resume=auto resumes "
			    "it)", text_quote(out));
		return got == 0 ? 0 : -EXIT_USAGE;
	}
	got = strcmp(resume, "auto") == 0 ? resume_newest(out, r) :
	    resume_file(resume, r);
	if (got < 0)
		return -checkpoint_status(got);
	if (got == 0)
		return 0;
	set_history(s, r->state.step);
	if (resume_check(r, &s->t.state, &override) != 0)
		return -EXIT_USAGE;
	if (checkpoint_load(&r->file, r->path, s->net, s->t.optim.m) != 0)
		return -EXIT_DAMAGE;
	check_best(s, &r->state);
	note("%s: resuming after step %" PRIu64, text_quote(r->path),
	    r->state.step);
	return 1;
}

/*
 * Make and lock the directory.  ${found}: there is a checkpoint, ${r}; while
 * it was read, the directory was not locked.
 */
static int
take_directory(struct session *s, const struct resume *r, int found)
{
	int inside = strcmp(resume, "auto") == 0 || !found;

	s->run.keep = (int)keep;
	if (rundir_open(&s->run, out) != 0)
		return -1;
	s->t.run = &s->run;
	if (inside)
		s->t.safe_step = r->state.step;
	if (inside && resume_set_aside(out, r) != 0)
		return -1;
	return !inside || !found ? 0 : rundir_latest(&s->run, r->state.step,
	    hash128(r->file.file.data, r->file.file.n));
}

/* Numbers that rank 0 tells the others. */
struct where {
	int64_t found;
	uint64_t step, clips, best_step, due;
	double epoch, loss, best;
};

/* A flat buffer from rank 0 to all. */
static int
broadcast_flat(struct session *s, void *flat)
{
	size_t bytes = s->graph->elements * s->device->elem;
	void *host;
	int bad;

	if (s->comm->size == 1)
		return 0;
	host = xmalloc(bytes);
	device_download(s->device, host, flat, bytes);
	bad = comm_broadcast(s->comm, host, bytes, 0);
	device_upload(s->device, flat, host, bytes);
	free(host);
	return bad;
}

static int
load_or_begin(struct session *s)
{
	struct state *st = &s->t.state;
	struct resume r = { 0 };
	struct where w = { 0 };

	if (s->comm->rank == 0) {
		w.found = find_checkpoint(s, &r);
		if (w.found >= 0 && take_directory(s, &r, (int)w.found) != 0)
			w.found = -EXIT_FAILED;
		if (w.found == 1)
			w = (struct where){ 1, r.state.step, r.state.clips,
				r.state.best_step, (uint64_t)r.state.due,
				r.state.epoch, r.state.loss,
				r.state.best };
		resume_free(&r);
	}
	if (comm_broadcast(s->comm, &w, sizeof(w), 0) != 0)
		return EXIT_RANKS;
	if (w.found < 0)
		return (int)-w.found;
	if (w.found == 0) {
		net_init(s->net, (uint64_t)seed);
		set_history(s, 0);
		return 0;
	}
	st->step = w.step;
	st->clips = w.clips;
	st->epoch = w.epoch;
	st->loss = w.loss;
	st->best = w.best;
	st->best_step = w.best_step;
	st->due = (int)w.due;
	if (broadcast_flat(s, s->net->w) != 0 ||
	    broadcast_flat(s, s->t.optim.m) != 0)
		return EXIT_RANKS;
	return 0;
}

/* For on_exit(3): however the process ends, the log says with what status. */
static void
end_log(int status, void *session)
{
	struct session *s = session;

	runlog_end(&s->run.log, status, s->t.state.step);
}

/*
 * All settings, as they are kept in the run: paths in it are good from any
 * directory, and a schedule that came by a pipe is the run's own copy.
 */
static char *
kept_settings(void)
{
	const char **const path[] = { &data, &val, &out, &trace, &schedule_path,
		&model, &resume };
	enum { PATHS = sizeof(path) / sizeof(path[0]) };
	const char *typed[PATHS];
	char *whole[PATHS] = { 0 }, *text;

	for (int i = 0; i < PATHS; i++)
		typed[i] = *path[i];
	for (int i = 0; i < PATHS; i++) {
		const char *p = typed[i];

		if (p == NULL || (path[i] == &model && strchr(p, '/') == NULL &&
		    !text_ends(p, ".net")) ||
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

/* What the run was started with, beside its checkpoints; rank 0 only. */
static int
write_record(struct session *s)
{
	char *settings = kept_settings();
	const char *library = s->backend->library != NULL ?
	    s->backend->library() : s->backend->name;
	struct record p = { .settings = settings,
		.schedule = s->schedule_text, .network = s->network_text,
		.classes = s->classes, .build = s->build,
		.isa = isa_name(isa_best()), .dataset = s->dataset,
		.val = s->val != NULL ? s->val_id : NULL,
		.model = s->graph->name, .device = library,
		.comm = comm_library(), .argument = s->arguments,
		.parameters = graph_parameters(s->graph),
		.samples = dataset_samples(s->train), .ranks = s->comm->size,
		.step = s->t.state.step };

	int bad = 0;

	if (schedule_seek(s->schedule, dataset_samples(s->train),
	    s->t.state.step).cell != NULL)
		bad = rundir_unfinish(&s->run);
	if (!bad)
		bad = record_write(&s->run, &p);
	if (!bad)
		on_exit(end_log, s);
	room_check(s->net, out, (int)keep, val != NULL && keep_best < 2, NULL);
	free(settings);
	return bad ? EXIT_FAILED : 0;
}

/* ---- the command ---- */

/* Everything up to the plan; 0, or an exit status that all ranks share. */
static int
set_up(struct session *s)
{
	int status;

	s->build = "vt " VT_VERSION;
	s->settings = options_config(NULL);
	if ((status = check_start(s)) != 0 ||
	    (status = comm_agree(s->comm, open_schedule(s))) != 0 ||
	    (status = comm_agree(s->comm, open_data(s))) != 0 ||
	    (status = comm_agree(s->comm, open_network(s))) != 0)
		return status;
	describe(s);
	set_trainer(s);
	if ((status = check_ranks(s)) != 0)
		return status;
	s->t.optim.rule = group_rule_find(groups);
	status = s->t.optim.rule == NULL ? EXIT_USAGE :
	    optim_open(&s->t.optim, s->net) != 0 ? EXIT_FAILED :
	    trainer_plan(&s->t);
	return comm_agree(s->comm, status);
}

/* What a run is, for those who ask. */
static void
say_run(const struct session *s)
{
	uint64_t samples = dataset_samples(s->train);

	detail("%s: %" PRIu64 " samples of %d classes", text_quote(data), samples,
	    dataset_classes(s->train));
	detail("%s: %" PRIu64 " parameters on %s, %d rank%s of %d thread%s",
	    s->graph->name, (uint64_t)graph_parameters(s->graph),
	    s->backend->name, s->comm->size, s->comm->size == 1 ? "" : "s",
	    s->threads, s->threads == 1 ? "" : "s");
	detail("%s: epochs %d, steps %" PRIu64 ", done %" PRIu64,
	    text_quote(schedule_path), schedule_epochs(s->schedule),
	    schedule_steps(s->schedule, samples), s->t.state.step);
}

static int
train(struct session *s)
{
	int status = 0;

	if ((status = load_or_begin(s)) != 0)
		return status;
	say_run(s);
	if ((s->t.loading.trace = open_trace(s)) == NULL && trace != NULL)
		status = EXIT_FAILED;
	if (s->comm->rank == 0 && status == 0)
		status = write_record(s);
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

/* The log's last line, and the run's exit status. */
static int
end_run(struct session *s, int status)
{
	if (s->t.run == NULL)
		return status;
	end_log(status, s);
	if (runlog_close(&s->run.log) == 0 || (status != 0 &&
	    status != EXIT_AGAIN))
		return status;
	return EXIT_FAILED;
}

static void
close_session(struct session *s)
{
	trainer_close(&s->t);
	if (s->t.run != NULL)
		rundir_close(&s->run);
	if (s->net != NULL)
		optim_close(&s->t.optim, s->net);
	net_free(s->net);
	graph_free(s->graph);
	device_close(s->device);
	dataset_free(s->train);
	dataset_free(s->val);
	schedule_free(s->schedule);
	free(s->schedule_text);
	free(s->network_text);
	free(s->network_path);
	free(s->classes);
	free(s->settings);
	free(s->recipe);
	free(s->order);
}

static void
print_plan(const struct session *s)
{
	trainer_print_plan(&s->t, stdout);
	if (verbose)
		trainer_explain(&s->t, stdout);
	if (out != NULL)
		room_check(s->net, out, (int)keep, val != NULL && keep_best < 2,
		    stdout);
}

int
main(int argc, char **argv)
{
	static struct session s;	/* end_log may come after main */
	char **arguments = xcalloc((size_t)argc + 1, sizeof(*arguments));
	int status, operand;

	/* As they were typed: what is no option is moved behind the others. */
	memcpy(arguments, argv, (size_t)argc * sizeof(*arguments));
	s.arguments = arguments;
	program_start(argv[0]);
	operand = options_parse(&command, argc, argv);
	program_quiet(quiet);
	program_verbose(verbose);
	if (operand < argc)
		options_wrong("%s: no operands are taken",
		    text_quote(argv[operand]));
	if (status_dir != NULL) {
		status = run_status(status_dir, stdout);
		return stdout_done() != 0 ? EXIT_FAILED : status;
	}
	check_options();
	stop_handle();
	if ((s.comm = comm_open(&argc, &argv)) == NULL)
		return EXIT_USAGE;
	program_rank(s.comm->rank, s.comm->size);
	comm_watch(s.comm, step_timeout);
	s.threads = cores(s.comm);	/* of all ranks, whatever is set here */
	if (threads > 0)
		s.threads = (int)threads;
	comm_hold(s.comm);
	status = set_up(&s);
	comm_unhold(s.comm);
	if (status == 0 && dry_run && s.comm->rank == 0)
		print_plan(&s);
	if (status == 0 && !dry_run)
		status = memory_fits(&s.t);
	if (status == 0 && !dry_run)
		status = end_run(&s, train(&s));
	close_session(&s);
	comm_close(s.comm);
	if (dry_run && stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	free(arguments);
	return status;
}
