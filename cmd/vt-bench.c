/* vt-bench: time one part of vt, and verify its results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/algorithm_cache.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/options.h"
#include "base/share.h"
#include "base/text.h"
#include "bench/cases.h"
#include "bench/machine.h"
#include "bench/step_profile.h"
#include "comm/allreduce.h"
#include "data/loader.h"
#include "draw/plot.h"
#include "train/loop/session.h"
#include "train/run/identity.h"

#include "options/bench.h"
#include "options/clips.h"

static struct bench_inputs in = { .images = 256, .short_side = 256,
	.clips = CLIP_SETTINGS, .sums = BENCH_SUMS_DEFAULTS,
	.predict = { .base = 1 } };
static struct bench_predict_options predicting;
static const char *config, *model = "tsm_r50", *device = "cpu";
static struct option_list shape_texts, requirements;
static int64_t num_classes = 400, warmup = 2, runs = 10, threads;
static int precision, autotune, verify = 1, json, quiet, verbose;

static const struct option_row rows[] = {
	OPTION_HEADING("What to measure"),
	{ 'i', "data", OPTION_TEXT, &in.data_path, "DIR",
	    "read a packed dataset",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT |
	    BENCH_DECODE | BENCH_LOADER | BENCH_STEP | BENCH_PROFILE | FREE_HOST },
	{ 'm', "model", OPTION_TEXT, &model, "NET",
	    "choose an installed network or a .net file (%)",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT |
	    BENCH_LOADER | BENCH_NETWORK },
	{ 0, "shape", OPTION_LIST, &shape_texts, "BxTxS",
	    "set clips, frames and crop size; may be repeated",
	    NULL, 0, 0, OPTION_COMMON |
	    BENCH_DECODE | BENCH_LOADER | BENCH_NETWORK | BENCH_CLUSTER },
	{ 0, "schedule", OPTION_TEXT, &in.schedule_path, "FILE",
	    "use the shapes of a schedule",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT |
	    BENCH_LOADER | BENCH_STEP | BENCH_PROFILE | BENCH_PREDICT },
	{ 0, "num-classes", OPTION_INT, &num_classes, "N",
	    "set the number of classes without --data (%)",
	    NULL, 2, 1e6, BENCH_NETWORK },
	{ 0, "kinds", OPTION_FLAG, &in.kinds, NULL,
	    "time each kind of operator, too",
	    NULL, 0, 0, OPTION_COMMON | BENCH_STEP },
	{ 0, "convs", OPTION_FLAG, &in.convs, NULL,
	    "time each convolution, in the step and alone, too",
	    NULL, 0, 0, BENCH_STEP },
	{ 0, "sheet", OPTION_TEXT, &in.sheet, "FILE",
	    "draw the first clips: .png, .svg or .pdf",
	    PLOT_BEGINS, 0, 0, OPTION_OUTPUT | BENCH_LOADER },
	{ 0, "images", OPTION_INT, &in.images, "N",
	    "decode N frames of --data in a run (%)",
	    NULL, 1, 1e6, BENCH_DECODE },
	{ 0, "short-side", OPTION_INT, &in.short_side, "N",
	    "downscale the short side to N; 0: off (%)",
	    NULL, 0, 16384, BENCH_DECODE },
	OPTION_HEADING("Sums between ranks"),
	OPTION_ALLREDUCE(in.sums),
	OPTION_HEADING("Prediction"),
	OPTION_PREDICT(predicting, in),
	OPTION_HEADING("Clips of the loader"),
	OPTION_CLIPS(in.clips, BENCH_LOADER),
	OPTION_HEADING("Runs and results"),
	{ 0, "warmup", OPTION_INT, &warmup, "N",
	    "run N times before the timed runs (%)",
	    NULL, 0, 1e6, OPTION_COMMON },
	{ 0, "runs", OPTION_INT, &runs, "N",
	    "time N runs (%)", NULL, 1, 1e6, OPTION_COMMON },
	{ 0, "verify", OPTION_FLAG, &verify, NULL,
	    "verify the results (%)", NULL, 0, 0, OPTION_COMMON },
	{ 0, "require", OPTION_LIST, &requirements, "NAME<=X",
	    "fail unless the median of NAME is <=X, or >=X",
	    NULL, 0, 0, OPTION_COMMON },
	OPTION_JSON(&json, 0),
	OPTION_HEADING("Machine"),
	OPTION_DEVICE(&device, BENCH_NETWORK),
	OPTION_PRECISION(&precision, BENCH_NETWORK),
	OPTION_AUTOTUNE(&autotune, BENCH_NETWORK),
	{ 'j', "threads", OPTION_INT, &threads, "N",
	    "work with N threads; 0: one for each core (%)",
	    NULL, 0, 1024, OPTION_COMMON |
	    BENCH_DECODE | BENCH_LOADER | BENCH_NETWORK | FREE_HOST },
	OPTION_HEADING("Common"),
	OPTION_CONFIG(&config),
	OPTION_QUIET(&quiet),
	OPTION_VERBOSE(&verbose),
	OPTION_END
};

static void
vt_bench_versions(FILE *f)
{
	struct fact fact[FACTS];
	int n = machine_facts(fact);

	for (int i = 0; i < n; i++)
		fprintf(f, "%s: %s\n", fact[i].key, fact[i].value);
}

/* Return the index of the test that the first operand names, or -1. */
static int
vt_bench_mode(int operands, char *const *operand)
{
	return operands > 0 ? text_choice(BENCH_NAMES, operand[0]) : -1;
}

static const struct command command = {
	.usage = "TEST [OPTION]... [VIDEO]...",
	.summary = "Time one part of vt, verify it, and print a row for each "
	    "figure.\nTEST --help shows the options of TEST, one of\n"
	    BENCH_NAMES ".",
	.example = "vt-bench step --model=tsm_tiny --shape=8x8x48 --require='*/step<=0.1'",
	.rows = rows,
	.versions = vt_bench_versions,
	.operands = BENCH_NAMES " FILE",
	.modes = BENCH_NAMES,
	.mode = vt_bench_mode
};

#define CASE(name, NAME) &bench_case_##name,
static const struct bench_case *const cases[] = { BENCH_CASES(CASE, CASE) };

/* ---- options ---- */

static void
vt_bench_add_shape(const char *text)
{
	struct shape_list *l = &in.shapes;

	l->item = array_reserve(l->item, l->n, &l->cap, sizeof(*l->item));
	if (shape_parse(text, &l->item[l->n++]) != 0)
		options_wrong("--shape: %s (wanted clips x frames x side, as "
		    "2x8x224)", text_quote(text));
}

static void
vt_bench_set_shapes(const struct bench_case *c)
{
	char *copy = xstrdup(c->shapes != NULL ? c->shapes : "");

	for (size_t i = 0; i < shape_texts.n; i++)
		vt_bench_add_shape(shape_texts.item[i]);
	if (shape_texts.n == 0)
		for (char *one = strtok(copy, " "); one != NULL;
		    one = strtok(NULL, " "))
			vt_bench_add_shape(one);
	free(copy);
}

/*
 * Check the options for the case ${c}, named ${name}, before ranks connect: no
 * other rank waits for one that exits here.
 */
static void
vt_bench_check_use(struct bench *b, const struct bench_case *c, unsigned mode,
    const char *name)
{
	struct error why = { "" };
	int size, bad = 0;

	launch_rank(&size);
	vt_bench_set_shapes(c);
	for (size_t i = 0; i < requirements.n && !bad; i++)
		bad = bench_require(b, requirements.item[i], &why) != 0;
	if (bad)
		options_wrong("--require: %s", why.text);
	if (in.files > 0 && !c->files)
		options_wrong("%s: %s takes no operands",
		    text_quote(in.file[0]), name);
	if (in.schedule_path != NULL && shape_texts.n > 0)
		options_wrong("--schedule and --shape (wanted one of them)");
	clips_check(&in.clips);
	if (c->check != NULL)
		c->check(&in);
	if (mode & BENCH_PREDICT)
		bench_set_predict(&predicting, &in, mode);
	if (in.sheet != NULL && plot_ready(in.sheet) != 0)
		exit(EXIT_USAGE);
	bench_check_sums(&in.sums, size);
	if (!c->collective && size > 1)
		options_wrong("%s runs on one rank, not on %d", name, size);
}

/* ---- inputs: functions return 0, or an exit status after a message ---- */

static int
vt_bench_read_network(void)
{
	char *path = share_find("models", model, ".net");
	int n = in.data != NULL ? dataset_classes(in.data) : (int)num_classes;

	if (path == NULL)
		return EXIT_USAGE;
	in.graph = graph_read(path, n);
	free(path);
	return in.graph == NULL || (in.data != NULL && loader_check_dataset(
	    in.data, &in.graph->needs, in.graph->name) != 0) ? EXIT_USAGE : 0;
}

/* With --autotune=fastest use and extend the user's table. */
static int
vt_bench_open_network(int workers)
{
	const struct device_options o = { .threads = workers,
		.precision = (enum precision)precision };
	const struct backend *b = backend_find(device);

	if (b == NULL || vt_bench_read_network() != 0 ||
	    (in.device = device_open(b, &o)) == NULL)
		return EXIT_USAGE;
	device_tune(in.device, autotune == CHOOSE_FASTEST);
	if (autotune == CHOOSE_FASTEST)
		algorithm_cache_load(in.device);
	return 0;
}

static int
vt_bench_open(const struct bench *b, const struct bench_case *c)
{
	int bad;

	if (in.data_path != NULL &&
	    (in.data = dataset_open(in.data_path, &bad)) == NULL)
		return exit_of(bad);
	if (in.data != NULL && dataset_samples(in.data) == 0) {
		fail("%s: 0 samples (wanted at least 1)",
		    text_quote(in.data_path));
		return EXIT_FAILED;
	}
	if (in.schedule_path != NULL &&
	    (in.schedule = schedule_read(in.schedule_path)) == NULL)
		return EXIT_USAGE;
	if (in.predict.links != NULL && (in.predict.links =
	    share_find("clusters", in.predict.links, ".tsv")) == NULL)
		return EXIT_USAGE;
	if (c->device)
		return vt_bench_open_network(b->threads);
	return c->graph == BENCH_GRAPH || (c->graph == BENCH_GRAPH_GIVEN &&
	    options_given("model")) ? vt_bench_read_network() : 0;
}

static void
vt_bench_close(void)
{
	graph_free(in.graph);
	device_close(in.device);
	dataset_free(in.data);
	schedule_free(in.schedule);
	free(in.shapes.item);
	free((char *)in.predict.links);
}

/* ---- the command ---- */

/* Return the exit status of rank 0, which has the figures, on all ranks. */
static int
vt_bench_run(struct bench *b, const struct bench_case *c)
{
	int status = vt_bench_open(b, c);
	int64_t worst;

	if (status != 0)
		return status;
	if ((worst = c->run(b, &in)) == 0)
		worst = bench_end(b);
	if (in.comm != NULL && comm_max(in.comm, &worst) != 0)
		return EXIT_RANKS;
	return (int)worst;
}

int
main(int argc, char **argv)
{
	const struct bench_case *c;
	int status = 0, operand, mode;
	struct buffer identity = { 0 };
	struct bench b;

	program_start(argv[0]);
	operand = options_parse(&command, argc, argv);
	program_quiet(quiet);
	program_verbose(verbose);
	if (operand == argc)
		options_wrong("no sub-test (wanted one of %s)", BENCH_NAMES);
	mode = vt_bench_mode(argc - operand, argv + operand);
	if (mode < 0)
		options_wrong("no sub-test %s (wanted one of %s)",
		    text_quote(argv[operand]), BENCH_NAMES);
	c = cases[mode];
	in.file = argv + operand + 1;
	in.files = argc - operand - 1;
	b = (struct bench){ .warmup = (int)warmup, .runs = (int)runs,
		.check = verify, .threads = threads > 0 ? (int)threads : cpus(),
		.json = json, .verbose = verbose > 0, .out = stdout };
	vt_bench_check_use(&b, c, OPTION_MODE(mode), argv[operand]);
	if (c->collective) {
		if ((in.comm = comm_open(&argc, &argv, in.sums.timeout)) ==
		    NULL)
			return EXIT_USAGE;
		program_rank(in.comm->rank, in.comm->size);
		b.out = in.comm->rank == 0 ? stdout : NULL;
		identity_add_options(&identity);
		status = identity_check(in.comm, &identity);
	}
	if (status == 0)
		status = vt_bench_run(&b, c);
	vt_bench_close();
	bench_close(&b);
	comm_close(in.comm);
	if (stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}
