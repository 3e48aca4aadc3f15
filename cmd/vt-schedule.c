/*
 * vt-schedule: make or read a training schedule, and print, draw or summarize
 * it.  Or check it with a network, a dataset and a machine, or compare several.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/options.h"
#include "base/text.h"
#include "draw/plot.h"
#include "sched/query.h"
#include "sched/summary.h"
#include "shard/dataset.h"
#include "train/loop/check.h"

#include "options/common.h"
#include "options/rule.h"
#include "schedule_draw.h"

static struct rule rule = RULE_SETTINGS;

static struct {
	int summary, check, compare, precision, force, quiet, verbose;
	int deterministic, time;
	int64_t samples, classes, memory, threads;
	const char *out, *plot, *at, *model, *data, *device, *config,
	    *recipe;
} set = { .device = "cpu" };

static const struct option_row rows[] = {
	OPTION_RULE(rule),
	{ 0, "ranks", OPTION_INT, &rule.ranks, "N",
	    "set the ranks for --check and --bn=pyslowfast (%)",
	    NULL, 1, 1 << 20, OPTION_COMMON },
	OPTION_HEADING("Existing tables"),
	{ 0, "check", OPTION_FLAG, &set.check, NULL,
	    "print the plan of a run by TABLE, or refuse it",
	    NULL, 0, 0, OPTION_COMMON },
	{ 'm', "model", OPTION_TEXT, &set.model, "NET",
	    "check with NET, or compare by the work of NET",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 'i', "data", OPTION_TEXT, &set.data, "DIR",
	    "check with this dataset, or use its sample count",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "num-classes", OPTION_INT, &set.classes, "N",
	    "check with --samples of N classes, without data", NULL,
	    0, 1 << 20, OPTION_COMMON },
	OPTION_DEVICE(&set.device, 0),
	OPTION_PRECISION(&set.precision, 0),
	OPTION_RANK_THREADS(&set.threads),
	{ 0, "deterministic", OPTION_CHOICE, &set.deterministic, "MODE",
	    "check a run with exact or fast sums (%)",
	    "exact|fast", 0, 0, 0 },
	{ 0, "memory", OPTION_SIZE, &set.memory, "BYTES",
	    "refuse a run whose ranks need more memory (%: off)",
	    NULL, 0, 9e15, 0 },
	{ 0, "time", OPTION_FLAG, &set.time, NULL,
	    "time each shape with --check and estimate the run",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "compare", OPTION_FLAG, &set.compare, NULL,
	    "compare several TABLEs at equal work", NULL, 0, 0, OPTION_COMMON },
	{ 0, "locate", OPTION_TEXT, &set.at, "LIST",
	    "locate step:N, epoch:X or sample:N in the schedule", NULL, 0, 0, 0 },
	OPTION_HEADING("Output"),
	{ 'o', "output", OPTION_TEXT, &set.out, "FILE",
	    "write the table to FILE (standard output)",
	    "#", 0, 0, OPTION_COMMON | OPTION_OUTPUT },
	{ 0, "samples", OPTION_INT, &set.samples, "N",
	    "count the steps and clips of N training samples", NULL,
	    0, (double)SCHEDULE_SAMPLES, OPTION_COMMON },
	{ 0, "summary", OPTION_FLAG, &set.summary, NULL,
	    "print stages, work and speed-up", NULL, 0, 0, OPTION_COMMON },
	{ 0, "plot", OPTION_TEXT, &set.plot, "FILE",
	    "draw shapes, batch and lr as a PNG, SVG or PDF",
	    PLOT_BEGINS, 0, 0, OPTION_COMMON | OPTION_OUTPUT },
	{ 'f', "force", OPTION_FLAG, &set.force, NULL,
	    "replace existing files", NULL, 0, 0, 0 },
	OPTION_RECIPE(&set.recipe),
	OPTION_CONFIG(&set.config),
	OPTION_QUIET(&set.quiet),
	OPTION_VERBOSE(&set.verbose),
	OPTION_END
};

static const struct command command = {
	.usage = "[OPTION]... [TABLE]...",
	.summary = "Print a training schedule, made by rule or read from TABLE.",
	.example = "vt-schedule --policy=long+short --milestones=20,40 --summary",
	.rows = rows,
	.versions = plot_versions,
	.operands = "FILE"
};

static void
vt_schedule_warn_unused(void)
{
	rule_warn(&rule);
	if (rule.bn != BN_PYSLOWFAST && options_on_line("ranks"))
		warning("--ranks has no effect without --bn=pyslowfast or "
		    "--check");
}

/*
 * Refuse options that would shape a schedule, because the table ${path} is used
 * unchanged.  Files of settings may serve other commands, and --check compares
 * the momentum with --momentum.
 */
static void
vt_schedule_refuse_rule(const char *path)
{
	for (int i = 0; rule_options[i] != NULL; i++)
		if (options_on_line(rule_options[i]) && !(set.check &&
		    strcmp(rule_options[i], "momentum") == 0))
			options_wrong("--%s: the schedule is read from %s, not made",
			    rule_options[i], text_quote(path));
}

static struct schedule *
vt_schedule_read_operand(const char *path)
{
	vt_schedule_refuse_rule(path);
	if (options_on_line("ranks") && !set.check)
		options_wrong("--ranks: the schedule is read from %s, not made "
		    "(wanted --check with it)", text_quote(path));
	return schedule_read(path);
}

/* ---- output ---- */

static int
vt_schedule_is_stdout(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

static void
vt_schedule_check_outputs(void)
{
	if (vt_schedule_is_stdout(set.out) + vt_schedule_is_stdout(set.plot) +
	    set.summary > 1)
		options_wrong("more than one of the table, the plot and the summary "
		    "to standard output");
	if (vt_schedule_is_stdout(set.plot) && isatty(STDOUT_FILENO))
		options_wrong("--plot=-: standard output is a terminal (wanted a file)");
	if (set.plot != NULL && plot_ready(set.plot) != 0)
		exit(EXIT_USAGE);
}

/* Return the number of samples, from --samples or --data; 0: unknown. */
static uint64_t
vt_schedule_samples(void)
{
	struct dataset *d;
	int bad;
	uint64_t n;

	if (set.samples > 0 || set.data == NULL)
		return (uint64_t)set.samples;
	if ((d = dataset_open(set.data, &bad)) == NULL)
		exit(exit_of(bad));
	n = dataset_samples(d);
	dataset_free(d);
	return n;
}

/* Return the table as text, which the caller frees.  ${chose}: the group size
 * was chosen by default, so state it in a comment line. */
static char *
vt_schedule_text_of(const struct schedule *s, int chose)
{
	uint64_t n = vt_schedule_samples();
	char *rows = n > 0 ? schedule_text_steps(s, n) : schedule_text(s);
	char *text = chose ? xprintf("# --bn-size=%d\n%s", (int)rule.bn_size,
	    rows) : xstrdup(rows);

	free(rows);
	return text;
}

/*
 * Return 1 if the file of --output already contains ${text}.  A command that
 * was stopped before its plot may then be repeated without -f.
 */
static int
vt_schedule_is_written(const char *text)
{
	struct buffer b = { 0 };
	int same;

	if (set.out == NULL || vt_schedule_is_stdout(set.out) ||
	    file_size(set.out) < 0)
		return 0;
	same = file_read(set.out, &b) == 0 && strcmp(b.data, text) == 0;
	buffer_free(&b);
	return same;
}

static int
vt_schedule_write_table(const char *text)
{
	if (set.out != NULL && !vt_schedule_is_stdout(set.out))
		return commit_text(set.out, text);
	fputs(text, stdout);
	return 0;
}

/* With --verbose, print the length of the schedule and the maximal number of
 * ranks. */
static void
vt_schedule_say_more(const struct schedule *s)
{
	const struct cell *least = &s->stage[0].cell[0];

	for (const struct cell *c = NULL; (c = schedule_cell(s, c)) != NULL;)
		if (c->batch / c->group < least->batch / least->group)
			least = c;
	detail("%d epochs in %d stages; %d ranks at most, since a batch of %d has "
	    "%d BN groups of %d clips (more by vt-train --deterministic=fast)",
	    schedule_epochs(s), s->stages,
	    least->batch / least->group, least->batch,
	    least->batch / least->group, least->group);
}

static int
vt_schedule_check(const char *path)
{
	struct check_options o = { .set = SETTINGS, .ranks = (int)rule.ranks,
		.memory = (size_t)set.memory, .time = set.time };
	char name[32];
	int status;

	if (set.model == NULL || (set.data == NULL && (set.samples == 0 ||
	    set.classes == 0)))
		options_wrong("--check needs --model=NET, and --data=DIR or "
		    "--samples=N with --num-classes=N");
	if (set.data != NULL && (set.samples > 0 || set.classes > 0))
		options_wrong("--check and --%s: the samples of %s are checked",
		    set.samples > 0 ? "samples" : "num-classes",
		    text_quote(set.data));
	if (set.data == NULL && set.time)
		options_wrong("--time needs --data (--samples has no clips to "
		    "load)");
	if (set.data == NULL && set.samples > PLANNED_SAMPLES)
		options_wrong("--check --samples=%" PRId64 " (wanted at most "
		    "%d)", set.samples, PLANNED_SAMPLES);
	if (set.data == NULL) {
		snprintf(name, sizeof(name), "--samples=%" PRId64, set.samples);
		o.planned = (struct planned){ set.samples, set.classes };
		set.data = name;
	}
	o.set.schedule = path;
	o.set.model = set.model;
	o.set.data = set.data;
	o.set.device = set.device;
	o.set.precision = set.precision;
	o.set.threads = set.threads;
	o.set.sums.deterministic = set.deterministic;
	o.set.given.momentum = options_on_line("momentum");
	status = check_schedule(&o, stdout);
	return stdout_done() != 0 && status == 0 ? EXIT_FAILED : status;
}

/* --compare: print a row for each of ${n} tables, by the work of the input or
 * of --model. */
static int
vt_schedule_compare(char *const *path, int n)
{
	struct schedule **s = xcalloc((size_t)n, sizeof(*s));
	struct cost cost = cost_input;
	struct graph *g = NULL;
	struct buffer b = { 0 };
	int status = EXIT_USAGE, read = 0;

	if (set.model != NULL && (g = check_network(set.model, &cost)) == NULL)
		goto out;
	while (read < n && (s[read] = schedule_read(path[read])) != NULL)
		read++;
	if (read < n)
		goto out;
	if (summary_compare(s, (const char *const *)path, n,
	    vt_schedule_samples(), &cost, &b) != 0)
		goto out;
	fputs(b.data, stdout);
	status = stdout_done() != 0 ? EXIT_FAILED : EXIT_DONE;
out:
	for (int i = 0; i < n; i++)
		schedule_free(s[i]);
	free(s);
	graph_free(g);
	buffer_free(&b);
	return status;
}

static int
vt_schedule_query(const struct schedule *s)
{
	struct buffer b = { 0 };
	uint64_t n = vt_schedule_samples();
	int bad;

	if (n == 0)
		options_wrong("--locate needs --samples=N or --data=DIR");
	if (!(bad = query_print(s, n, set.at, &b)))
		fputs(b.data, stdout);
	buffer_free(&b);
	return bad ? EXIT_USAGE : stdout_done() != 0 ? EXIT_FAILED : EXIT_DONE;
}

/* Check the combination of options. */
static void
vt_schedule_check_options(int tables)
{
	static const char *const of_check[] = { "device", "precision",
		"threads", NULL };

	if (set.check + set.compare + (set.at != NULL) > 1)
		options_wrong("more than one of --check, --compare and --locate");
	if (set.check && tables != 1)
		options_wrong("--check needs one TABLE");
	if (set.compare && tables < 2)
		options_wrong("--compare needs at least 2 TABLEs");
	if ((set.check || set.compare || set.at != NULL) && (set.summary ||
	    set.plot != NULL || set.out != NULL))
		options_wrong("--check, --compare and --locate do not combine with "
		    "--summary, --plot or --output");
	if (!set.check && !set.compare && set.model != NULL)
		options_wrong("--model needs --check or --compare");
	if (!set.check && set.memory > 0)
		options_wrong("--memory needs --check");
	if (!set.check && set.classes > 0)
		options_wrong("--num-classes needs --check");
	if (!set.check && set.time)
		options_wrong("--time needs --check");
	if (!set.check && set.deterministic)
		options_wrong("--deterministic needs --check");
	for (int i = 0; of_check[i] != NULL; i++)
		if (!set.check && options_on_line(of_check[i]))
			options_wrong("--%s needs --check", of_check[i]);
	if (!set.check && set.data != NULL && set.samples > 0)
		options_wrong("--data and --samples (wanted one of them)");
}

/* Print the table, the picture and the summary of ${s}, as far as requested.
 * ${made}: it was made by rule. */
static int
vt_schedule_print(struct schedule *s, int made, int chose)
{
	char *text = vt_schedule_text_of(s, chose);
	int written = vt_schedule_is_written(text), status = EXIT_FAILED;

	if (!written && !set.force && set.out != NULL && file_size(set.out) >= 0)
		options_wrong("%s exists (-f replaces it)", text_quote(set.out));
	vt_schedule_say_more(s);
	schedule_advise(s);
	if (set.summary) {
		struct buffer b = { 0 };

		schedule_summary(s, vt_schedule_samples(),
		    made ? (int)rule.epochs : 0, &b);
		fputs(b.data, stdout);
		buffer_free(&b);
	}
	if ((set.out != NULL || (!set.summary && set.plot == NULL)) &&
	    !written && vt_schedule_write_table(text) != 0)
		goto out;
	if ((set.plot == NULL || schedule_draw(s, set.plot) == 0) &&
	    stdout_done() == 0)
		status = EXIT_DONE;
out:
	free(text);
	return status;
}

int
main(int argc, char **argv)
{
	struct schedule *s;
	int first, made, chose, status;

	program_start(argv[0]);
	first = options_parse(&command, argc, argv);
	program_quiet(set.quiet);
	program_verbose(set.verbose);
	vt_schedule_check_options(argc - first);
	if (set.compare || set.check)
		vt_schedule_refuse_rule(argv[first]);
	if (set.compare)
		return vt_schedule_compare(argv + first, argc - first);
	if (argc - first > 1)
		options_wrong("%s: more than one TABLE (only --compare takes several)",
		    text_quote(argv[first + 1]));
	if (set.check)
		return vt_schedule_check(argv[first]);
	made = first == argc;
	chose = made && rule.bn_size == 0 && rule.bn == BN_CONSTANT;
	vt_schedule_check_outputs();
	if (made)
		vt_schedule_warn_unused();
	s = made ? rule_schedule(&rule) : vt_schedule_read_operand(argv[first]);
	if (s == NULL)
		return EXIT_USAGE;
	status = set.at != NULL ? vt_schedule_query(s) : vt_schedule_print(s,
	    made, chose);
	schedule_free(s);
	return status;
}
