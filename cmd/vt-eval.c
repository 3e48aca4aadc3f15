/*
 * vt-eval: predict the classes of videos with a checkpoint, score a packed
 * dataset, or draw training curves.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/isa.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/version.h"
#include "comm/cores.h"
#include "comm/watch.h"
#include "draw/plot.h"
#include "eval/predict.h"
#include "eval/curves.h"
#include "eval/packed.h"
#include "ingest/list.h"
#include "media/video.h"
#include "shard/stream.h"
#include "train/run/agree.h"
#include "train/run/versions.h"

#include "options/common.h"
#include "options/packed.h"

static const char *config, *data, *output;
static const char *device = "cpu";
static struct option_list checkpoints, curves, lists;
static struct packed_files files;
static struct extract_options how = { .max_pixels = 64 << 20,
	.max_frames = FRAME_MAX };
static struct view_overrides views = { .microbatch = 8, .loader_threads = 2,
	.loader_memory = 512 << 20 };
static int use_ema, zero, precision, json, force, quiet, verbose, progress;
static int64_t threads, top = 5, sheet_samples = 24;
static double step_timeout = 600, curve_target;

static const struct option_row rows[] = {
	OPTION_HEADING("What to evaluate"),
	{ 'k', "checkpoint", OPTION_LIST, &checkpoints, "FILE|RUN",
	    "use a checkpoint, or that of a run of vt-train",
	    "FILE", 0, 0, OPTION_COMMON },
	{ 'i', "data", OPTION_TEXT, &data, "DIR",
	    "score a packed dataset, or a stream: FILE or -",
	    "FILE|-", 0, 0, OPTION_COMMON },
	LIST_OPTIONS(&lists, &zero),
	{ 0, "use-ema", OPTION_FLAG, &use_ema, NULL,
	    "use the moving average of vt-train --ema",
	    NULL, 0, 0, OPTION_COMMON },
	OPTION_HEADING("Views of a sample"),
	{ 0, "views", OPTION_CHOICE, &views.protocol, "PROTOCOL",
	    "use the views of a paper, or of validation (auto)",
	    VIEWS_NAMES, 0, 0, OPTION_COMMON },
	{ 0, "clips", OPTION_INT, &views.clips, "N",
	    "score N clips of each video (by --views)",
	    NULL, 0, 100, OPTION_COMMON },
	{ 0, "crops", OPTION_INT, &views.crops, "N",
	    "score 1, 3, 5 or 10 crops of each clip (by --views)",
	    NULL, 0, 10, OPTION_COMMON },
	{ 0, "full-short-side", OPTION_FLAG, &views.full, NULL,
	    "crop the whole short side, not 224/256 of it",
	    NULL, 0, 0, 0 },
	{ 0, "sampler", OPTION_CHOICE, &views.sampler, "RULE",
	    "choose frames by RULE (by --views)", VIEWS_SAMPLERS, 0, 0, 0 },
	{ 0, "stride", OPTION_INT, &views.stride, "N",
	    "set the temporal stride (last stage's)",
	    NULL, 0, 65536, 0 },
	{ 0, "crop-rule", OPTION_CHOICE, &views.crop_rule, "RULE",
	    "crop and resize as tsm or pyslowfast (by --views)",
	    "tsm|pyslowfast", 0, 0, 0 },
	{ 0, "ensemble", OPTION_CHOICE, &views.ensemble, "HOW",
	    "combine scores, probabilities or max (by --views)",
	    "scores|probabilities|max", 0, 0, 0 },
	{ 0, "frames", OPTION_INT, &views.frames, "T",
	    "set the frames of a clip (last stage's)",
	    NULL, 0, 1024, 0 },
	{ 0, "crop", OPTION_INT, &views.side, "PIXELS",
	    "set the crop size (last stage's)",
	    NULL, 0, 4096, 0 },
	OPTION_HEADING("Output"),
	{ 'o', "output", OPTION_TEXT, &output, "FILE",
	    "write the results to FILE, not to standard output",
	    NULL, 0, 0, OPTION_COMMON },
	{ 'f', "force", OPTION_FLAG, &force, NULL,
	    "let -o replace a file", NULL, 0, 0, 0 },
	{ 0, "top", OPTION_INT, &top, "N",
	    "print at most N likely classes of each video (5)",
	    NULL, 1, 1000000, OPTION_COMMON },
	OPTION_JSON(&json),
	OPTION_HEADING("Output of a packed dataset"),
	{ 0, "scores", OPTION_TEXT, &files.scores, "FILE",
	    "write every class's score, averaged over views",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "per-class", OPTION_TEXT, &files.per_class, "FILE",
	    "write a table of classes: top-1, top-5, confusion",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "matrix", OPTION_LIST, &files.matrix, "FILE",
	    "write the confusion matrix: .png, .svg, .pdf or .tsv",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "matrix-values", OPTION_CHOICE, &files.matrix_options.counts, "WHAT",
	    "show percent of the label, or count (percent)",
	    "percent|count", 0, 0, 0 },
	{ 0, "matrix-order", OPTION_CHOICE, &files.matrix_options.by_number, "HOW",
	    "order classes grouped, or by number (grouped)",
	    "grouped|number", 0, 0, 0 },
	{ 0, "sheet", OPTION_TEXT, &files.sheet, "FILE",
	    "draw a contact sheet of samples: .png, .svg or .pdf",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "sheet-samples", OPTION_INT, &sheet_samples, "N",
	    "draw N samples on the contact sheet (24)", NULL, 1, 400, 0 },
	{ 0, "sheet-of", OPTION_CHOICE, &files.sheet_wrong, "WHICH",
	    "draw all, or wrong ones, most confident first (all)",
	    "all|wrong", 0, 0, 0 },
	OPTION_HEADING("Training curves"),
	{ 0, "curve", OPTION_LIST, &curves, "FILE",
	    "write training curves: .png, .svg, .pdf or .tsv",
	    NULL, 0, 0, OPTION_COMMON },
	{ 0, "curve-target", OPTION_REAL, &curve_target, "PERCENT",
	    "mark when runs reach an accuracy (none)", NULL, 0, 100, 0 },
	OPTION_HEADING("Errors in a video"),
	{ 0, "allow-truncated", OPTION_FLAG, &how.allow_truncated, NULL,
	    "use the complete frames of a truncated video",
	    NULL, 0, 0, 0 },
	{ 0, "max-damage", OPTION_INT, &how.max_damage, "N",
	    "use videos damaged in up to N places (0)", NULL, 0, 0, 0 },
	{ 0, "max-pixels", OPTION_SIZE, &how.max_pixels, "N",
	    "refuse larger frames (64M)", NULL, 1, 1 << 30, 0 },
	{ 0, "max-frames", OPTION_INT, &how.max_frames, "N",
	    "refuse videos with more frames (999999)", NULL, 1, FRAME_MAX, 0 },
	OPTION_HEADING("Machine"),
	OPTION_DEVICE(&device),
	OPTION_PRECISION(&precision),
	OPTION_RANK_THREADS(&threads),
	{ 0, "microbatch", OPTION_INT, &views.microbatch, "N",
	    "compute N views together (8)",
	    NULL, 1, 4096, 0 },
	OPTION_LOADER_THREADS(&views.loader_threads),
	{ 0, "step-timeout", OPTION_TIME, &step_timeout, "TIME",
	    "limit waits for clips and ranks; 0: off (10m)",
	    NULL, 0, 1e9, 0 },
	OPTION_LOADER_MEMORY(&views.loader_memory),
	OPTION_HEADING("Common"),
	OPTION_CONFIG(&config),
	OPTION_PROGRESS(&progress),
	OPTION_QUIET(&quiet),
	OPTION_VERBOSE(&verbose),
	OPTION_END
};

static void
vt_eval_versions(FILE *f)
{
	train_versions(f);
	plot_versions(f);
	video_versions(f);
}

static const struct command command = {
	"[OPTION]... -k RUN VIDEO...|-T FILE|--data=DIR|--curve=FILE",
	"Predict the classes of videos, or score a packed dataset.",
	"vt-eval --checkpoint=run clip.mp4",
	rows, vt_eval_versions, "FILE", "vt-eval"
};

/* An evaluation of video files, of a stream of frames, or of a packed
 * dataset. */
struct eval_session {
	struct comm *comm;
	const char *network;
	int threads;
	struct model model;
	struct view_options views;
	struct clips clips;		/* videos or a stream */
	struct packed packed;		/* a dataset; path is NULL for videos or
					 * a stream */
	struct list list;		/* videos from operands and -T */
	const char **video;		/* [list.n] paths of these videos */
	struct output output;
};

/* ---- setting up ---- */

/* Check that all ranks were started alike, before any other collective call.
 * The path of --checkpoint may differ: packed_prepare compares the content. */
static int
vt_eval_check_start(const struct eval_session *s)
{
	char program[33], *settings = options_config(" checkpoint ");
	struct fingerprint mine = { .program = agree_program(program),
		.build = version_build, .isa = isa_name(isa_best()),
		.settings = settings };
	int bad = agree_ranks(s->comm, &mine);

	free(settings);
	return bad ? EXIT_RANKS : 0;
}

static void
vt_eval_describe(const struct eval_session *s)
{
	const struct state *state = &s->model.state;

	detail("%s: %s of step %" PRIu64 ", epoch %.2f", text_quote(s->network),
	    state->model, state->step, state->epoch);
}

/* ---- a packed dataset ---- */

static struct { double started; uint64_t all; } work;

/* Show the progress of all ranks, estimated from rank 0: the others have the
 * same number of samples, within one. */
static void
vt_eval_show_progress(uint64_t done, uint64_t all)
{
	double part = (double)done / (double)all, seconds;
	char left[32];

	if (!progress_due() || done == 0)
		return;
	seconds = clock_seconds() - work.started;
	progress_line("clip %.0f/%" PRIu64 "  %.1f clips/s  %s left",
	    floor(part * (double)work.all), work.all, part *
	    (double)work.all / seconds, clock_text(left, seconds *
	    (1 - part) / part));
}

/* Score a packed dataset on all ranks, and write the results on rank 0.  Return
 * 0, or an exit status. */
static int
vt_eval_score_packed(struct eval_session *s)
{
	struct packed *p = &s->packed;
	int status;

	vt_eval_describe(s);
	detail("%s: %" PRIu64 " samples of %d classes; clips %d, crops %d, "
	    "frames %d, crop size %d", text_quote(data),
	    (uint64_t)dataset_samples(p->data), (int)s->model.class.n,
	    p->views.clips, p->views.crops, p->views.t, p->views.side);
	watch_phase(s->comm->watch, "scoring", 0);
	work.started = clock_seconds();
	work.all = (uint64_t)dataset_samples(p->data) *
	    (uint64_t)(p->views.clips * p->views.crops);
	status = evaluate(s->model.net, p->data, &p->views, s->comm,
	    vt_eval_show_progress, &p->e);
	progress_end();
	watch_phase(s->comm->watch, "writing results", 0);
	if (status != 0 || s->comm->rank > 0)
		return status;
	if (output_open(&s->output, output) != 0)
		return EXIT_FAILED;
	return packed_write(p, json, &s->output);
}

/* ---- videos, and streams ---- */

static void
vt_eval_show_videos(uint64_t done)
{
	char all[32] = "";

	if (!progress_due())
		return;
	if (work.all > 0)
		snprintf(all, sizeof(all), "/%" PRIu64, work.all);
	progress_line("video %" PRIu64 "%s  %.1f videos/s", done, all,
	    (double)done / (clock_seconds() - work.started));
}

/* Predict the classes of all videos, or of the samples of a stream.  Return 0,
 * EXIT_SKIPPED if some have no prediction, or another exit status. */
static int
vt_eval_predict_videos(struct eval_session *s)
{
	struct predict_run a = { .model = &s->model, .views = &s->views,
		.clips = &s->clips, .output = &s->output, .top = (int)top,
		.json = json, .progress = vt_eval_show_videos };
	int status = model_read(&s->model, s->network, device);

	if (status == 0)
		status = view_overrides_apply(&views, &s->model, &s->views);
	if (status == 0)
		status = clips_open(&s->clips, &s->model, &s->views);
	if (status == 0 && output_open(&s->output, output) != 0)
		status = EXIT_FAILED;
	if (status != 0)
		return status;
	vt_eval_describe(s);
	work.started = clock_seconds();
	work.all = s->clips.videos;
	status = predict_all(&a);
	progress_end();
	if (status == EXIT_SKIPPED || (a.done == 0 && a.failed > 1))
		warning("%" PRIu64 " of %" PRIu64 " have no prediction", a.failed,
		    a.done + a.failed);
	return status;
}

/* ---- the command ---- */

static int
vt_eval_run(struct eval_session *s)
{
	int packed = s->packed.path != NULL, status;

	/* Until all is open, rank 0 prints each message once for all ranks that
	 * have it. */
	comm_hold(s->comm);
	status = vt_eval_check_start(s);
	if (status == 0 && packed)
		status = packed_prepare(&s->packed, &(struct packed_start){
			s->network, device, s->threads,
			(enum precision)precision, &views, output }, s->comm);
	comm_unhold(s->comm);
	if (status != 0)
		return status;
	progress_start(s->comm->rank == 0 && quiet == 0 ?
	    (enum progress_mode)progress : PROGRESS_NEVER);
	status = packed ? vt_eval_score_packed(s) : vt_eval_predict_videos(s);
	if (s->comm->rank == 0 && (status == 0 || status == EXIT_SKIPPED) &&
	    output_done(&s->output) != 0)
		status = EXIT_FAILED;
	return status;
}

/* Refuse the options ${name}, up to a NULL, which are for ${are_for}. */
static void
vt_eval_refuse_options(const char *const *name, const char *are_for)
{
	for (; *name != NULL; name++)
		if (options_given(*name))
			options_wrong("--%s is for %s", *name, are_for);
}

/* Refuse to do ${what} on several ranks, before they connect: no other rank
 * waits for one that exits later. */
static void
vt_eval_refuse_ranks(const char *what)
{
	int ranks;

	launch_rank(&ranks);
	if (ranks > 1)
		options_wrong("%s for one process, not for %d ranks (only a "
		    "packed dataset is split over ranks)", what, ranks);
}

/* Read the paths of the videos: ${n} operands, then the lists of -T.  Exit
 * after a message if a list cannot be read or there is no video. */
static void
vt_eval_read_videos(struct eval_session *s, int n, char **operand)
{
	for (int i = 0; i < n; i++)
		if (strcmp(operand[i], "-") == 0)
			options_wrong("-: not a video (wanted a file; --data=- reads a "
			    "stream of vt-extract, -T - a list)");
		else
			list_add(&s->list, operand[i]);
	for (size_t i = 0; i < lists.n; i++)
		if (list_read_paths(&s->list, lists.item[i], zero) != 0)
			exit(EXIT_FAILED);
	if (s->list.n == 0) {
		fail("no videos in the lists");
		exit(EXIT_FAILED);
	}
	s->video = xcalloc(s->list.n, sizeof(*s->video));
	for (size_t i = 0; i < s->list.n; i++)
		s->video[i] = s->list.row[i].path;
}

/* Choose the input: the videos of ${n} operands and of -T, or --data.  Refuse
 * options that do not apply to this input. */
static void
vt_eval_choose_input(struct eval_session *s, int n, char **operand)
{
	static const char *const of_packed[] = { "scores", "per-class",
		"matrix", "matrix-values", "matrix-order", "sheet",
		"sheet-samples", "sheet-of", NULL };
	static const char *const of_videos[] = { "top", "allow-truncated",
		"max-damage", "max-pixels", "max-frames", NULL };
	int videos = n > 0 || lists.n > 0;

	if (zero && lists.n == 0)
		options_wrong("-0 is for -T, which is missing");
	if (!videos && data == NULL)
		options_wrong("no input (wanted videos, -T or "
		    "--data=DIR)");
	if (videos && data != NULL)
		options_wrong("%s and --data=%s (wanted videos or a dataset)",
		    n > 0 ? text_quote(operand[0]) : "-T", data);
	if (videos && video_ready() != 0)
		exit(EXIT_USAGE);
	if (!videos && strcmp(data, "-") != 0 && (file_is_dir(data) ||
	    access(data, F_OK) != 0)) {
		vt_eval_refuse_options(of_videos, "videos and streams");
		s->packed = (struct packed){ .path = data, .model = &s->model,
			.files = files };
		return;
	}
	vt_eval_refuse_options(of_packed, "a packed dataset (--data=DIR)");
	vt_eval_refuse_ranks("videos and streams are");
	s->clips = (struct clips){ .how = how,
		.decoders = (int)views.loader_threads,
		.memory = (size_t)views.loader_memory,
		.precision = (enum precision)precision };
	if (videos) {
		vt_eval_read_videos(s, n, operand);
		s->clips.video = s->video;
		s->clips.videos = s->list.n;
	} else {
		s->clips.stream = data;
	}
}

/* --curve: write the training curves of runs from their logs.  This needs
 * neither a network nor a dataset. */
static int
vt_eval_draw_curves(int operands, char **operand)
{
	static const char *const of_scores[] = { "data", "files-from", "null",
		"output", "json", "scores", "per-class", "matrix", "sheet", NULL };
	struct curves c = { .target = curve_target / 100 };
	int status = 0;

	vt_eval_refuse_options(of_scores,
	    "predictions, not for --curve");
	if (operands > 0)
		options_wrong("%s: not for --curve, which takes no videos "
		    "(wanted runs as --checkpoint=RUN)", text_quote(operand[0]));
	vt_eval_refuse_ranks("--curve is");
	for (size_t i = 0; i < curves.n && status == 0; i++)
		if (curves_ready(curves.item[i]) != 0)
			status = EXIT_USAGE;
		else if (commit_possible(curves.item[i]) != 0)
			status = EXIT_FAILED;
	if (status == 0)
		status = curves_read(&c, &checkpoints);
	for (size_t i = 0; i < curves.n && status == 0; i++)
		if (curves_write(&c, curves.item[i]) != 0)
			status = EXIT_FAILED;
	curves_free(&c);
	if (stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}

/* Note which options of views were given, because a choice has no value for
 * "not given". */
static void
vt_eval_mark_given(void)
{
	views.given.sampler = options_given("sampler");
	views.given.stride = options_given("stride");
	views.given.crop_rule = options_given("crop-rule");
	views.given.ensemble = options_given("ensemble");
	views.given.full = options_given("full-short-side");
}

int
main(int argc, char **argv)
{
	struct eval_session s = { 0 };
	int status, operand;

	program_start(argv[0]);
	operand = options_parse(&command, argc, argv);
	program_quiet(quiet);
	program_verbose(verbose);
	if (checkpoints.n == 0)
		options_wrong("no network (wanted --checkpoint=RUN, the folder of "
		    "a run or a checkpoint)");
	if (curves.n > 0)
		return vt_eval_draw_curves(argc - operand, argv + operand);
	if (options_given("curve-target"))
		options_wrong("--curve-target is for training curves "
		    "(--curve=FILE)");
	s.network = checkpoints.item[checkpoints.n - 1];
	s.model.ema = use_ema;
	vt_eval_mark_given();
	files.sheet_samples = (int)sheet_samples;
	packed_files_check(&files);
	vt_eval_choose_input(&s, argc - operand, argv + operand);
	if (output != NULL && strcmp(output, "-") == 0)
		output = NULL;
	if (output != NULL && !force && file_size(output) >= 0) {
		fail("%s: exists (-f replaces it)", text_quote(output));
		exit(EXIT_FAILED);
	}
	if ((s.comm = comm_open(&argc, &argv, step_timeout)) == NULL)
		return EXIT_USAGE;
	program_rank(s.comm->rank, s.comm->size);
	s.threads = cores_threads(s.comm);	/* cores_threads() is collective: call it even
					 * if --threads is set */
	if (threads > 0)
		s.threads = (int)threads;
	s.clips.threads = s.threads;
	status = vt_eval_run(&s);
	clips_close(&s.clips);
	packed_close(&s.packed);
	model_close(&s.model);
	output_drop(&s.output);
	free(s.video);
	list_free(&s.list);
	free(lists.item);
	comm_close(s.comm);
	if (stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}
