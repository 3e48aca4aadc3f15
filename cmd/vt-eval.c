/* vt-eval: a checkpoint and packed clips become scores. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/isa.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/version.h"
#include "comm/cores.h"
#include "comm/watch.h"
#include "draw/plot.h"
#include "train/agree.h"
#include "train/checkpoint.h"
#include "train/evaluator.h"
#include "train/options.h"
#include "train/results.h"
#include "train/rundir.h"
#include "train/versions.h"

static const char *config, *checkpoint, *data, *scores, *per_class, *sheet;
static const char *device = "cpu";
static struct option_list matrix;
static struct matrix_options matrix_options;
static int protocol, sampler, crop_rule, ensemble, full, precision;
static int sheet_wrong, json, quiet, verbose, progress;
static int64_t clips, crops, stride, frames, side, mb = 8, sheet_samples = 24;
static double step_timeout = 600;
static int64_t threads, loader_threads = 2, loader_memory = 512 << 20;

static const struct option_row rows[] = {
	OPTION_HEADING("What to evaluate"),
	{ 'm', "checkpoint", OPTION_TEXT, &checkpoint, "FILE",
	    "checkpoint of vt-train, or the folder of a run",
	    NULL, 0, 0, 0 },
	{ 'i', "data", OPTION_TEXT, &data, "DIR",
	    "packed dataset to score", NULL, 0, 0, 0 },
	OPTION_HEADING("Views of a sample"),
	{ 0, "views", OPTION_CHOICE, &protocol, "PROTOCOL",
	    "those of a paper, or one as in validation (auto)",
	    VIEWS_NAMES, 0, 0, 0 },
	{ 0, "clips", OPTION_INT, &clips, "N",
	    "clips of each video (as --views says)", NULL, 0, 100, 0 },
	{ 0, "crops", OPTION_INT, &crops, "N",
	    "crops of each clip: 1, 3, 5 or 10 (as --views says)",
	    NULL, 0, 10, 0 },
	{ 0, "full", OPTION_FLAG, &full, NULL,
	    "crops take the whole short side, not 224/256 of it",
	    NULL, 0, 0, 0 },
	{ 0, "sampler", OPTION_CHOICE, &sampler, "RULE",
	    "choice of frames (as --views says)", VIEWS_SAMPLERS, 0, 0, 0 },
	{ 0, "stride", OPTION_INT, &stride, "N",
	    "frames between frames (as in the last stage)",
	    NULL, 0, 65536, 0 },
	{ 0, "crop-rule", OPTION_CHOICE, &crop_rule, "RULE",
	    "crops, resizing: tsm or pyslowfast (as --views says)",
	    "tsm|pyslowfast", 0, 0, 0 },
	{ 0, "ensemble", OPTION_CHOICE, &ensemble, "HOW",
	    "mean of scores, of probabilities, or max (--views)",
	    "scores|probabilities|max", 0, 0, 0 },
	{ 0, "frames", OPTION_INT, &frames, "T",
	    "frames of a clip (as in the last stage of training)",
	    NULL, 0, 1024, 0 },
	{ 0, "crop", OPTION_INT, &side, "PIXELS",
	    "side of a crop (as in the last stage of training)",
	    NULL, 0, 4096, 0 },
	OPTION_HEADING("Output"),
	{ 0, "scores", OPTION_TEXT, &scores, "FILE",
	    "write every class's score, averaged over views", NULL, 0, 0, 0 },
	{ 0, "per-class", OPTION_TEXT, &per_class, "FILE",
	    "write a table of classes: top-1, top-5, confusion",
	    NULL, 0, 0, 0 },
	{ 0, "matrix", OPTION_LIST, &matrix, "FILE",
	    "write the confusion matrix: .png, .svg, .pdf or .tsv",
	    NULL, 0, 0, 0 },
	{ 0, "matrix-values", OPTION_CHOICE, &matrix_options.counts, "WHAT",
	    "percent of a label's samples, or count (percent)",
	    "percent|count", 0, 0, 0 },
	{ 0, "matrix-order", OPTION_CHOICE, &matrix_options.by_number, "HOW",
	    "confused classes grouped, or by number (grouped)",
	    "grouped|number", 0, 0, 0 },
	{ 0, "sheet", OPTION_TEXT, &sheet, "FILE",
	    "draw a contact sheet of samples: .png, .svg or .pdf",
	    NULL, 0, 0, 0 },
	{ 0, "sheet-samples", OPTION_INT, &sheet_samples, "N",
	    "samples on the contact sheet (24)", NULL, 1, 400, 0 },
	{ 0, "sheet-of", OPTION_CHOICE, &sheet_wrong, "WHICH",
	    "all, or wrong ones, most confident first (all)",
	    "all|wrong", 0, 0, 0 },
	OPTION_JSON(&json),
	OPTION_HEADING("Machine"),
	OPTION_DEVICE(&device),
	OPTION_PRECISION(&precision),
	OPTION_RANK_THREADS(&threads),
	{ 0, "microbatch", OPTION_INT, &mb, "N",
	    "views that run through the network together (8)",
	    NULL, 1, 4096, 0 },
	OPTION_LOADER_THREADS(&loader_threads),
	{ 0, "step-timeout", OPTION_TIME, &step_timeout, "TIME",
	    "to wait for clips and ranks; 0: for ever (10m)",
	    NULL, 0, 1e9, 0 },
	OPTION_LOADER_MEMORY(&loader_memory),
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
	train_versions(f);
	plot_versions(f);
}

static const struct command command = {
	"[OPTION]... --checkpoint=FILE --data=DIR",
	"Score packed clips with a trained network: top-1, top-5, per class.",
	"vt-eval --checkpoint=run/best.safetensors --data=val --matrix=m.png",
	rows, versions, NULL
};

struct session {
	struct comm *comm;
	int threads;
	struct safetensors file;
	struct state state;
	struct dataset *data;
	const struct backend *backend;
	struct device *device;
	struct graph *graph;
	struct net *net;
	struct view_options views;
	struct evaluation e;
	struct class_list class;
	char *checkpoint;		/* the file */
};

/* ---- setting up ---- */

/* What cannot be written should not be found out when all is scored. */
static int
check_outputs(const struct session *s)
{
	const char *const output[] = { scores, per_class, sheet };
	int bad = 0;

	for (size_t i = 0; i < matrix.n; i++)
		if (results_matrix_ready(matrix.item[i], (int)s->class.n) != 0)
			return EXIT_USAGE;
	for (size_t i = 0; i < 3 && s->comm->rank == 0; i++)
		bad = bad || (output[i] != NULL &&
		    commit_possible(output[i]) != 0);
	for (size_t i = 0; i < matrix.n && s->comm->rank == 0; i++)
		bad = bad || commit_possible(matrix.item[i]) != 0;
	return bad ? EXIT_FAILED : 0;
}

static int
open_all(struct session *s)
{
	struct device_options o = { 0 };
	int bad;

	if ((s->checkpoint = rundir_choose(checkpoint)) == NULL)
		return EXIT_FAILED;
	if (strcmp(s->checkpoint, checkpoint) != 0)
		note("scoring %s", text_quote(s->checkpoint));
	bad = checkpoint_read(s->checkpoint, &s->file, &s->state);
	if (bad)
		return checkpoint_status(bad);
	class_parse(s->state.classes, &s->class);
	if ((s->data = dataset_open(data, &bad)) == NULL)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if (dataset_samples(s->data) == 0) {
		fail("%s: no samples in it", text_quote(data));
		return EXIT_FAILED;
	}
	if ((s->backend = backend_find(device)) == NULL)
		return EXIT_USAGE;
	s->graph = graph_parse(s->state.model, s->state.network,
	    (int)s->class.n);
	if (s->graph == NULL)
		return EXIT_DAMAGE;
	if (loader_has(s->data, &s->graph->needs, s->graph->name) != 0)
		return EXIT_USAGE;
	o.threads = s->threads;
	o.precision = (enum precision)precision;
	s->device = device_open(s->backend, &o);
	if (s->device == NULL || (s->net = net_new(s->graph, s->device)) == NULL)
		return EXIT_FAILED;
	return checkpoint_load(&s->file, s->checkpoint, s->net) == 0 ? 0 :
	    EXIT_DAMAGE;
}

/*
 * The classes of the data must be those the network was trained on, by number
 * and name: otherwise every score would be right for something else.
 */
static int
check_classes(const struct session *s)
{
	int n = dataset_classes(s->data);

	for (int i = 0; i < n && i < (int)s->class.n; i++)
		if (strcmp(dataset_class(s->data, i), s->class.name[i]) != 0) {
			fail("%s: class %d is %s (the checkpoint has %s)",
			    text_quote(data), i, text_quote(dataset_class(
			    s->data, i)), text_quote(s->class.name[i]));
			return EXIT_USAGE;
		}
	if (n == (int)s->class.n)
		return 0;
	fail("%s: %d classes (the checkpoint has %d)", text_quote(data), n,
	    (int)s->class.n);
	return EXIT_USAGE;
}

/* How the ranks were started, before they do anything together. */
static int
check_start(const struct session *s)
{
	char program[33], *settings = options_config(NULL);
	struct identity mine = { .program = agree_program(program),
		.build = "vt " VT_VERSION, .isa = isa_name(isa_best()),
		.settings = settings };
	int bad = agree_ranks(s->comm, &mine);

	free(settings);
	return bad ? EXIT_RANKS : 0;
}

/* What they have opened. */
static int
check_ranks(const struct session *s)
{
	char file[33], classes[17], id[33];
	struct identity mine = { .library = backend_library(s->backend),
		.precision = s->device->precision,
		.checkpoint = hash128_text(hash128(s->file.file.data,
		s->file.file.n), file), .classes = classes,
		.data = hash128_text(dataset_id(s->data), id) };

	snprintf(classes, sizeof(classes), "%016" PRIx64,
	    dataset_class_hash(s->data));
	return agree_ranks(s->comm, &mine) == 0 ? 0 : EXIT_RANKS;
}

/* What says how often the network is right needs labels. */
static int
check_labels(const struct session *s)
{
	const char *option = matrix.n > 0 ? "matrix" : per_class != NULL ?
	    "per-class" : sheet_wrong ? "sheet-of=wrong" : NULL;

	for (uint32_t i = 0; i < dataset_samples(s->data); i++)
		if (dataset_sample(s->data, i).label >= 0)
			return 0;
	if (option == NULL)
		return 0;
	fail("%s: no sample has a label, which --%s needs", text_quote(data),
	    option);
	return EXIT_USAGE;
}

static int
set_views(struct session *s)
{
	struct view_options *v = &s->views;

	*v = (struct view_options){ .threads = (int)loader_threads,
		.n = (int)mb,
		.t = frames > 0 ? (int)frames : s->state.frames,
		.side = side > 0 ? (int)side : s->state.crop,
		.memory = (size_t)loader_memory,
		.needs = &s->graph->needs };
	views_set(protocol, &s->state, v);
	if (clips > 0) {
		v->clips = (int)clips;
		v->validate = 0;
	}
	v->crops = crops > 0 ? (int)crops : v->crops;
	v->full = options_given("full") ? full : v->full;
	if (options_given("sampler"))
		v->sampler = (enum sampler)sampler;
	if (options_given("stride"))
		v->stride = (int)stride;
	if (options_given("crop-rule"))
		v->rule = (enum view_rule)crop_rule;
	if (options_given("ensemble"))
		v->ensemble = (enum ensemble)ensemble;
	if (views_check(v) != 0)
		return EXIT_USAGE;
	if (evaluate_plan(s->net, &s->views) == NULL)
		return EXIT_USAGE;
	return net_reserve(s->net) == 0 ? 0 : EXIT_FAILED;
}

/* ---- output ---- */

static int
write_all(const struct session *s)
{
	struct summary m = evaluation_summary(&s->e, s->data);
	char *title = xprintf("%s, step %" PRIu64, s->state.model,
	    s->state.step);
	struct results r = { &s->e, s->data,
		(const char *const *)s->class.name, m, title };
	int bad = 0, drawn = 0;

	if (scores != NULL)
		bad |= results_write_scores(&r, scores);
	if (per_class != NULL)
		bad |= results_write_classes(&r, per_class);
	for (size_t i = 0; i < matrix.n; i++)
		bad |= results_write_matrix(&r, &matrix_options, matrix.item[i]);
	if (sheet != NULL)
		drawn = results_draw_sheet(&r, (int)sheet_samples, sheet_wrong,
		    sheet);
	free(title);
	results_print(&r, json);
	results_print_summary(&r, &(struct results_of){ s->checkpoint, data,
	    s->state.model, s->state.step, &s->views }, json);
	if (m.labelled == 0)
		warning("%s: no sample has a label; there are scores, but no "
		    "accuracy", text_quote(data));
	else if (m.labelled < s->e.samples)
		warning("%s: %u of %u samples have no label; the summary is of the "
		    "others", text_quote(data), s->e.samples - m.labelled,
		    s->e.samples);
	return drawn == -2 ? EXIT_DAMAGE : bad || drawn ? EXIT_FAILED : 0;
}

/* ---- the command ---- */

static struct { double started; uint64_t clips; } work;

/* The other ranks have as many to do, give or take a sample, and are as far. */
static void
show_progress(uint64_t done, uint64_t all)
{
	double part = (double)done / (double)all, seconds;
	char left[32];

	if (!progress_due() || done == 0)
		return;
	seconds = clock_seconds() - work.started;
	progress_line("clip %.0f/%" PRIu64 "  %.1f clips/s  %s left",
	    floor(part * (double)work.clips), work.clips, part *
	    (double)work.clips / seconds, clock_text(left, seconds *
	    (1 - part) / part));
}

/* Everything up to scoring; 0, or an exit status that all ranks share. */
static int
set_up(struct session *s)
{
	int status = check_start(s);

	if (status != 0)
		return status;
	status = comm_agree(s->comm, open_all(s));
	if (status == 0)
		status = check_ranks(s);
	if (status != 0)
		return status;
	status = check_classes(s);
	if (status == 0)
		status = check_labels(s);
	if (status == 0)
		status = check_outputs(s);
	if (status == 0)
		status = set_views(s);
	return comm_agree(s->comm, status);
}

static int
run(struct session *s)
{
	int status;

	comm_hold(s->comm);
	status = set_up(s);
	comm_unhold(s->comm);
	if (status != 0)
		return status;
	detail("%s: %s of step %" PRIu64 ", epoch %.2f", text_quote(checkpoint),
	    s->state.model, s->state.step, s->state.epoch);
	detail("%s: %" PRIu64 " samples of %d classes; clips %d, crops %d, "
	    "frames %d, crop size %d", text_quote(data),
	    (uint64_t)dataset_samples(s->data), (int)s->class.n,
	    s->views.clips, s->views.crops, s->views.t, s->views.side);
	watch_phase(s->comm->watch, "scoring", 0);
	progress_start(s->comm->rank == 0 && quiet == 0 ?
	    (enum progress_mode)progress : PROGRESS_NEVER);
	work.started = clock_seconds();
	work.clips = (uint64_t)dataset_samples(s->data) *
	    (uint64_t)(s->views.clips * s->views.crops);
	status = evaluate(s->net, s->data, &s->views, s->comm, show_progress,
	    &s->e);
	progress_end();
	watch_phase(s->comm->watch, "writing results", 0);
	if (status == 0 && s->comm->rank == 0)
		status = write_all(s);
	return status;
}

/* A picture in the middle of the table would spoil both. */
static void
refuse_stdout(const char *option, const char *path)
{
	if (path != NULL && strcmp(path, "-") == 0)
		options_wrong("--%s=-: standard output has the table (wanted a "
		    "file)", option);
}

int
main(int argc, char **argv)
{
	struct session s = { 0 };
	int status, operand;

	program_start(argv[0]);
	operand = options_parse(&command, argc, argv);
	program_quiet(quiet);
	program_verbose(verbose);
	if (operand < argc)
		options_wrong("%s: no operands are taken",
		    text_quote(argv[operand]));
	if (checkpoint == NULL)
		options_wrong("no checkpoint (wanted --checkpoint=FILE)");
	refuse_stdout("scores", scores);
	refuse_stdout("per-class", per_class);
	refuse_stdout("sheet", sheet);
	for (size_t i = 0; i < matrix.n; i++) {
		refuse_stdout("matrix", matrix.item[i]);
		if (results_matrix_ready(matrix.item[i], 0) != 0)
			exit(EXIT_USAGE);
	}
	if (sheet != NULL && plot_ready(sheet) != 0)
		exit(EXIT_USAGE);
	if (data == NULL)
		options_wrong("no dataset (wanted --data=DIR)");
	if ((s.comm = comm_open(&argc, &argv)) == NULL)
		return EXIT_USAGE;
	program_rank(s.comm->rank, s.comm->size);
	comm_watch(s.comm, step_timeout);
	s.threads = cores(s.comm);	/* of all ranks, whatever is set here */
	if (threads > 0)
		s.threads = (int)threads;
	status = run(&s);
	evaluation_free(&s.e);
	net_free(s.net);
	graph_free(s.graph);
	device_close(s.device);
	dataset_free(s.data);
	class_list_free(&s.class);
	free(s.checkpoint);
	safetensors_free(&s.file);
	comm_close(s.comm);
	if (stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}
