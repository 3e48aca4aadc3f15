/*
 * Benchmark videos: decoding alone, and the whole extraction of vt-extract.
 * Each thread decodes every file, one after the other, as the threads of
 * vt-extract do.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/text.h"
#include "bench/cases.h"
#include "ingest/extract.h"
#include "media/video.h"
#include "shard/stream.h"

#define PIXELS_MAX ((int64_t)64 << 20)

/* The result of an extraction: decoded frames, and their stored size. */
struct bench_decode_made { int64_t frames; int width, height; };

/* One file, and the results of the last run by thread. */
struct bench_decode_job {
	const char *path;
	struct pool *pool;
	struct extract_options how;
	struct extractor **extractor;	/* [threads] */
	struct video_account *account;	/* [threads] */
	struct video_info info;		/* as read by thread 0 */
	struct bench_decode_made *made;	/* [threads] */
	int *bad;			/* [threads] */
	int extracting;
	struct figure seconds;
};

static int
bench_decode_video(struct bench_decode_job *j, int thread)
{
	struct video_limits limits = { PIXELS_MAX };
	struct video_frame frame;
	struct video *v;
	int fd = open(j->path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return fail_errno("%s: cannot open", text_quote(j->path));
	if ((v = video_open(fd, j->path, &limits)) == NULL) {
		close(fd);
		return -1;
	}
	while ((r = video_next(v, &frame)) == 1)
		;
	j->account[thread] = *video_account(v);
	if (thread == 0)
		j->info = *video_info(v);
	video_free(v);
	close(fd);
	return r;
}

static int
bench_decode_extract(struct bench_decode_job *j, int thread)
{
	struct extraction x;
	int kept;

	extract_video(&(struct list_row){ .path = (char *)j->path }, &j->how,
	    j->extractor[thread], &x);
	if (!x.kept)
		fail("%s", x.message.text);
	kept = x.kept;
	j->made[thread] = (struct bench_decode_made){ x.account.frames,
	    x.sample.width, x.sample.height };
	extraction_free(&x);
	return kept ? 0 : -1;
}

static void
bench_decode_part(int i, int thread, void *arg)
{
	struct bench_decode_job *j = arg;

	/* Index ${i} selects the data; any thread of the pool may run it. */
	(void)thread;
	j->bad[i] = j->extracting ? bench_decode_extract(j, i) :
	    bench_decode_video(j, i);
}

static int
bench_decode_run(void *arg, int counts)
{
	struct bench_decode_job *j = arg;
	int threads = pool_threads(j->pool);
	double start = clock_seconds();

	pool_run(j->pool, threads, bench_decode_part, j);
	if (counts)
		figure_add(&j->seconds, clock_seconds() - start);
	for (int i = 0; i < threads; i++)
		if (j->bad[i])
			return EXIT_FAILED;
	return 0;
}

/*
 * Check that the number of packets is the declared one, and that all threads
 * decoded the same number of frames.
 */
static void
bench_decode_check(struct bench *b, struct bench_decode_job *j)
{
	struct video_account *a = &j->account[0];

	if (a->truncated || a->damage > 0 ||
	    (a->listed >= 0 && a->packets != a->listed))
		bench_wrong(b, "%s: %" PRId64 " of %" PRId64 " packets, "
		    "damaged in %" PRId64 " places: %s", text_quote(j->path),
		    a->packets, a->listed, a->damage,
		    a->truncated ? "the file is truncated" : a->message);
	for (int i = 0; i < pool_threads(j->pool); i++)
		if (j->account[i].frames != a->frames ||
		    j->made[i].frames != a->frames)
			bench_wrong(b, "%s: thread %d decoded "
			    "%" PRId64 " frames, and %" PRId64 " to extract "
			    "them (thread 0 %" PRId64 ")", text_quote(j->path),
			    i, j->account[i].frames, j->made[i].frames,
			    a->frames);
}

static int
bench_decode_measure(struct bench *b, struct bench_decode_job *j)
{
	const struct video_info *i = &j->info;
	double frames;
	char note[160];
	int status = bench_repeat(b, bench_decode_run, j);

	frames = (double)j->account[0].frames * pool_threads(j->pool);
	snprintf(note, sizeof(note), "%s %s %dx%d, %" PRId64 " frames",
	    i->codec, i->pixels, i->width, i->height, j->account[0].frames);
	if (status == 0)
		bench_rate(b, &j->seconds, frames, "frames/s", note,
		    "decode/video/%s", j->path);
	figure_free(&j->seconds);
	/* Measure again, now with extraction. */
	j->extracting = 1;
	if (status == 0)
		status = bench_repeat(b, bench_decode_run, j);
	snprintf(note, sizeof(note), "to JPEG of %dx%d, quality %d",
	    j->made[0].width, j->made[0].height, j->how.quality);
	if (status == 0)
		bench_rate(b, &j->seconds, frames, "frames/s", note,
		    "decode/extract/%s", j->path);
	figure_free(&j->seconds);
	j->extracting = 0;
	if (status == 0 && b->check)
		bench_decode_check(b, j);
	return status;
}

static int
bench_decode_videos(struct bench *b, const struct bench_inputs *o)
{
	size_t n = (size_t)b->threads;
	struct spool_budget memory;
	struct bench_decode_job j = { .pool = pool_new(b->threads),
		.how = { .short_side = (int)o->short_side, .quality = 90,
		    .max_frames = FRAME_MAX, .max_pixels = PIXELS_MAX,
		    .format = EXTRACT_JPEG, .memory = &memory } };
	int status = 0;

	spool_budget_open(&memory, (size_t)256 << 20);
	j.extractor = xcalloc(n, sizeof(*j.extractor));
	j.account = xcalloc(n, sizeof(*j.account));
	j.made = xcalloc(n, sizeof(*j.made));
	j.bad = xcalloc(n, sizeof(*j.bad));
	for (size_t i = 0; i < n; i++)
		j.extractor[i] = extractor_new(j.how.quality);
	for (int i = 0; i < o->files && status == 0; i++) {
		j.path = o->file[i];
		status = bench_decode_measure(b, &j);
	}
	for (size_t i = 0; i < n; i++)
		extractor_free(j.extractor[i]);
	free(j.extractor);
	spool_budget_close(&memory);
	free(j.account);
	free(j.made);
	free(j.bad);
	pool_free(j.pool);
	return status;
}

static int
bench_decode(struct bench *b, const struct bench_inputs *in)
{
	int status = 0;

	if (in->files > 0)
		status = video_ready() == 0 ? bench_decode_videos(b, in) :
		    EXIT_FAILED;
	return status == 0 && in->data != NULL ? bench_pictures(b, in) : status;
}

static void
bench_decode_require(const struct bench_inputs *in)
{
	if (in->files == 0 && in->data_path == NULL)
		options_wrong("nothing to decode (wanted videos or "
		    "--data=DIR)");
}

const struct bench_case bench_case_decode = { .run = bench_decode,
	.check = bench_decode_require, .shapes = "1x1x224 1x1x158 1x1x112",
	.files = 1 };
