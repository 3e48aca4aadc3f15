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

#include "options/allreduce.h"
#include "options/clips.h"
#include "options/predict.h"

static const char *config, *data, *schedule_path, *sheet;
static struct clip_settings clips = CLIP_SETTINGS;
static struct bench_allreduce_options summing = ALLREDUCE_OPTIONS;
static const char *model = "tsm_r50", *device = "cpu";
static struct option_list shape_texts, requirements;
static struct bench_predict_options predicting = PREDICT_OPTIONS;
static int64_t num_classes = 400, images = 256, short_side = 256;
static int64_t warmup = 2, runs = 10, threads;
static int precision, autotune, verify = 1, json, kinds, convs, quiet, verbose;

static const struct option_row rows[] = {
	OPTION_HEADING("What to measure"),
	{ 'i', "data", OPTION_TEXT, &data, "DIR",
	    "read a packed dataset",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT |
	    BENCH_DECODE | BENCH_LOADER | BENCH_STEP | BENCH_PROFILE | FREE_HOST },
	{ 'm', "model", OPTION_TEXT, &model, "NET",
	    "choose an installed network or a .net file (%)",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT |
	    BENCH_LOADER | BENCH_NETWORK | BENCH_COUNT },
	{ 0, "shape", OPTION_LIST, &shape_texts, "BxTxS",
	    "set clips, frames and crop size; may be repeated",
	    NULL, 0, 0, OPTION_COMMON |
	    BENCH_DECODE | BENCH_LOADER | BENCH_NETWORK | BENCH_CLUSTER },
	{ 0, "schedule", OPTION_TEXT, &schedule_path, "FILE",
	    "use the shapes of a schedule",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT |
	    BENCH_LOADER | BENCH_STEP | BENCH_PROFILE | BENCH_PREDICT },
	{ 0, "num-classes", OPTION_INT, &num_classes, "N",
	    "set the number of classes without --data (%)",
	    NULL, 2, 1e6, BENCH_NETWORK | BENCH_COUNT },
	{ 0, "kinds", OPTION_FLAG, &kinds, NULL,
	    "time each kind of operator, too",
	    NULL, 0, 0, OPTION_COMMON | BENCH_STEP },
	{ 0, "convs", OPTION_FLAG, &convs, NULL,
	    "time each convolution, in the step and alone, too",
	    NULL, 0, 0, BENCH_STEP },
	{ 0, "sheet", OPTION_TEXT, &sheet, "FILE",
	    "draw the first clips: .png, .svg or .pdf",
	    PLOT_BEGINS, 0, 0, OPTION_OUTPUT | BENCH_LOADER },
	{ 0, "images", OPTION_INT, &images, "N",
	    "decode N frames of --data in a run (%)",
	    NULL, 1, 1e6, BENCH_DECODE },
	{ 0, "short-side", OPTION_INT, &short_side, "N",
	    "downscale the short side to N; 0: off (%)",
	    NULL, 0, 16384, BENCH_DECODE },
	OPTION_HEADING("Sums between ranks"),
	OPTION_ALLREDUCE(summing),
	OPTION_HEADING("Prediction"),
	OPTION_PREDICT(predicting),
	OPTION_HEADING("Clips of the loader"),
	OPTION_CLIPS(clips, BENCH_LOADER),
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
	return operands > 0 ? text_choice(BENCH_TESTS, operand[0]) : -1;
}

static const struct command command = {
	.usage = "TEST [OPTION]... [VIDEO]...",
	.summary = "Time one part of vt, verify it, and print a row for each "
	    "figure.\nTEST --help shows the options of TEST, one of\n"
	    BENCH_TESTS ".",
	.example = "vt-bench step --model=tsm_tiny --shape=8x8x48 --require='*/step<=0.1'",
	.rows = rows,
	.versions = vt_bench_versions,
	.operands = BENCH_TESTS " FILE",
	.modes = BENCH_TESTS,
	.mode = vt_bench_mode
};

/* The inputs and the state of a benchmark, opened and closed by main. */
struct bench_session {
	struct bench b;
	int test;			/* index of subtests */
	struct comm *comm;
	struct dataset *data;
	struct shape_list shapes;
	struct schedule *schedule;
	struct graph *graph;
	struct device *device;
	char **file;			/* operands */
	int files;
};

/* ---- the cases ---- */

/* Read the network.  Return 0, or an exit status after a message. */
static int
vt_bench_read_network(struct bench_session *s)
{
	char *path = share_find("models", model, ".net");
	int n = s->data != NULL ? dataset_classes(s->data) : (int)num_classes;

	if (path == NULL)
		return EXIT_USAGE;
	s->graph = graph_read(path, n);
	free(path);
	return s->graph == NULL || (s->data != NULL && loader_check_dataset(
	    s->data, &s->graph->needs, s->graph->name) != 0) ? EXIT_USAGE : 0;
}

/* Open network and device.  Return 0, or an exit status after a message. */
static int
vt_bench_open_network(struct bench_session *s)
{
	const struct device_options o = { .threads = s->b.threads,
		.precision = (enum precision)precision };
	const struct backend *b = backend_find(device);

	if (b == NULL || vt_bench_read_network(s) != 0)
		return EXIT_USAGE;
	if ((s->device = device_open(b, &o)) == NULL)
		return EXIT_USAGE;
	device_tune(s->device, autotune == CHOOSE_FASTEST);
	return 0;
}

static int
vt_bench_run_decode(struct bench_session *s)
{
	struct decode_options o = { .file = s->file, .files = s->files,
		.data = s->data, .shapes = &s->shapes, .images = (int)images,
		.short_side = (int)short_side };
	int status = 0;

	if (s->files > 0)
		status = bench_videos(&s->b, &o);
	return status == 0 && s->data != NULL ? bench_pictures(&s->b, &o) :
	    status;
}

static int
vt_bench_run_loader(struct bench_session *s)
{
	/* Mixed clips have soft labels over all classes. */
	struct target_spec target = { TARGET_DEFAULT,
		dataset_classes(s->data), 1 << TARGET_CLASS |
		1 << TARGET_SOFT };
	struct input_spec needs = input_spec_default;
	struct loader_options o = { .needs = &needs };

	clip_settings_apply(&clips, &o);
	if (options_given("model")) {
		if (vt_bench_read_network(s) != 0)
			return EXIT_USAGE;
		needs = s->graph->needs;
	}
	needs.target = &target;
	needs.targets = 1;
	if (loader_check_streams(s->data, &needs, "loader") != 0 ||
	    loader_check_transforms(&needs, &o.transforms, "loader") != 0)
		return EXIT_USAGE;
	return bench_loader(&s->b, &(struct load_options){ s->data,
	    s->schedule, &s->shapes, &o, sheet });
}

/* With --autotune=fastest use and extend the user's table. */
static int
vt_bench_run_network(struct bench_session *s)
{
	const struct net_options o = { s->graph, s->device, &s->shapes,
		s->schedule, s->data, kinds, convs };

	if (autotune == CHOOSE_FASTEST)
		algorithm_cache_load(s->device);
	switch (OPTION_MODE(s->test)) {
	case BENCH_OP:
		return bench_ops(&s->b, &o);
	case BENCH_PROFILE:
		return bench_profile(&s->b, &o, predicting.rate);
	default:
		return (s->schedule != NULL ? bench_cells : bench_step)(&s->b,
		    &o);
	}
}

static int
vt_bench_run_allreduce(struct bench_session *s)
{
	struct sum_options o = allreduce_options_set(&summing, s->comm);

	return bench_allreduce(&s->b, &o);
}

static void
vt_bench_set_predict(const struct bench_session *s)
{
	predict_options_set(&predicting, &summing.algorithms,
	    schedule_path != NULL, OPTION_MODE(s->test));
}

static int
vt_bench_run_count(struct bench_session *s)
{
	vt_bench_set_predict(s);
	if (vt_bench_read_network(s) != 0)
		return EXIT_USAGE;
	predicting.predict.wire = &wires[summing.comm_dtype];
	return bench_count(&s->b, &predicting.predict, s->graph->elements);
}

static int
vt_bench_run_links(struct bench_session *s)
{
	return bench_links(&s->b, s->comm);
}

/* cluster and guidelines */
static int
vt_bench_run_predict(struct bench_session *s)
{
	int cluster = OPTION_MODE(s->test) == BENCH_CLUSTER, status;
	struct predict_options *o = &predicting.predict;
	char *links = share_find("clusters", o->links, ".tsv");

	if (links == NULL)
		return EXIT_USAGE;
	o->links = links;
	o->schedule = s->schedule;
	o->shapes = cluster ? &s->shapes : NULL;
	o->wire = &wires[summing.comm_dtype];
	status = (cluster ? bench_predict : bench_guidelines)(&s->b, o);
	free(links);
	return status;
}

/* ---- checks of the tests, before ranks connect: no other rank waits for one
 * that exits here ---- */

static void
vt_bench_check_decode(const struct bench_session *s)
{
	if (s->files == 0 && data == NULL)
		options_wrong("nothing to decode (wanted videos or "
		    "--data=DIR)");
}

static void
vt_bench_check_loader(const struct bench_session *s)
{
	if (data == NULL)
		options_wrong("no dataset (wanted --data=DIR)");
	for (size_t i = 0; (clips.mixup > 0 || clips.cutmix > 0) &&
	    schedule_path == NULL && i < s->shapes.n; i++)
		if (s->shapes.item[i].n < 2)
			options_wrong("--mixup, --cutmix: a shape of 1 clip "
			    "(wanted at least 2)");
}

static void
vt_bench_check_step(const struct bench_session *s)
{
	(void)s;
	if (schedule_path != NULL && (kinds || convs || data != NULL))
		options_wrong("step --schedule takes neither --kinds, --convs "
		    "nor --data");
}

struct bench_subtest {
	int (*run)(struct bench_session *s);
	void (*check)(const struct bench_session *s);	/* NULL: no checks */
	const char *shapes;		/* defaults of --shape, or NULL */
	unsigned network:1;		/* open a network and a device */
	unsigned files:1;		/* operands follow the name */
	unsigned collective:1;		/* run on all ranks */
};

/* In the order of BENCH_TESTS. */
static const struct bench_subtest subtests[] = {
	{ vt_bench_run_decode, vt_bench_check_decode,
	    "1x1x224 1x1x158 1x1x112", 0, 1, 0 },
	{ vt_bench_run_loader, vt_bench_check_loader, "8x8x224", 0, 0, 0 },
	{ vt_bench_run_network, NULL, "2x8x224", 1, 0, 0 },
	{ vt_bench_run_network, vt_bench_check_step, "2x8x224", 1, 0, 0 },
	{ vt_bench_run_network, NULL, "2x8x224", 1, 0, 0 },
	{ vt_bench_run_allreduce, NULL, NULL, 0, 0, 1 },
	{ vt_bench_run_links, NULL, NULL, 0, 0, 1 },
	{ vt_bench_run_count, NULL, NULL, 0, 0, 0 },
	{ vt_bench_run_predict, vt_bench_set_predict, "2x8x224", 0, 0, 0 },
	{ vt_bench_run_predict, vt_bench_set_predict, NULL, 0, 0, 0 },
};

/* ---- options ---- */

static void
vt_bench_add_shape(struct bench_session *s, const char *text)
{
	struct shape_list *l = &s->shapes;

	l->item = array_reserve(l->item, l->n, &l->cap, sizeof(*l->item));
	if (shape_parse(text, &l->item[l->n++]) != 0)
		options_wrong("--shape: %s (wanted clips x frames x side, as "
		    "2x8x224)", text_quote(text));
}

static void
vt_bench_set_shapes(struct bench_session *s, const struct bench_subtest *t)
{
	char *copy = xstrdup(t->shapes != NULL ? t->shapes : "");

	for (size_t i = 0; i < shape_texts.n; i++)
		vt_bench_add_shape(s, shape_texts.item[i]);
	if (shape_texts.n == 0)
		for (char *one = strtok(copy, " "); one != NULL;
		    one = strtok(NULL, " "))
			vt_bench_add_shape(s, one);
	free(copy);
}

/* Check the options for the test ${t}, named ${name}. */
static void
vt_bench_check_use(struct bench_session *s, const struct bench_subtest *t,
    const char *name)
{
	struct error why = { "" };
	int size, bad = 0;

	launch_rank(&size);
	vt_bench_set_shapes(s, t);
	for (size_t i = 0; i < requirements.n && !bad; i++)
		bad = bench_require(&s->b, requirements.item[i], &why) != 0;
	if (bad)
		options_wrong("--require: %s", why.text);
	if (s->files > 0 && !t->files)
		options_wrong("%s: %s takes no operands",
		    text_quote(s->file[0]), name);
	if (schedule_path != NULL && shape_texts.n > 0)
		options_wrong("--schedule and --shape (wanted one of them)");
	clips_check(&clips);
	if (t->check != NULL)
		t->check(s);
	if (sheet != NULL && plot_ready(sheet) != 0)
		exit(EXIT_USAGE);
	allreduce_options_check(&summing, size);
	if (!t->collective && size > 1)
		options_wrong("%s runs on one rank, not on %d", name, size);
}

/* ---- the command ---- */

static int
vt_bench_open_inputs(struct bench_session *s, const struct bench_subtest *t)
{
	int bad;

	if (data != NULL && (s->data = dataset_open(data, &bad)) == NULL)
		return exit_of(bad);
	if (s->data != NULL && dataset_samples(s->data) == 0) {
		fail("%s: 0 samples (wanted at least 1)", text_quote(data));
		return EXIT_FAILED;
	}
	if (schedule_path != NULL &&
	    (s->schedule = schedule_read(schedule_path)) == NULL)
		return EXIT_USAGE;
	return t->network ? vt_bench_open_network(s) : 0;
}

/* Return the exit status of rank 0, which has the figures, on all ranks. */
static int
vt_bench_status(struct bench_session *s, int status)
{
	int64_t worst = status;

	if (status == 0)
		worst = bench_end(&s->b);
	if (s->comm != NULL && comm_max(s->comm, &worst) != 0)
		return EXIT_RANKS;
	return (int)worst;
}

static int
vt_bench_run(struct bench_session *s, const struct bench_subtest *t)
{
	int status;

	if ((status = vt_bench_open_inputs(s, t)) != 0)
		return status;
	return vt_bench_status(s, t->run(s));
}

static void
vt_bench_close_session(struct bench_session *s)
{
	graph_free(s->graph);
	device_close(s->device);
	dataset_free(s->data);
	schedule_free(s->schedule);
	free(s->shapes.item);
	bench_close(&s->b);
}

int
main(int argc, char **argv)
{
	struct bench_session s = { 0 };
	const struct bench_subtest *t;
	int status = 0, operand;
	struct buffer identity = { 0 };

	program_start(argv[0]);
	operand = options_parse(&command, argc, argv);
	program_quiet(quiet);
	program_verbose(verbose);
	s.test = vt_bench_mode(argc - operand, argv + operand);
	if (operand == argc)
		options_wrong("no sub-test (wanted one of %s)", BENCH_TESTS);
	if (s.test < 0)
		options_wrong("no sub-test %s (wanted one of %s)",
		    text_quote(argv[operand]), BENCH_TESTS);
	t = &subtests[s.test];
	s.file = argv + operand + 1;
	s.files = argc - operand - 1;
	s.b = (struct bench){ .warmup = (int)warmup, .runs = (int)runs,
		.check = verify, .threads = threads > 0 ? (int)threads : cpus(),
		.json = json, .verbose = verbose > 0,
		.out = stdout };
	vt_bench_check_use(&s, t, argv[operand]);
	if (t->collective) {
		if ((s.comm = comm_open(&argc, &argv, summing.timeout)) == NULL)
			return EXIT_USAGE;
		program_rank(s.comm->rank, s.comm->size);
		s.b.out = s.comm->rank == 0 ? stdout : NULL;
		identity_add_options(&identity);
		status = identity_check(s.comm, &identity);
	}
	if (status == 0)
		status = vt_bench_run(&s, t);
	vt_bench_close_session(&s);
	comm_close(s.comm);
	if (stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}
