/*
 * vt-eval: predict the classes of videos with a checkpoint, score a packed
 * dataset, combine scores, or draw training curves.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "comm/cores.h"
#include "comm/watch.h"
#include "eval/predict.h"
#include "eval/curves.h"
#include "eval/packed.h"
#include "eval/rescore.h"
#include "eval/run_data.h"
#include "ingest/list.h"
#include "media/video.h"
#include "shard/stream.h"
#include "train/run/identity.h"
#include "weights/known.h"

#include "options/eval.h"

static struct eval_options *o;

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
	char *data;			/* of the run to score; NULL: not
					 * looked up */
	struct list list;		/* videos from operands and -T */
	const char **video;		/* [list.n] paths of these videos */
	struct output output;
};

/* ---- setting up ---- */

static void
vt_eval_describe(const struct eval_session *s)
{
	const struct state *state = &s->model.state;

	if (s->model.weights.match == NULL)
		detail("%s: %s of step %" PRIu64 ", epoch %.2f",
		    text_quote(s->network), state->model, state->step,
		    state->epoch);
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
	    "frames %d, crop size %d", text_quote(p->path),
	    (uint64_t)dataset_samples(p->data), (int)s->model.class.n,
	    p->views.clips, p->views.crops, p->views.t, p->views.side);
	watch_phase(s->comm->watch, "scoring", 0);
	work.started = clock_seconds();
	work.all = (uint64_t)dataset_samples(p->data) *
	    (uint64_t)(p->views.clips * p->views.crops);
	status = evaluator_run(s->model.net, p->data, &p->views, s->comm,
	    vt_eval_show_progress, &p->e);
	progress_end();
	watch_phase(s->comm->watch, "writing results", 0);
	if (status != 0 || s->comm->rank > 0)
		return status;
	if (output_open(&s->output, o->output) != 0)
		return EXIT_FAILED;
	return packed_write(p, o->json, &s->output);
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
		.clips = &s->clips, .output = &s->output, .top = (int)o->top,
		.json = o->json, .progress = vt_eval_show_videos };
	int status = model_read(&s->model, s->network, o->device);

	if (status == 0)
		status = view_overrides_apply(&o->views, &s->model, &s->views);
	if (status == 0)
		status = clips_open(&s->clips, &s->model, &s->views);
	if (status == 0 && output_open(&s->output, o->output) != 0)
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
	status = identity_check_start(s->comm);
	if (status == 0 && s->packed.run != NULL)
		note("the data that validate: %s", text_quote(s->packed.path));
	if (status == 0 && packed)
		status = packed_prepare(&s->packed, &(struct packed_start){
			s->network, o->device, s->threads,
			(enum precision)o->precision, &o->views, o->output }, s->comm);
	comm_unhold(s->comm);
	if (status != 0)
		return status;
	progress_start(s->comm->rank == 0 && o->quiet == 0 ?
	    (enum progress_mode)o->progress : PROGRESS_NEVER);
	status = packed ? vt_eval_score_packed(s) : vt_eval_predict_videos(s);
	if (s->comm->rank == 0 && (status == 0 || status == EXIT_SKIPPED) &&
	    output_done(&s->output) != 0)
		status = EXIT_FAILED;
	return status;
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
	for (size_t i = 0; i < o->lists.n; i++)
		if (list_read_paths(&s->list, o->lists.item[i], o->zero) != 0)
			exit(EXIT_FAILED);
	if (s->list.n == 0) {
		fail("%s: names no video (wanted one on each line)",
		    text_quote(o->lists.item[o->lists.n - 1]));
		exit(EXIT_FAILED);
	}
	s->video = xcalloc(s->list.n, sizeof(*s->video));
	for (size_t i = 0; i < s->list.n; i++) {
		s->video[i] = s->list.row[i].path;
		options_reads(s->video[i], "a list of videos");
	}
}

/* Choose the input: the videos of ${n} operands and of -T, or --data. */
static void
vt_eval_choose_input(struct eval_session *s, int n, char **operand)
{
	int videos = n > 0 || o->lists.n > 0;

	if (o->zero && o->lists.n == 0)
		options_wrong("-0 is for -T, which is missing");
	if (!videos && o->data == NULL && file_is_dir(s->network)) {
		if ((s->data = run_data_find(s->network)) == NULL)
			exit(EXIT_USAGE);
		s->packed = (struct packed){ .path = s->data,
			.run = s->network, .model = &s->model,
			.files = o->files };
		return;
	}
	if (!videos && o->data == NULL)
		options_wrong("no input (wanted videos, -T, --data=DIR, "
		    "--rescore=FILE or --curve=FILE)");
	if (videos && o->data != NULL)
		options_wrong("%s and --data=%s (wanted videos or a dataset)",
		    n > 0 ? text_quote(operand[0]) : "-T", o->data);
	if (videos && video_ready() != 0)
		exit(EXIT_USAGE);
	if (!videos && eval_options_is_dataset()) {
		s->packed = (struct packed){ .path = o->data, .model = &s->model,
			.files = o->files };
		return;
	}
	eval_options_refuse_ranks("videos and streams are");
	s->clips = (struct clips){ .how = o->how,
		.decoders = (int)o->views.loader_threads,
		.memory = (size_t)o->views.loader_memory,
		.precision = (enum precision)o->precision };
	if (videos) {
		vt_eval_read_videos(s, n, operand);
		s->clips.video = s->video;
		s->clips.videos = s->list.n;
	} else {
		s->clips.stream = o->data;
	}
}

/* --curve: write the training curves of runs from their logs.  This needs
 * neither a network nor a dataset. */
static int
vt_eval_draw_curves(void)
{
	int status = curves_run(&o->curves, &o->checkpoints, o->curve_over,
	    o->curve_target / 100);

	if (stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}

/* --known: list the published weights. */
static int
vt_eval_list_known(void)
{
	struct buffer b = { 0 };
	int status = known_list(&b);

	if (status == 0)
		fputs(b.data, stdout);
	buffer_free(&b);
	return stdout_done() != 0 && status == 0 ? EXIT_FAILED : status;
}

/* --rescore: make the outputs of an evaluation from score files. */
static int
vt_eval_rescore(void)
{
	int status;

	o->rescore.data = o->data;
	o->rescore.outputs = &o->files;
	o->rescore.output = o->output;
	o->rescore.json = o->json;
	status = rescore_run(&o->rescore);
	if (status == 0 && stdout_done() != 0)
		status = EXIT_FAILED;
	return status;
}

int
main(int argc, char **argv)
{
	struct eval_session s = { 0 };
	int status, operand;

	program_start(argv[0]);
	o = eval_options_read(argc, argv, &operand);
	if (o->known)
		return vt_eval_list_known();
	if (o->rescore.file.n > 0)
		return vt_eval_rescore();
	if (o->curves.n > 0)
		return vt_eval_draw_curves();
	s.network = o->checkpoints.item[o->checkpoints.n - 1];
	s.model.ema = o->use_ema;
	s.model.network = o->network;
	s.model.classes = o->classes;
	vt_eval_choose_input(&s, argc - operand, argv + operand);
	if ((s.comm = comm_open(&argc, &argv, o->step_timeout)) == NULL)
		return EXIT_USAGE;
	program_rank(s.comm->rank, s.comm->size);
	s.threads = cores_threads(s.comm);	/* collective: call it even if
						 * --threads is set */
	if (o->threads > 0)
		s.threads = (int)o->threads;
	s.clips.threads = s.threads;
	status = vt_eval_run(&s);
	clips_close(&s.clips);
	packed_close(&s.packed);
	model_close(&s.model);
	output_drop(&s.output);
	free(s.video);
	free(s.data);
	list_free(&s.list);
	free(o->lists.item);
	comm_close(s.comm);
	if (stdout_done() != 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}
