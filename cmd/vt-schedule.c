/* vt-schedule: print a training schedule as a table, draw it, or sum it up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/options.h"
#include "base/text.h"
#include "draw/plot.h"
#include "sched/curve.h"
#include "sched/group.h"
#include "sched/multigrid.h"
#include "sched/schedule.h"
#include "sched/summary.h"
#include "train/schedule_draw.h"

enum { CONSTANT, LONG, SHORT, LONG_SHORT };
enum { BN_CONSTANT, BN_PYSLOWFAST };

static struct {
	int policy, bn, fine_tune, summary, force, quiet, verbose;
	int64_t batch, frames, crop, stride, epochs, bn_size, ranks, samples;
	double lr, gamma, epoch_factor, warmup_epochs, warmup_lr;
	const char *falls, *factors, *longs, *shorts, *out, *plot, *config;
} set = {
	.fine_tune = 1, .batch = 64, .frames = 8, .crop = 224, .epochs = 50,
	.ranks = 1, .lr = 0.01, .gamma = 0.1,
	.longs = "0.25x0.7071067811865476,0.5x0.7071067811865476,0.5x1,1x1",
	.shorts = "0.5,0.7071067811865476"
};

static const struct option_row rows[] = {
	OPTION_HEADING("Shape and learning rate"),
	{ 0, "policy", OPTION_CHOICE, &set.policy, "NAME",
	    "cycles: constant (none), long, short or long+short",
	    "constant|long|short|long+short", 0, 0, 0 },
	{ 0, "batch", OPTION_INT, &set.batch, "CLIPS",
	    "clips a step at the base shape, over all ranks (64)", NULL,
	    1, SCHEDULE_BATCH, 0 },
	{ 0, "frames", OPTION_INT, &set.frames, "T",
	    "frames a clip at the base shape (8)", NULL,
	    1, SCHEDULE_FRAMES, 0 },
	{ 0, "crop", OPTION_INT, &set.crop, "PIXELS",
	    "crop size at the base shape (224)", NULL,
	    1, SCHEDULE_CROP, 0 },
	{ 0, "stride", OPTION_INT, &set.stride, "FRAMES",
	    "temporal stride; 0: one frame of each segment (0)", NULL,
	    0, 1024, 0 },
	{ 0, "lr", OPTION_REAL, &set.lr, "LR",
	    "learning rate for the base batch (0.01)", NULL, 0, 1e6, 0 },
	{ 0, "epochs", OPTION_INT, &set.epochs, "N",
	    "epochs without cycles (50)", NULL, 1, SCHEDULE_EPOCHS, 0 },
	{ 0, "milestones", OPTION_TEXT, &set.falls, "LIST",
	    "epochs after which the lr decays; none (2/5, 4/5)", NULL,
	    0, 0, 0 },
	{ 0, "gamma", OPTION_REAL, &set.gamma, "X",
	    "factor of the lr at each milestone (0.1)", NULL, 0, 1, 0 },
	{ 0, "lr-factors", OPTION_TEXT, &set.factors, "LIST",
	    "or all factors of --lr: 1, and one a milestone", NULL,
	    0, 0, 0 },
	{ 0, "warmup-epochs", OPTION_REAL, &set.warmup_epochs, "N",
	    "linear warm-up over N epochs, not stretched (0)", NULL,
	    0, SCHEDULE_EPOCHS, 0 },
	{ 0, "warmup-lr", OPTION_REAL, &set.warmup_lr, "LR",
	    "from this learning rate (0)", NULL, 0, 1e6, 0 },
	OPTION_HEADING("Cycles"),
	{ 0, "epoch-factor", OPTION_REAL, &set.epoch_factor, "X",
	    "stretch the epochs; 0: 1.5 with cycles, else 1 (0)", NULL,
	    0, 100, 0 },
	{ 0, "long-factors", OPTION_TEXT, &set.longs, "LIST",
	    "long cycle: frames x crop, over the base shape", NULL,
	    0, 0, 0 },
	{ 0, "short-factors", OPTION_TEXT, &set.shorts, "LIST",
	    "short cycle: crops, over the base crop", NULL, 0, 0, 0 },
	{ 0, "fine-tune", OPTION_FLAG, &set.fine_tune, NULL,
	    "after the last milestone, the last long shape (yes)", NULL,
	    0, 0, 0 },
	OPTION_HEADING("Batch normalisation"),
	{ 0, "bn", OPTION_CHOICE, &set.bn, "RULE",
	    "groups: constant, or those of pyslowfast (constant)",
	    "constant|pyslowfast", 0, 0, 0 },
	{ 0, "bn-size", OPTION_INT, &set.bn_size, "CLIPS",
	    "clips in a BN group; 0: 8, or half the batch (0)", NULL, 0, SCHEDULE_BATCH, 0 },
	{ 0, "ranks", OPTION_INT, &set.ranks, "N",
	    "devices, for --bn=pyslowfast (1)", NULL, 1, 1 << 20, 0 },
	OPTION_HEADING("Output"),
	{ 'o', "output", OPTION_TEXT, &set.out, "FILE",
	    "write the table there (standard output)", NULL, 0, 0, 0 },
	{ 0, "samples", OPTION_INT, &set.samples, "N",
	    "of the training set: count steps and clips", NULL,
	    0, (double)SCHEDULE_SAMPLES, 0 },
	{ 0, "summary", OPTION_FLAG, &set.summary, NULL,
	    "print stages, work and speed-up", NULL, 0, 0, 0 },
	{ 0, "plot", OPTION_TEXT, &set.plot, "FILE",
	    "draw shapes, batch and learning rate as a PNG", NULL, 0, 0, 0 },
	{ 'f', "force", OPTION_FLAG, &set.force, NULL,
	    "replace files that exist", NULL, 0, 0, 0 },
	OPTION_CONFIG(&set.config),
	OPTION_QUIET(&set.quiet),
	OPTION_VERBOSE(&set.verbose),
	OPTION_END
};

static const struct command command = {
	.usage = "[OPTION]... [TABLE]",
	.summary = "Print a training schedule, made by rule or read from TABLE.",
	.example = "vt-schedule --policy=long+short --milestones=20,40 --summary",
	.rows = rows,
	.versions = plot_versions,
	.operands = "FILE"
};

/* ---- lists ---- */

enum { ITEMS = 64, ITEM = 64 };	/* of a list; bytes of one */

/*
 * Copy what stands before the next comma of ${*rest} to ${item} and step over
 * it.  0 after the last one.
 */
static int
next_item(const char **rest, char item[ITEM])
{
	size_t n;

	if (*rest == NULL)
		return 0;
	n = strcspn(*rest, ",");
	snprintf(item, ITEM, "%.*s", (int)n, *rest);
	*rest = (*rest)[n] == ',' ? *rest + n + 1 : NULL;
	return 1;
}

/* Lists are as long as these; more is a slip. */
static void
check_length(const char *option, int n, int most)
{
	if (n == most)
		options_wrong("--%s: more than %d items", option, most);
}

static int
read_falls(const char *list, int fall[ITEMS])
{
	int64_t before = 0, at;
	char item[ITEM];
	int n = 0;

	if (list == NULL) {	/* as 20 and 40 of TSM's 50 */
		for (int part = 2; part <= 4; part += 2)
			if (set.epochs * part / 5 > (n > 0 ? fall[n - 1] : 0))
				fall[n++] = (int)(set.epochs * part / 5);
		return n;
	}
	if (strcmp(list, "none") == 0)
		return 0;
	for (; next_item(&list, item); n++) {
		check_length("milestones", n, ITEMS);
		if (text_int(item, before + 1, set.epochs - 1, &at) != 0)
			options_wrong("--milestones: %s (wanted epochs, rising, from "
			    "1 to --epochs - 1 = %d, such as 20,40; or none)",
			    text_quote(item), (int)set.epochs - 1);
		fall[n] = (int)at;
		before = at;
	}
	return n;
}

/* ${wanted} numbers in ${to}[${most}]; 0: as many as there are. */
static int
read_numbers(const char *option, const char *list, double min, double max,
    int wanted, double *to, int most)
{
	char item[ITEM];
	int n = 0;

	for (; next_item(&list, item); n++) {
		check_length(option, n, most);
		if (text_real(item, min, max, &to[n]) != 0)
			options_wrong("--%s: %s (wanted a number from %g to %g)",
			    option, text_quote(item), min, max);
	}
	if (wanted > 0 && n != wanted)
		options_wrong("--%s: %d numbers (wanted %d, one more than "
		    "milestones)", option, n, wanted);
	return n;
}

static int
read_longs(const char *list, struct long_factor f[ITEMS])
{
	char item[ITEM];
	int n = 0;

	for (; next_item(&list, item); n++) {
		char *rest = item, *frames = strsep(&rest, "x");

		check_length("long-factors", n, ITEMS);
		if (rest == NULL ||
		    text_real(frames, 1e-6, 1, &f[n].frames) != 0 ||
		    text_real(rest, 1e-6, 1, &f[n].crop) != 0)
			options_wrong("--long-factors: %s%s%s (wanted frames x "
			    "crop, above 0 and up to 1, such as 0.5x0.7071)",
			    frames, rest != NULL ? "x" : "",
			    rest != NULL ? rest : "");
	}
	return n;
}

/* ---- making ---- */

static int
has_long(void)
{
	return set.policy == LONG || set.policy == LONG_SHORT;
}

static int
has_short(void)
{
	return set.policy == SHORT || set.policy == LONG_SHORT;
}

/* What is set in vain is worth a word, unless it stands in a file of settings,
 * which may serve every policy. */
static void
warn_of_vain(void)
{
	const struct { const char *name; int used; const char *why; } vain[] = {
		{ "long-factors", has_long(), "without a long cycle" },
		{ "fine-tune", has_long(), "without a long cycle" },
		{ "short-factors", has_short(), "without a short cycle" },
		{ "warmup-lr", set.warmup_epochs > 0,
		    "without --warmup-epochs" },
		{ "gamma", set.factors == NULL, "beside --lr-factors" },
		{ "ranks", set.bn == BN_PYSLOWFAST,
		    "without --bn=pyslowfast" } };

	for (size_t i = 0; i < sizeof(vain) / sizeof(vain[0]); i++)
		if (set.config == NULL && !vain[i].used &&
		    options_given(vain[i].name))
			warning("--%s does nothing %s", vain[i].name, vain[i].why);
}

static struct schedule *
make(void)
{
	struct multigrid m = {
		.batch = (int)set.batch, .frames = (int)set.frames,
		.crop = (int)set.crop, .stride = (int)set.stride,
		.epochs = (int)set.epochs, .lr = set.lr,
		.epoch_factor = set.epoch_factor,
		.warmup_epochs = set.warmup_epochs, .warmup_lr = set.warmup_lr,
		.fine_tune = set.fine_tune
	};
	struct long_factor longs[ITEMS];
	double shorts[SCHEDULE_CYCLE - 1], factor[ITEMS + 1];
	int fall[ITEMS], bad;
	struct schedule *s;

	warn_of_vain();
	m.fall = fall;
	m.factor = factor;
	m.long_factor = longs;
	m.short_factor = shorts;
	m.falls = read_falls(set.falls, fall);
	if (set.factors != NULL)
		read_numbers("lr-factors", set.factors, 0, 1e6, m.falls + 1,
		    factor, ITEMS + 1);
	else
		for (int j = 0; j <= m.falls; j++)
			factor[j] = pow(set.gamma, j);
	if (m.epoch_factor == 0)
		m.epoch_factor = set.policy == CONSTANT ? 1 : 1.5;
	if (has_long())
		m.longs = read_longs(set.longs, longs);
	if (has_short())
		m.shorts = read_numbers("short-factors", set.shorts, 1e-6, 1, 0,
		    shorts, SCHEDULE_CYCLE - 1);
	if (has_long() && m.fine_tune && m.falls == 0)
		options_wrong("--policy: without a milestone a long cycle has no epochs, "
		    "all would be fine-tuning (wanted --milestones, or "
		    "--no-fine-tune)");
	s = multigrid_schedule(&m);
	if (s == NULL)
		return NULL;
	if (set.bn_size == 0)
		set.bn_size = set.bn == BN_CONSTANT ? group_default(s) : 8;
	bad = set.bn == BN_CONSTANT ? group_constant(s, (int)set.bn_size) :
	    group_pyslowfast(s, (int)set.bn_size, (int)set.ranks, has_long());
	if (bad) {
		schedule_free(s);
		return NULL;
	}
	return s;
}

/* A table is read as it stands: nothing else may claim to shape it. */
static struct schedule *
read_operand(const char *path)
{
	static const char *const makers[] = { "policy", "batch", "frames",
		"crop", "stride", "lr", "epochs", "milestones", "gamma",
		"lr-factors", "warmup-epochs", "warmup-lr", "epoch-factor",
		"long-factors", "short-factors", "fine-tune", "bn", "bn-size",
		"ranks" };

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (options_given(makers[i]))
			options_wrong("--%s: the schedule is read from %s, not made",
			    makers[i], text_quote(path));
	return schedule_read(path);
}

/* ---- output ---- */

static int
is_stdout(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

static void
must_be_new(const char *path)
{
	if (path != NULL && !is_stdout(path) && !set.force &&
	    file_size(path) >= 0)
		options_wrong("%s exists (-f replaces it)", text_quote(path));
}

static void
check_outputs(void)
{
	must_be_new(set.plot);
	if (is_stdout(set.out) + is_stdout(set.plot) + set.summary > 1)
		options_wrong("more than one of the table, the plot and the summary "
		    "to standard output");
	if (is_stdout(set.plot) && isatty(STDOUT_FILENO))
		options_wrong("--plot=-: a PNG does not go to a terminal");
	if (set.plot != NULL && plot_ready(set.plot) != 0)
		exit(EXIT_USAGE);
}

/* ${chose}: the size of groups was chosen here, which the table says. */
static char *
text_of(const struct schedule *s, int chose)
{
	char *rows = set.samples > 0 ?
	    schedule_text_steps(s, (uint64_t)set.samples) : schedule_text(s);
	char *text = chose ? xprintf("# --bn-size=%d\n%s", (int)set.bn_size,
	    rows) : xstrdup(rows);

	free(rows);
	return text;
}

/*
 * The table is there: of the same command, which was stopped before the plot,
 * or of another one.
 */
static int
is_written(const char *text)
{
	struct buffer b = { 0 };
	int same;

	if (set.out == NULL || is_stdout(set.out) || file_size(set.out) < 0)
		return 0;
	same = file_read(set.out, &b) == 0 && strcmp(b.data, text) == 0;
	buffer_free(&b);
	return same;
}

static int
write_table(const char *text)
{
	if (set.out != NULL && !is_stdout(set.out))
		return commit_text(set.out, text);
	fputs(text, stdout);
	return 0;
}

/* What a run will look at first: how long it is, and who can share it. */
static void
say_more(const struct schedule *s)
{
	const struct cell *least = &s->stage[0].cell[0];

	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++)
			if (s->stage[i].cell[k].batch / s->stage[i].cell[k].group <
			    least->batch / least->group)
				least = &s->stage[i].cell[k];
	detail("%d epochs in %d stages; %d ranks at most, since a batch of %d has "
	    "%d BN groups of %d clips", schedule_epochs(s), s->stages,
	    least->batch / least->group, least->batch,
	    least->batch / least->group, least->group);
}

int
main(int argc, char **argv)
{
	struct schedule *s;
	char *text;
	int first, made, chose, written, status = EXIT_FAILED;

	program_start(argv[0]);
	first = options_parse(&command, argc, argv);
	program_quiet(set.quiet);
	program_verbose(set.verbose);
	if (argc - first > 1)
		options_wrong("%s: one table at most", text_quote(argv[first + 1]));
	made = first == argc;
	chose = made && set.bn_size == 0 && set.bn == BN_CONSTANT;
	check_outputs();
	s = made ? make() : read_operand(argv[first]);
	if (s == NULL)
		return EXIT_USAGE;
	text = text_of(s, chose);
	if (!(written = is_written(text)))
		must_be_new(set.out);
	say_more(s);
	if (set.summary) {
		struct buffer b = { 0 };

		schedule_summary(s, (uint64_t)set.samples, made ?
		    (int)set.epochs : 0, &b);
		fputs(b.data, stdout);
		buffer_free(&b);
	}
	if ((set.out != NULL || (!set.summary && set.plot == NULL)) &&
	    !written && write_table(text) != 0)
		goto out;
	if ((set.plot == NULL || schedule_draw(s, set.plot) == 0) &&
	    stdout_done() == 0)
		status = EXIT_DONE;
out:
	free(text);
	schedule_free(s);
	return status;
}
