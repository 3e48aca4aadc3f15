/* The options of vt-eval: the table, its defaults, and checks. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "draw/plot.h"
#include "media/video.h"

#include "clips.h"
#include "common.h"
#include "eval.h"
#include "packed.h"

static struct eval_options o = {
	.device = "cpu", .top = 5, .sheet_samples = 24, .step_timeout = 600,
	.how = { .max_pixels = 64 << 20, .max_frames = FRAME_MAX },
	.views = { .microbatch = 8, .loader_threads = 2,
		.loader_memory = 512 << 20 }
};

/* The modes of options, in the order of EVAL_MODES. */
#define EVAL_MODES "videos and streams|a packed dataset|one score file|" \
	"several score files|--fusion-fit|--curve|--known"
#define EVAL_VIDEOS	OPTION_MODE(0)
#define EVAL_DATASET	OPTION_MODE(1)
#define EVAL_FILE	OPTION_MODE(2)
#define EVAL_FUSION	OPTION_MODE(3)
#define EVAL_FIT	OPTION_MODE(4)
#define EVAL_CURVE	OPTION_MODE(5)
#define EVAL_KNOWN	OPTION_MODE(6)
#define EVAL_NETWORK	(EVAL_VIDEOS | EVAL_DATASET)
#define EVAL_FILES	(EVAL_FILE | EVAL_FUSION)
#define EVAL_TABLES	(EVAL_DATASET | EVAL_FILES)

static const struct option_row rows[] = {
	OPTION_HEADING("What to evaluate"),
	{ 'k', "checkpoint", OPTION_LIST, &o.checkpoints, "FILE|RUN",
	    "use a checkpoint, a run of vt-train, or known:NAME",
	    "FILE", 0, 0, OPTION_COMMON | OPTION_INPUT |
	    EVAL_NETWORK | EVAL_CURVE | FREE_FACT },
	{ 'm', "model", OPTION_TEXT, &o.network, "NET",
	    "name the network of weights of another program",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | EVAL_NETWORK },
	{ 0, "classes", OPTION_TEXT, &o.classes, "FILE",
	    "name their classes: a list, or k400, ssv2, ...",
	    NULL, 0, 0, OPTION_INPUT | EVAL_NETWORK },
	{ 'i', "data", OPTION_TEXT, &o.data, "DIR",
	    "score a packed dataset, or a stream: FILE or -",
	    "FILE|-", 0, 0, OPTION_COMMON | OPTION_INPUT |
	    EVAL_NETWORK | EVAL_FILES | FREE_FACT },
	LIST_OPTIONS(&o.lists, &o.zero, EVAL_VIDEOS),
	{ 0, "use-ema", OPTION_FLAG, &o.use_ema, NULL,
	    "use the moving average of vt-train --ema",
	    NULL, 0, 0, EVAL_NETWORK },
	{ 0, "rescore", OPTION_LIST, &o.rescore.file, "FILE",
	    "read scores from FILE, which --scores wrote",
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT |
	    EVAL_FILES | EVAL_FIT },
	{ 0, "known", OPTION_FLAG, &o.known, NULL,
	    "list the published weights that known:NAME names",
	    NULL, 0, 0, OPTION_COMMON | EVAL_KNOWN },
	OPTION_HEADING("Views of a sample"),
	{ 0, "views", OPTION_CHOICE, &o.views.protocol, "PROTOCOL",
	    "use the views of a paper, or of validation (%)",
	    VIEWS_NAMES, 0, 0, OPTION_COMMON | EVAL_NETWORK },
	{ 0, "clips", OPTION_INT, &o.views.clips, "N",
	    "score N clips of each video (by --views)",
	    NULL, 0, 100, OPTION_COMMON | EVAL_NETWORK },
	{ 0, "crops", OPTION_INT, &o.views.crops, "N",
	    "score 1, 3, 5 or 10 crops of each clip (by --views)",
	    NULL, 0, 10, OPTION_COMMON | EVAL_NETWORK },
	{ 0, "full-short-side", OPTION_FLAG, &o.views.full, NULL,
	    "crop the whole short side, not 224/256 of it",
	    NULL, 0, 0, EVAL_NETWORK },
	{ 0, "sampler", OPTION_CHOICE, &o.views.sampler, "RULE",
	    "choose frames by RULE (by --views)",
	    VIEWS_SAMPLERS, 0, 0, EVAL_NETWORK },
	{ 0, "stride", OPTION_INT, &o.views.stride, "N",
	    "set the temporal stride (last stage's)",
	    NULL, 0, 65536, EVAL_NETWORK },
	{ 0, "crop-rule", OPTION_CHOICE, &o.views.crop_rule, "RULE",
	    "crop and resize as tsm or pyslowfast (by --views)",
	    "tsm|pyslowfast", 0, 0, EVAL_NETWORK },
	OPTION_LEVEL(&o.views.level, EVAL_NETWORK),
	{ 0, "ensemble", OPTION_CHOICE, &o.views.ensemble, "HOW",
	    "combine scores, probabilities or max (by --views)",
	    "scores|probabilities|max", 0, 0, EVAL_NETWORK },
	{ 0, "frames", OPTION_INT, &o.views.frames, "T",
	    "set the frames of a clip (last stage's)",
	    NULL, 0, 1024, EVAL_NETWORK },
	{ 0, "crop", OPTION_INT, &o.views.side, "PIXELS",
	    "set the crop size (last stage's)",
	    NULL, 0, 4096, EVAL_NETWORK },
	OPTION_HEADING("Output"),
	{ 'o', "output", OPTION_TEXT, &o.output, "FILE",
	    "write the results to FILE, not to standard output",
	    "#key\t|#video\t|{\"begin\":|{\"frames\":|{\"key\":|{\"message\":", 0, 0,
	    OPTION_COMMON | OPTION_OUTPUT | OPTION_NEW |
	    EVAL_NETWORK | EVAL_FILES | EVAL_FIT | FREE_HOST },
	{ 'f', "force", OPTION_FLAG, &o.force, NULL,
	    "replace existing files", NULL, 0, 0, 0 },
	{ 0, "top", OPTION_INT, &o.top, "N",
	    "print at most N likely classes of each video (%)",
	    NULL, 1, 1000000, OPTION_COMMON | EVAL_VIDEOS },
	OPTION_JSON(&o.json, EVAL_NETWORK | EVAL_FILES),
	OPTION_HEADING("Output of a packed dataset"),
	{ 0, "scores", OPTION_TEXT, &o.files.scores, "FILE",
	    "write every class's score, averaged over views",
	    "#key\tlabel|# {", 0, 0, OPTION_COMMON | OPTION_OUTPUT |
	    EVAL_TABLES },
	{ 0, "per-class", OPTION_TEXT, &o.files.per_class, "FILE",
	    "write a table of classes: top-1, top-5, confusion",
	    "#class\tname\tsamples\t", 0, 0, OPTION_COMMON | OPTION_OUTPUT |
	    EVAL_TABLES },
	{ 0, "matrix", OPTION_LIST, &o.files.matrix, "FILE",
	    "write the confusion matrix: .png, .svg, .pdf or .tsv",
	    PLOT_BEGINS "|#label\tsamples", 0, 0,
	    OPTION_COMMON | OPTION_OUTPUT | EVAL_TABLES },
	{ 0, "matrix-values", OPTION_CHOICE, &o.files.matrix_options.counts, "WHAT",
	    "show percent of the label, or count (%)",
	    "percent|count", 0, 0, EVAL_TABLES },
	{ 0, "matrix-order", OPTION_CHOICE, &o.files.matrix_options.by_number, "HOW",
	    "order classes grouped, or by number (%)",
	    "grouped|number", 0, 0, EVAL_TABLES },
	{ 0, "sheet", OPTION_TEXT, &o.files.sheet, "FILE",
	    "draw a contact sheet of samples: .png, .svg or .pdf",
	    PLOT_BEGINS, 0, 0, OPTION_OUTPUT | EVAL_TABLES },
	{ 0, "sheet-samples", OPTION_INT, &o.sheet_samples, "N",
	    "draw N samples on the contact sheet (%)",
	    NULL, 1, 400, EVAL_TABLES },
	{ 0, "sheet-of", OPTION_CHOICE, &o.files.sheet_wrong, "WHICH",
	    "draw all, or wrong ones, most confident first (%)",
	    "all|wrong", 0, 0, EVAL_TABLES },
	OPTION_HEADING("Fusion of score files"),
	{ 0, "fusion", OPTION_CHOICE, &o.rescore.fusion, "HOW",
	    "combine by probabilities or logits (%)",
	    FUSION_NAMES, 0, 0, EVAL_FUSION | EVAL_FIT },
	{ 0, "fusion-weights", OPTION_TEXT, &o.rescore.weights, "W:W...",
	    "set the weight of each score file (equal)",
	    NULL, 0, 0, EVAL_FUSION },
	{ 0, "fusion-fit", OPTION_FLAG, &o.rescore.fit, NULL,
	    "print the best weights for these score files",
	    NULL, 0, 0, EVAL_FUSION | EVAL_FIT },
	OPTION_HEADING("Training curves"),
	{ 0, "curve", OPTION_LIST, &o.curves, "FILE",
	    "write training curves: .png, .svg, .pdf or .tsv",
	    PLOT_BEGINS "|#curve\t", 0, 0,
	    OPTION_COMMON | OPTION_OUTPUT | EVAL_CURVE },
	{ 0, "curve-over", OPTION_CHOICE, &o.curve_over, "WHAT",
	    "draw over time, or accuracy over the batch (%)",
	    CURVES_OVER, 0, 0, EVAL_CURVE },
	{ 0, "curve-target", OPTION_REAL, &o.curve_target, "PERCENT",
	    "mark when runs reach an accuracy (none)",
	    NULL, 0, 100, EVAL_CURVE },
	OPTION_HEADING("Errors in a video"),
	{ 0, "allow-truncated", OPTION_FLAG, &o.how.allow_truncated, NULL,
	    "use the complete frames of a truncated video",
	    NULL, 0, 0, EVAL_VIDEOS },
	{ 0, "max-damage", OPTION_INT, &o.how.max_damage, "N",
	    "use videos damaged in up to N places (%)",
	    NULL, 0, 0, EVAL_VIDEOS },
	{ 0, "max-pixels", OPTION_SIZE, &o.how.max_pixels, "N",
	    "refuse larger frames (%)", NULL, 1, 1 << 30, EVAL_VIDEOS },
	{ 0, "max-frames", OPTION_INT, &o.how.max_frames, "N",
	    "refuse videos with more frames (%)",
	    NULL, 1, FRAME_MAX, EVAL_VIDEOS },
	OPTION_HEADING("Machine"),
	OPTION_DEVICE(&o.device, EVAL_NETWORK),
	OPTION_PRECISION(&o.precision, EVAL_NETWORK),
	OPTION_RANK_THREADS(&o.threads),
	{ 0, "microbatch", OPTION_INT, &o.views.microbatch, "N",
	    "compute N views together (%)",
	    NULL, 1, 4096, EVAL_NETWORK },
	{ 0, "loader-threads", OPTION_INT, &o.views.loader_threads, "N",
	    "load clips with N threads in a rank (%)",
	    NULL, 1, 1024, FREE_HOST },
	{ 0, "step-timeout", OPTION_TIME, &o.step_timeout, "TIME",
	    "limit waits for clips and ranks; 0: off (%)",
	    NULL, 0, 1e9, 0 },
	OPTION_LOADER_MEMORY(&o.views.loader_memory),
	OPTION_HEADING("Common"),
	OPTION_RECIPE(&o.recipe),
	OPTION_CONFIG(&o.config),
	OPTION_PROGRESS(&o.progress),
	OPTION_QUIET(&o.quiet),
	OPTION_VERBOSE(&o.verbose),
	OPTION_END
};

static void
eval_options_versions(FILE *f)
{
	common_versions(f);
	plot_versions(f);
	video_versions(f);
}

int
eval_options_is_dataset(void)
{
	return o.data != NULL && strcmp(o.data, "-") != 0 &&
	    (file_is_dir(o.data) || access(o.data, F_OK) != 0);
}

/* Return the index in EVAL_MODES. */
static int
eval_options_mode(int operands, char *const *operand)
{
	size_t files = o.rescore.file.n;

	(void)operand;
	if (o.known)
		return 6;
	if (files > 0 && files + (size_t)operands < 2)
		return 2;
	if (files > 0)
		return o.rescore.fit ? 4 : 3;
	if (o.curves.n > 0)
		return 5;
	if (operands > 0 || o.lists.n > 0)
		return 0;
	if (o.data == NULL)
		return o.checkpoints.n > 0 ? 1 : -1;
	return eval_options_is_dataset();
}

static const struct command command = {
	.usage = "[OPTION]... -k RUN [VIDEO...|-T FILE|--data=DIR|--curve=FILE]\n"
	    "       vt-eval [OPTION]... --rescore=FILE [FILE]...",
	.summary = "Predict the classes of videos, or score a packed dataset.",
	.example = "vt-eval --checkpoint=run clip.mp4",
	.rows = rows,
	.versions = eval_options_versions,
	.operands = "FILE",
	.modes = EVAL_MODES,
	.mode = eval_options_mode
};

/* ---- checks ---- */

void
eval_options_refuse_ranks(const char *what)
{
	int ranks;

	launch_rank(&ranks);
	if (ranks > 1)
		options_wrong("%s for one process, not for %d ranks (only a "
		    "packed dataset is split over ranks)", what, ranks);
}

static void
eval_options_check_rescore(void)
{
	if (o.rescore.fit && o.rescore.file.n > FUSION_FIT_FILES)
		options_wrong("--fusion-fit: %zu score files (wanted at most %d)",
		    o.rescore.file.n, FUSION_FIT_FILES);
	if ((o.data != NULL) != (o.files.sheet != NULL))
		options_wrong(o.data != NULL ? "--data with --rescore is for "
		    "--sheet" : "--sheet needs the frames of the samples "
		    "(--data=DIR)");
	eval_options_refuse_ranks("--rescore is");
}

static void
eval_options_check_curves(int operands, char **operand)
{
	if (operands > 0)
		options_wrong("%s: not for --curve, which takes no videos "
		    "(wanted runs as --checkpoint=RUN)", text_quote(operand[0]));
	if (o.curve_over == CURVES_OVER_BATCH && options_given("curve-target"))
		options_wrong("--curve-target is for --curve-over=time");
	eval_options_refuse_ranks("--curve is");
}

/* Note which options of views were given, because a choice has no value for
 * "not given". */
static void
eval_options_mark_given(void)
{
	o.views.given.sampler = options_given("sampler");
	o.views.given.stride = options_given("stride");
	o.views.given.crop_rule = options_given("crop-rule");
	o.views.given.ensemble = options_given("ensemble");
	o.views.given.level = options_given("level");
	o.views.given.full = options_given("full-short-side");
}

/* Add the operands of --rescore to its score files, and check them. */
static void
eval_options_read_rescore(int operands, char **operand)
{
	struct option_list *l = &o.rescore.file;

	for (int i = 0; i < operands; i++) {
		l->item = array_reserve(l->item, l->n, &l->cap, sizeof(*l->item));
		l->item[l->n++] = operand[i];
	}
	eval_options_check_rescore();
}

struct eval_options *
eval_options_read(int argc, char **argv, int *operand)
{
	int n;

	*operand = options_parse(&command, argc, argv);
	n = argc - *operand;
	program_quiet(o.quiet);
	program_verbose(o.verbose);
	o.files.sheet_samples = (int)o.sheet_samples;
	if (o.output != NULL && strcmp(o.output, "-") == 0)
		o.output = NULL;
	packed_files_check(&o.files);
	if (o.known && n > 0)
		options_wrong("%s: not for --known, which takes no operand",
		    text_quote(argv[*operand]));
	if (o.known)
		return &o;
	if (o.rescore.file.n > 0) {
		eval_options_read_rescore(n, argv + *operand);
		return &o;
	}
	if (o.checkpoints.n == 0)
		options_wrong("no network (wanted --checkpoint=RUN, the folder of "
		    "a run or a checkpoint)");
	if (o.curves.n > 0) {
		eval_options_check_curves(n, argv + *operand);
		return &o;
	}
	eval_options_mark_given();
	return &o;
}
