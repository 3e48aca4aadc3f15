/* vt-extract: decode videos to a stream of samples. */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/table.h"
#include "base/text.h"
#include "ingest/extract_all.h"
#include "ingest/extract_output.h"
#include "ingest/extract_settings.h"
#include "ingest/extract_worker.h"
#include "media/video.h"
#include "shard/level.h"

#include "options/common.h"
#include "options/extract_estimate_option.h"
#include "options/split.h"

#define Q text_quote

enum { ON_ERROR_STOP, ON_ERROR_SKIP };
enum { LABEL_FROM_LIST, LABEL_FROM_DIR };

static struct extract_options how;
static struct extract_budget limits;

static struct spool_budget budget;
static struct option_list lists, annotations;
static const char *root, *subset, *class_file, *output, *report, *size, *fps;
static const char *levels;
static int zero, annotations_format, class_order, label_from, format, flow, rgb, enlarge, on_error,
    allow_truncated, strict_rate, force, dry_run, quiet, verbose, progress;
static const char *list_fps, *label_attribute, *tier, *background;
static struct fraction list_rate;
static double around;
static int64_t short_side = 256, quality = 90, max_frames = FRAME_MAX,
    max_pixels = 64 << 20, max_damage, threads, memory = 256 << 20;
static const char *config, *estimate, *budget_text;
static struct split_options split_how;

static const struct option_row rows[] = {
	OPTION_HEADING("Input"),
	LIST_OPTIONS(&lists, &zero, 0),
	{ 0, "annotations", OPTION_LIST, &annotations, "FILE",
	    "read videos and labels from an annotation list",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "annotations-format", OPTION_CHOICE, &annotations_format, "FORMAT",
	    "set the format of the list: tsm, ... (detected)",
	    list_format_choices, 0, 0, OPTION_COMMON },
	{ 0, "around", OPTION_TIME, &around, "TIME",
	    "make parts of TIME from events without duration", NULL, 0, 1e6,
	    0 },
	{ 0, "background", OPTION_TEXT, &background, "NAME",
	    "make parts of class NAME from the gaps between parts", NULL, 0, 0,
	    0 },
	{ 0, "label-attribute", OPTION_TEXT, &label_attribute, "NAME",
	    "use attribute NAME of CVAT or VIA for labels", NULL, 0, 0, 0 },
	{ 0, "list-fps", OPTION_TEXT, &list_fps, "RATE",
	    "set the rate of the frame numbers in the list", NULL, 0, 0, 0 },
	{ 0, "tier", OPTION_TEXT, &tier, "NAME",
	    "read the labels of an ELAN file from tier NAME", NULL, 0, 0, 0 },
	{ 0, "subset", OPTION_TEXT, &subset, "NAME",
	    "use only annotations of train, test, ...", NULL, 0, 0,
	    OPTION_COMMON },
	SPLIT_OPTIONS(&split_how),
	{ 0, "root", OPTION_TEXT, &root, "DIR",
	    "start paths of lists, keys and labels at DIR",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "classes", OPTION_TEXT, &class_file, "FILE",
	    "read class names, one a line (those that occur)",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT },
	{ 0, "class-order", OPTION_CHOICE, &class_order, "ORDER",
	    "number --classes as in the file, or sorted (%)", "file|sorted",
	    0, 0, 0 },
	{ 0, "label-from", OPTION_CHOICE, &label_from, "WHAT",
	    "take labels from list, or dir: from folders (%)", "list|dir",
	    0, 0, OPTION_COMMON },
	OPTION_HEADING("Frames"),
	{ 0, "short-side", OPTION_INT, &short_side, "N",
	    "downscale the short side to N (%; 0: do not)", NULL, 0,
	    16384, OPTION_COMMON },
	{ 0, "size", OPTION_TEXT, &size, "WxH",
	    "scale every frame to W by H pixels instead", NULL, 0, 0, 0 },
	{ 0, "enlarge", OPTION_FLAG, &enlarge, NULL,
	    "also upscale smaller videos to --short-side", NULL, 0, 0, 0 },
	{ 0, "levels", OPTION_TEXT, &levels, "LIST",
	    "store frames at these short sides, such as 256,128", NULL, 0, 0,
	    0 },
	{ 0, "fps", OPTION_TEXT, &fps, "RATE",
	    "resample to RATE frames a second, 30 or 30000/1001", NULL, 0, 0,
	    OPTION_COMMON },
	{ 0, "format", OPTION_CHOICE, &format, "FORMAT",
	    "store frames as jpeg or png (%)", "jpeg|png",
	    0, 0, OPTION_COMMON },
	{ 0, "quality", OPTION_INT, &quality, "N",
	    "set the JPEG quality, 1 to 100 (%)", NULL, 1, 100,
	    OPTION_COMMON },
	{ 0, "flow", OPTION_CHOICE, &flow, "METHOD",
	    "store flow instead of frames: tvl1 (%)",
	    "none|tvl1", 0, 0, OPTION_COMMON },
	{ 0, "rgb", OPTION_FLAG, &rgb, NULL,
	    "store frames besides the flow of --flow", NULL, 0, 0, OPTION_COMMON },
	OPTION_HEADING("Output"),
	{ 'o', "output", OPTION_TEXT, &output, "FILE",
	    "write the stream to FILE, not to standard output",
	    "__vt__/", 0, 0, OPTION_COMMON | OPTION_OUTPUT | OPTION_NEW },
	{ 'f', "force", OPTION_FLAG, &force, NULL,
	    "replace existing files", NULL, 0, 0, OPTION_COMMON },
	{ 0, "report", OPTION_TEXT, &report, "FILE",
	    "write a report of each video as JSON Lines",
	    "{\"bytes\":*,\"claimed\":|{\"build\":*,\"bytes\":", 0, 0, OPTION_COMMON | OPTION_OUTPUT },
	OPTION_HEADING("Errors"),
	{ 0, "on-error", OPTION_CHOICE, &on_error, "WHAT",
	    "stop at a refused video, or skip it (%)", "stop|skip",
	    0, 0, OPTION_COMMON },
	{ 0, "allow-truncated", OPTION_FLAG, &allow_truncated, NULL,
	    "keep the complete frames of a truncated video",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "max-damage", OPTION_INT, &max_damage, "N",
	    "keep videos damaged in up to N places (%)", NULL, 0, 0, 0 },
	{ 0, "strict-rate", OPTION_FLAG, &strict_rate, NULL,
	    "count gaps in a constant frame rate as damage", NULL, 0, 0, 0 },
	{ 0, "max-pixels", OPTION_SIZE, &max_pixels, "N",
	    "refuse larger frames (%)", NULL, 1, 1 << 30, 0 },
	{ 0, "max-frames", OPTION_INT, &max_frames, "N",
	    "refuse videos with more stored frames (%)", NULL, 1,
	    FRAME_MAX, 0 },
	{ 0, "budget", OPTION_TEXT, &budget_text, "LIMITS",
	    "limit a video: cpu:60s,wall:5m,memory:2G (none)", NULL, 0, 0, 0 },
	OPTION_HEADING("Running"),
	{ 'j', "threads", OPTION_INT, &threads, "N",
	    "decode N videos at once (one for each processor)", NULL, 1, 1024,
	    OPTION_COMMON },
	{ 0, "spool-memory", OPTION_SIZE, &memory, "BYTES",
	    "hold at most BYTES of coded frames in memory (%)", NULL,
	    1 << 20, 1e15, 0 },
	{ 'n', "dry-run", OPTION_FLAG, &dry_run, NULL,
	    "list what would be stored, and write nothing",
	    NULL, 0, 0, OPTION_COMMON },
	ESTIMATE_OPTION(&estimate),
	OPTION_CONFIG(&config),
	OPTION_QUIET(&quiet),
	OPTION_VERBOSE(&verbose),
	OPTION_PROGRESS(&progress),
	OPTION_END
};

static const struct command command = {
	.usage = "[OPTION]... [FILE]...",
	.summary = "Decode videos and write frames or optical flow as a stream for vt-pack.",
	.example = "vt-extract --label-from=dir videos/*/*.mp4 | vt-pack -o set",
	.rows = rows,
	.versions = video_versions,
	.operands = "FILE"
};

/* The videos to extract, and the open outputs. */
struct extract_job {
	struct list list;
	struct class_list classes;
	struct list_split split;
	struct extract_output to;
	size_t estimate;		/* videos of --estimate; 0: not given */
};

static volatile sig_atomic_t asked;	/* SIGUSR1: print the progress */

/* ---- settings ---- */

static void
vt_extract_parse_size(void)
{
	int w, h, n = 0;

	if (size == NULL)
		return;
	if (size[strspn(size, "0123456789x")] != '\0' ||	/* no sign, no blank */
	    sscanf(size, "%5dx%5d%n", &w, &h, &n) != 2 || size[n] != '\0' ||
	    w < 1 || h < 1 || w > 16384 || h > 16384)
		options_wrong("--size: %s (wanted WIDTHxHEIGHT, 1 to 16384 "
		    "each, such as 340x256)", Q(size));
	how.width = w;
	how.height = h;
}

/* Read the short sides of --levels, largest first. */
static void
vt_extract_parse_levels(void)
{
	const char *at = levels;
	int n = 0;

	if (levels == NULL)
		return;
	if (size != NULL || options_given("short-side"))
		options_wrong("--levels gives the sizes of the frames (wanted it "
		    "without --%s)", size != NULL ? "size" : "short-side");
	for (;;) {
		int used = 0, side = 0, above = n == 0 ? LEVEL_SIDE_MAX + 1 :
		    n == 1 ? how.short_side : how.level[n - 2];

		if (n == STREAM_MAX || *at < '0' || *at > '9' ||
		    sscanf(at, "%4d%n", &side, &used) != 1 ||
		    side < 1 || (at[used] != ',' && at[used] != '\0'))
			options_wrong("--levels: %s (wanted 2 to %d short sides "
			    "from 1 to %d, such as 256,128)", Q(levels),
			    STREAM_MAX, LEVEL_SIDE_MAX);
		if (side >= above)
			options_wrong("--levels: %s: %d after %d (wanted each "
			    "short side below the one before it)", Q(levels),
			    side, above);
		*(n == 0 ? &how.short_side : &how.level[n - 1]) = side;
		n++;
		if (at[used] == '\0')
			break;
		at += used + 1;
	}
	if (n < 2)
		options_wrong("--levels: %s (wanted at least 2 short sides; one "
		    "is --short-side)", Q(levels));
	how.levels = n - 1;
}

static void
vt_extract_resolve_flow(void)
{
	if (rgb && flow == EXTRACT_NO_FLOW)
		options_wrong("--rgb is for --flow, which is missing (without it, "
		    "frames are stored)");
	if (flow != EXTRACT_NO_FLOW && levels != NULL)
		options_wrong("--flow with --levels (wanted one of them)");
	how.flow = (enum extract_flow)flow;
	how.rgb = rgb;
	how.pairs = flow != EXTRACT_NO_FLOW;
}

/* Check the options, and derive the settings of the extraction from them. */
static void
vt_extract_resolve_options(struct extract_job *j)
{
	struct error why = { "" };
	const char *of_lists = subset != NULL && split_how.split == NULL ?
	    "subset" : annotations_format != 0 ? "annotations-format" :
	    around > 0 ? "around" : list_fps != NULL ? "list-fps" :
	    label_attribute != NULL ? "label-attribute" :
	    tier != NULL ? "tier" : background != NULL ? "background" : NULL;

	how = extract_defaults;
	vt_extract_parse_size();
	if (output != NULL && strcmp(output, "-") == 0)
		output = NULL;
	if (fps != NULL && fps_parse(fps, &how.fps) != 0)
		options_wrong("--fps: %s (wanted frames a second, up to 1000, "
		    "such as 12, 29.97 or 30000/1001)", Q(fps));
	if (list_fps != NULL && fps_parse(list_fps, &list_rate) != 0)
		options_wrong("--list-fps: %s (wanted frames a second, up to 1000, "
		    "such as 24 or 30000/1001)", Q(list_fps));
	if (budget_text != NULL && extract_budget_parse(budget_text, &limits,
	    &why) != 0)
		options_wrong("--budget: %s", why.text);
	if (budget_text != NULL && (dry_run || split_how.print))
		options_wrong("--budget with %s, which decodes nothing (wanted one "
		    "of them)", dry_run ? "-n" : "--print-list");
	if (annotations.n == 0 && of_lists != NULL)
		options_wrong("--%s is for --annotations, which is missing",
		    of_lists);
	if (class_file == NULL && class_order != 0)
		options_wrong("--class-order is for --classes, which is missing");
	if (zero && lists.n == 0)
		options_wrong("-0 is for -T, which is missing");
	if (split_how.print && (dry_run || output != NULL || report != NULL))
		options_wrong("--print-list with %s (wanted one of them)",
		    dry_run ? "-n" : output != NULL ? "-o" : "--report");
	j->estimate = extract_estimate_videos(estimate);
	if (j->estimate > 0 && (dry_run || split_how.print))
		options_wrong("--estimate with %s (wanted one of them)",
		    dry_run ? "-n" : "--print-list");
	split_resolve(&split_how, subset, &j->split);
	vt_extract_resolve_flow();
	how.short_side = (int)short_side;
	vt_extract_parse_levels();
	how.enlarge = enlarge;
	how.max_frames = max_frames;
	how.max_pixels = max_pixels;
	how.format = format == 0 ? EXTRACT_JPEG : EXTRACT_PNG;
	how.quality = (int)quality;
	how.allow_truncated = allow_truncated;
	how.max_damage = max_damage;
	how.strict_rate = strict_rate;
	spool_budget_open(&budget, (size_t)memory);
	how.memory = &budget;
}

/* ---- the list of videos ---- */

/* List the videos with keys and labels.  Return 0, or an exit status after a
 * message. */
static int
vt_extract_gather(struct extract_job *j, int n, char **operand)
{
	const struct list_how l = {
		.format = annotations_format, .root = root,
		.subset = split_how.split == NULL ? subset : NULL,
		.group = split_how.group, .around = around,
		.attribute = label_attribute, .tier = tier,
		.background = background,
		.fps = list_rate.num > 0 ? (double)list_rate.num / list_rate.den : 0,
		.by_folder = label_from == LABEL_FROM_DIR, .all = split_how.split != NULL,
	};
	int status;

	if (split_how.group != NULL && annotations.n == 0)
		options_wrong("--group is for --annotations, which is missing");
	if (n == 0 && lists.n == 0 && annotations.n == 0)
		options_wrong("no video named (wanted FILE, -T or "
		    "--annotations)");
	for (int i = 0; i < n; i++)
		list_add(&j->list, operand[i]);
	for (size_t i = 0; i < lists.n; i++)
		if (list_read_paths(&j->list, lists.item[i], zero) != 0)
			return EXIT_FAILED;
	for (size_t i = 0; i < annotations.n; i++)
		if (list_read(&j->list, annotations.item[i], &l) != 0)
			return EXIT_FAILED;
	if (j->list.n == 0) {
		fail("%s: names no video (wanted one on each line)",
		    text_quote(annotations.n > 0 ? annotations.item[0] :
		    lists.item[0]));
		return EXIT_FAILED;
	}
	if (j->list.n > INT_MAX) {
		fail("%zu videos in the lists (wanted at most %d)", j->list.n,
		    INT_MAX);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < j->list.n; i++)
		options_reads(j->list.row[i].path, "a list of videos");
	if (class_file != NULL && list_classes(class_file,
	    class_order, &j->classes) != 0)
		return EXIT_FAILED;
	if (label_from == LABEL_FROM_DIR &&
	    (status = list_label_folders(&j->list, root)) != 0)
		return status;
	if (!split_how.print && list_one_column(&j->list) != 0)
		return EXIT_FAILED;
	return list_number(&j->list, &j->classes, class_file) == 0 &&
	    list_keys(&j->list, root, on_error == ON_ERROR_SKIP) == 0 &&
	    split_list(&split_how, &j->split, subset, &j->list) == 0 ? 0 :
	    EXIT_FAILED;
}

/* ---- extraction ---- */

/* Print a one-line summary, and a warning if videos were skipped. */
static void
vt_extract_say_summary(struct extract_job *j, struct extract_run *run)
{
	struct buffer b = { 0 };

	extract_summary(run, &j->classes, &b);
	if (run->sum.skipped > 0)
		warning("%lld of %lld videos were skipped; stored: %s",
		    (long long)run->sum.skipped, (long long)run->sum.videos,
		    b.data);
	else
		note("%s", b.data);
	buffer_free(&b);
}

static int
vt_extract_run(struct extract_job *j)
{
	struct extract_run run = {
		.how = &how, .list = &j->list, .threads = (int)threads,
		.skip = on_error == ON_ERROR_SKIP, .verbose = verbose,
		.progress_requested = &asked, .budget = limits,
	};
	int result = EXIT_FAILED;

	/* Claim the terminal for the progress line before the first byte of the
	 * stream: its reader, vt-pack, claims it after that byte. */
	progress_start((enum progress_mode)progress);
	if (j->estimate > 0) {
		result = extract_estimate_print(&run, j->estimate) == 0 ? EXIT_DONE :
		    EXIT_FAILED;
		progress_end();
		return result;
	}
	j->to = (struct extract_output){ .path = output,
	    .fd = STDOUT_FILENO, .report_path = report };
	if (extract_output_open(&j->to, &j->list, &j->classes, &how) != 0) {
		progress_end();
		return EXIT_FAILED;
	}
	run.stream = j->to.stream;
	run.report = j->to.report;
	run.compare = j->to.compare;
	if (extract_all(&run) != 0) {
		/* Tell the reader of a pipe that the message is ours. */
		if (output == NULL && stop_signal() == 0)
			(void)extract_output_end(&j->to, STREAM_FAILED);
	} else if (extract_output_end(&j->to, run.sum.skipped > 0 ? "skipped" :
	    "ok") == 0) {
		result = run.sum.skipped > 0 ? EXIT_SKIPPED : EXIT_DONE;
	}
	if (extract_output_close(&j->to, result != EXIT_FAILED, &run.sum) != 0)
		result = EXIT_FAILED;
	/* Print the summary before progress_end.  After that, the process that
	 * reads our pipe draws on the terminal. */
	if (result != EXIT_FAILED)
		vt_extract_say_summary(j, &run);
	progress_end();
	tally_free(&run.tally);
	return result;
}

/* --dry-run: print a table of the videos that would be stored, from their
 * headers alone. */
static int
vt_extract_list_all(struct extract_job *j)
{
	int result = EXIT_DONE;

	printf("#key\tlabel\tpath\tcodec\twidth\theight\tfps\tseconds\n");
	for (size_t i = 0; i < j->list.n; i++) {
		const struct list_row *row = &j->list.row[i];
		struct extraction x;
		const struct sample *m = &x.sample;
		char rate[32] = "?";

		if (stop_signal() != 0)
			return EXIT_FAILED;
		extract_probe(row, &how, &x);
		if (x.kept) {
			char *label = extract_labels(m);
			struct buffer path = { 0 };

			if (m->fps.den > 0)
				snprintf(rate, sizeof(rate), "%d/%d",
				    m->fps.num, m->fps.den);
			table_put(&path, row->path);
			printf("%s\t%s\t%s\t%s\t%d\t%d\t%s\t%.9g\n", m->key,
			    label, path.data, x.info.codec, m->width, m->height,
			    rate, x.info.declared_seconds);
			buffer_free(&path);
			free(label);
		} else {
			char *why = extract_refusal(row, &x,
			    on_error == ON_ERROR_STOP && j->list.n > 1);

			if (on_error == ON_ERROR_STOP)
				fail("%s", why);
			else
				warning("skipped: %s", why);
			free(why);
			result = on_error == ON_ERROR_STOP ? EXIT_FAILED :
			    EXIT_SKIPPED;
		}
		extraction_free(&x);
		if (result == EXIT_FAILED)
			return EXIT_FAILED;
	}
	return stdout_done() == 0 ? result : EXIT_FAILED;
}

static void
vt_extract_on_usr1(int number)
{
	(void)number;
	asked = 1;
}

static void
vt_extract_job_free(struct extract_job *j)
{
	extract_output_drop(&j->to);
	class_list_free(&j->classes);
	list_free(&j->list);
	spool_budget_close(&budget);
}

int
main(int argc, char **argv)
{
	struct extract_job job = { 0 };
	struct sigaction a = { .sa_handler = vt_extract_on_usr1,
	    .sa_flags = SA_RESTART };
	int first, result;

	program_start(argv[0]);
	if (argc == 3 && strcmp(argv[1], EXTRACT_WORKER) == 0)
		extract_worker_run(argv[2]);
	threads = cpus();
	first = options_parse(&command, argc, argv);
	program_quiet(quiet);
	vt_extract_resolve_options(&job);
	if (video_ready() != 0)
		return EXIT_FAILED;
	if (output == NULL && !dry_run && !split_how.print &&
	    job.estimate == 0 && isatty(STDOUT_FILENO))
		options_wrong("refusing to write a tar stream to a terminal "
		    "(wanted -o FILE or a pipe)");
	stop_handle();
	sigaction(SIGUSR1, &a, NULL);
	result = vt_extract_gather(&job, argc - first, argv + first);
	if (result == 0 && split_how.print)
		result = split_print(&split_how, root, &job.list) == 0 ? EXIT_DONE :
		    EXIT_FAILED;
	else if (result == 0)
		result = dry_run ? vt_extract_list_all(&job) :
		    vt_extract_run(&job);
	vt_extract_job_free(&job);
	free(lists.item);
	free(annotations.item);
	if (result == EXIT_FAILED)
		stop_reraise();
	return result;
}
