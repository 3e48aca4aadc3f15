/*
 * Extract a video: decode it, select and resize frames, encode them, and decide
 * whether the result is stored.  A folder of frames goes to extract_folder.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/extractor.h"
#include "ingest/needed.h"
#include "media/png.h"
#include "shard/stream.h"

#define Q text_quote
#define TIME_SLACK 0.00051	/* seconds; see extract_is_wanted */
#define TENTH 10		/* an edit list that shows less than 1/TENTH of
				 * the frames is reported */

/* The state of one extraction. */
struct extract_work {
	const char *path;		/* path of the row */
	const struct list_row *row;
	const struct extract_options *o;
	struct extraction *x;
	struct extractor *e;		/* NULL: read only the headers */
	struct video *video;
	int fd;
	size_t times;
	int hashes;			/* 1: the next frame encoded enters the
					 * perceptual hash */
	struct needed needed;
};

/* ---- the file ---- */

/*
 * The demuxer has read most of the file already, and hashed it; video_hash
 * reads only the rest.
 */
static int
extract_hash_source(struct extract_work *w)
{
	struct sample *m = &w->x->sample;
	int bad = video_hash(w->video, &m->source_bytes, &m->source_hash);

	w->x->hashed = !bad;
	return bad;
}

static int
extract_open_video(struct extract_work *w)
{
	struct video_limits limits = { w->o->max_pixels };

	w->video = video_open(w->fd, w->path, &limits);
	return w->video != NULL ? 0 : -1;
}

/*
 * Open the file and fill in its description.  video_open reports why it refuses
 * a file.
 */
static int
extract_open_source(struct extract_work *w)
{
	struct stat s;
	struct sample *m = &w->x->sample;
	struct video_info *i = &w->x->info;

	/*
	 * O_NONBLOCK: do not wait for the writer of a FIFO, which is refused
	 * anyway.
	 */
	w->fd = file_open(w->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (w->fd < 0)
		return fail_errno("%s: cannot open", Q(w->path));
	if (fstat(w->fd, &s) == 0 && S_ISREG(s.st_mode))
		m->source_bytes = (uint64_t)s.st_size;
	if (extract_open_video(w) != 0)
		return -1;
	*i = *video_info(w->video);
	extract_size(w->o, i->width, i->height, &m->width, &m->height);
	/* JPEG_MAX_DIMENSION of libjpeg. */
	if (m->width > 65500 || m->height > 65500)
		return fail("%s: %dx%d frames (wanted at most 65500 each way)",
		    Q(w->path), m->width, m->height);
	return 0;
}

/* ---- frames ---- */

/* Encode the current frame at ${width} x ${height} pixels. */
static int
extract_encode(void *of, int width, int height)
{
	struct extract_work *w = of;
	struct buffer *b = &w->e->bytes;
	const struct planes *p;

	b->n = 0;
	if (w->o->format == EXTRACT_PNG) {
		const struct image *m = video_rgb(w->video, width, height);

		if (m != NULL && w->hashes)
			phash_rgb(&w->e->phash, m);
		w->hashes = 0;
		return m == NULL ? -1 : png_encode(m, b);
	}
	p = video_planes(w->video, width, height);
	if (p != NULL && w->hashes)
		phash_luma(&w->e->phash, p->plane[0], p->stride[0], p->w, p->h);
	w->hashes = 0;
	return p == NULL ? -1 : jpeg_encode_planes(w->e->jpeg,
	    (const uint8_t *const *)p->plane, p->stride, p->w, p->h, b);
}

/* Store the flow to the current frame, and the frame itself if wanted. */
static int
extract_store_flow(struct extract_work *w)
{
	const struct sample *x = &w->x->sample;
	const struct planes *p;

	if (w->o->rgb && extract_encode(w, x->width, x->height) != 0)
		return -1;
	p = video_planes(w->video, x->width, x->height);
	if (p != NULL && w->hashes)
		phash_luma(&w->e->phash, p->plane[0], p->stride[0], p->w, p->h);
	w->hashes = 0;
	return p == NULL ? -1 : flow_add(w->e->flow, p, w->o->rgb ?
	    &w->e->bytes : NULL);
}

/* Return 1 if the current frame is part of the perceptual hash. */
static int
extract_hashes(struct extract_work *w)
{
	return !w->o->no_phash && phash_wants(&w->e->phash);
}

/*
 * Emit the current frame, displayed at ${time}, ${copies} times.  Store it at
 * most once, and only if one of the copies is needed.
 */
static int
extract_store(struct extract_work *w, int64_t time, int64_t copies)
{
	int item = -1;

	if ((int64_t)w->needed.frames + copies > w->o->max_frames)
		return fail("%s: more than %lld frames (--max-frames)",
		    Q(w->path), (long long)w->o->max_frames);
	for (; copies > 0; copies--) {
		if (w->o->flow) {
			w->hashes = item < 0 && extract_hashes(w);
			if (extract_store_flow(w) != 0)
				return -1;
			item = 0;	/* further copies are not hashed */
		}
		if (!w->o->flow && item < 0 && needed_has(&w->needed)) {
			item = (int)spool_count(w->x->frame);
			w->hashes = extract_hashes(w);
			if (extract_add_frame(w->o, w->e, w->x, extract_encode,
			    w) != 0)
				return -1;
		}
		needed_add(&w->needed, item);
	}
	if (w->o->fps.num == 0) {
		w->e->time = array_reserve(w->e->time, w->times, &w->e->cap,
		    sizeof(*w->e->time));
		w->e->time[w->times++] = time;
	}
	return 0;
}

/*
 * Return 1 if frame ${k} of the video, displayed at ${time}, is in the part
 * that the row selects.
 */
static int
extract_is_wanted(const struct extract_work *w, int64_t k, int64_t time)
{
	const struct list_part *p = &w->row->part;
	struct fraction tick = video_info(w->video)->tick;
	double at = p->unit == LIST_FRAMES ? (double)k : (double)time *
	    tick.num / tick.den;

	/*
	 * Matroska and FLV round timestamps to milliseconds, and so do lists
	 * with three digits.  The tolerance is their error, half a millisecond,
	 * and a little for the rounding of doubles.
	 */
	return at >= p->begin - TIME_SLACK && (p->end == 0 ||
	    at < p->end - TIME_SLACK);
}

/*
 * Decode to the end of the video.  Times count from the first frame of the
 * part.  Return 0, or -1 after a message.
 */
static int
extract_decode(struct extract_work *w)
{
	struct fraction tick = video_info(w->video)->tick, fps = w->o->fps;
	struct video_frame f;
	int64_t k = 0, n = 0, origin = -1;
	int r;

	w->e->phash = (struct phash){ 0 };
	while ((r = video_next(w->video, &f)) == 1) {
		int64_t copies = 1;

		if (w->o->stopped != NULL && w->o->stopped())
			return fail("%s: stopped", Q(w->path));
		if (!extract_is_wanted(w, n++, f.time))
			continue;
		if (origin < 0)
			origin = f.time;
		if (fps.num > 0) {
			int64_t first = k;

			/*
			 * Stop one frame beyond the limit: extract_store
			 * reports it.
			 */
			while (k <= w->o->max_frames && fps_shows(k, fps,
			    f.time + video_account(w->video)->repeats - origin,
			    f.until - origin, tick))
				k++;
			copies = k - first;
		}
		if (extract_store(w, f.time - origin, copies) != 0)
			return -1;
	}
	return r;
}

int
extract_other_count(const char *path, int64_t frames, int64_t listed)
{
	return fail("%s: %lld frame%s (the list has %lld before the label; "
	    "--annotations-format=path-label ignores it, mmaction2 takes it "
	    "for a label)", Q(path), (long long)frames, frames == 1 ? "" : "s",
	    (long long)listed);
}

int
extract_lone_frame(const char *path)
{
	return fail("%s: one frame to store (wanted at least 2: flow is "
	    "between frames)", Q(path));
}

/*
 * Refuse a video without a frame to store, or whose number of frames is not the
 * one in the list.
 */
static int
extract_check_part(const struct extract_work *w)
{
	const struct video_account *a = video_account(w->video);
	const struct list_part *p = &w->row->part;

	/*
	 * A truncated or damaged video has its own message, so do not report
	 * its number of frames too.
	 */
	if (p->frames > 0 && a->frames != p->frames && !a->truncated &&
	    a->damage == 0)
		return extract_other_count(w->path, a->frames, p->frames);
	if (p->unit == LIST_FRAMES && (double)a->frames < p->end)
		return fail("%s: %lld frames (the list says %.0f to %.0f)",
		    Q(w->path), (long long)a->frames, p->begin, p->end - 1);
	if (w->needed.frames == 0 && p->unit == LIST_SECONDS)
		return fail("%s: no frame from %g s to %g s (the video has "
		    "%.2f s)", Q(w->path), p->begin, p->end, a->decoded);
	if (w->needed.frames == 0)
		return fail("%s: no frame to store", Q(w->path));
	if (w->needed.frames == 1 && w->o->pairs)
		return extract_lone_frame(w->path);
	return 0;
}

/* ---- the result ---- */

/*
 * Find the frame rate of the stored frames.  If they have no constant rate,
 * store the time of each frame in units of 100 microseconds.
 */
static int
extract_find_rate(struct extract_work *w)
{
	const struct video_info *i = video_info(w->video);
	struct sample *x = &w->x->sample;
	uint32_t *time;

	if (w->o->fps.num > 0) {
		x->fps = w->o->fps;
		x->flags |= SHARD_RESAMPLED;
		return 0;
	}
	if (fps_find(w->e->time, w->times, i->tick, i->rate, 2, &x->fps))
		return 0;
	x->flags |= SHARD_VARIABLE;
	x->time = time = xcalloc(w->times, sizeof(*time));
	for (size_t k = 0; k < w->times; k++) {
		int64_t t = fps_100us(w->e->time[k], i->tick);

		if (t > UINT32_MAX)
			return fail("%s: frame %zu is displayed at %.0f s "
			    "(wanted at most %.0f)", Q(w->path), k,
			    (double)t / 1e4, UINT32_MAX / 1e4);
		time[k] = (uint32_t)t;
	}
	return 0;
}

static void
extract_copy_account(struct extract_work *w)
{
	struct extraction *x = w->x;
	struct video_account *a = &x->account;
	struct sample *m = &x->sample;

	*a = *video_account(w->video);
	x->damage = a->damage + (w->o->strict_rate ? a->gaps : 0);
	if (a->truncated)
		m->flags |= SHARD_TRUNCATED;
	if (x->damage > 0)
		m->flags |= SHARD_DAMAGED;
	if (a->resized || m->width != x->info.width ||
	    m->height != x->info.height)
		m->flags |= SHARD_RESCALED;
}

/*
 * Decide whether the options allow the damage and the truncation.  Put the
 * reason into the message.
 */
static void
extract_decide(struct extract_work *w)
{
	struct extraction *x = w->x;
	const struct video_account *a = &x->account;
	/* vt-train has no such options. */
	const char *command = strcmp(program_name(), "vt-train") == 0 ?
	    "vt-extract " : "";

	x->kept = 1;
	if (x->damage > 0) {
		char gap[80];

		snprintf(gap, sizeof(gap), "no frame after %.3f s for %.3f s",
		    a->gap_time, a->gap_length);
		x->sample.status = "damaged";
		x->kept = x->damage <= w->o->max_damage;
		fail("%s: damaged in %lld place%s (%s)%s%s%s", Q(w->path),
		    (long long)x->damage, x->damage == 1 ? "" : "s",
		    a->damage > 0 ? a->message : gap, x->kept ? "" : "; ",
		    x->kept ? "" : command,
		    x->kept ? "" : "--max-damage allows some");
	}
	if (a->truncated) {
		char claim[64] = "";

		if (a->packets < a->listed)
			snprintf(claim, sizeof(claim), ", %lld of %lld packets",
			    (long long)a->packets, (long long)a->listed);
		else if (x->info.declared_seconds > 0)
			snprintf(claim, sizeof(claim), " of %.2f s",
			    x->info.declared_seconds);
		x->sample.status = "truncated";
		x->kept &= w->o->allow_truncated;
		fail("%s: truncated: %lld frames, %.2f s%s%s%s%s%s%s",
		    Q(w->path), (long long)a->frames, a->decoded, claim,
		    a->cut[0] != '\0' ? ", " : "", a->cut,
		    w->o->allow_truncated ? "" : "; ",
		    w->o->allow_truncated ? "" : command,
		    w->o->allow_truncated ? "" : "--allow-truncated keeps "
		    "them");
	}
	if (x->damage == 0 && !a->truncated && a->frames * TENTH < a->samples)
		fail("%s: an edit list shows %lld of %lld frames", Q(w->path),
		    (long long)a->frames, (long long)a->samples);
}

/*
 * Reserve memory for the expected number of frames, so that the arrays do not
 * grow while decoding.
 */
static void
extract_reserve(struct extract_work *w)
{
	const struct video_info *i = video_info(w->video);
	struct fraction fps = w->o->fps;
	double n = i->likely_frames;

	if (fps.num > 0 && i->rate[0].num > 0)
		n *= (double)fps.num / fps.den * i->rate[0].den /
		    i->rate[0].num;
	needed_begin(&w->needed, w->o, w->x, n, fps.num > 0 ? fps : i->rate[0]);
	n = fps.num > 0 ? n + 16 : (double)i->expected;
	if (n > (double)w->o->max_frames)
		n = (double)w->o->max_frames;
	needed_reserve(&w->needed, (size_t)n);
	w->x->frame = spool_new(w->o->memory, w->needed.all ? (size_t)n *
	    (size_t)w->x->streams.n : 0);
	if (w->o->flow)
		flow_begin(w->e->flow, w->x->frame);
	if ((size_t)n > w->e->cap) {
		w->e->cap = (size_t)n;
		w->e->time = xrealloc(w->e->time, w->e->cap,
		    sizeof(*w->e->time));
	}
}

/*
 * The headers declared another number of frames, so frames that are needed were
 * not stored.  Decode again with the true number.
 */
static int
extract_again(struct extract_work *w)
{
	struct extraction *x = w->x;

	detail("%s: %d frames, not the number in its headers: decoded twice",
	    Q(w->path), x->sample.frames);
	spool_free(x->frame);
	x->frame = spool_new(w->o->memory, 0);
	w->times = 0;
	video_free(w->video);
	w->video = NULL;
	if (extract_open_video(w) != 0 || extract_decode(w) != 0)
		return -1;
	if ((int)w->needed.frames != x->sample.frames + w->o->pairs ||
	    !needed_done(&w->needed, w->o, x))
		return fail("%s: changed while it was read", Q(w->path));
	return 0;
}

static void
extract(struct extract_work *w)
{
	struct extraction *x = w->x;
	int r;

	if (extract_open_source(w) != 0)
		return;
	extract_reserve(w);
	r = extract_decode(w);
	/* After a signal, do not read the rest of the file for its hash. */
	if (r != 0 && w->o->stopped != NULL && w->o->stopped())
		return;
	/* Report the hash and the damage of refused videos too. */
	if (extract_hash_source(w) != 0)
		return;
	extract_copy_account(w);
	if (r != 0)
		return;
	if (extract_check_part(w) != 0)
		return;
	if (w->o->flow && flow_end(w->e->flow) != 0)
		return;
	x->sample.frames = (int)w->needed.frames - w->o->pairs;
	if (extract_find_rate(w) != 0)
		return;
	x->sample.status = "ok";
	extract_decide(w);
	if (x->kept && !needed_done(&w->needed, w->o, x) &&
	    extract_again(w) != 0) {
		x->sample.status = "failed";
		x->kept = 0;
	}
	x->sample.phash = phash_end(&w->e->phash);
	if (w->o->flow) {		/* every pair is stored, in order */
		free(x->frame_item);
		x->frame_item = NULL;
	}
}

static void
extract_clean_up(struct extract_work *w)
{
	video_free(w->video);
	needed_free(&w->needed);
	if (w->fd >= 0)
		close(w->fd);
}

void
extract_video(const struct list_row *row, const struct extract_options *o,
    struct extractor *e, struct extraction *x)
{
	struct extract_work w = { .path = row->path, .row = row, .o = o, .x = x,
		.e = e, .fd = -1 };
	double start = clock_seconds(), cpu = clock_cpu();
	struct error *before;

	extraction_begin(row, o, x);
	/* Collect messages in ${x}: extract_all prints them in list order. */
	before = fail_into(&x->message);
	if (o->flow && e->flow == NULL)
		extractor_add_flow(e, o, 1);
	if (file_is_dir(row->path))
		extract_folder(row, o, e, x);
	else
		extract(&w);
	extract_clean_up(&w);
	fail_into(before);
	if (!x->kept) {
		x->lost = x->frame != NULL && spool_failed(x->frame);
		spool_free(x->frame);
		x->frame = NULL;
	}
	x->spent = clock_seconds() - start;
	x->cpu = clock_cpu() - cpu;
}

static void
extract_probe_video(struct extract_work *w)
{
	struct extraction *x = w->x;

	if (extract_open_source(w) != 0)
		return;
	x->sample.status = "ok";
	x->sample.fps = w->o->fps.num > 0 ? w->o->fps : x->info.rate[0];
	x->kept = 1;
}

void
extract_probe(const struct list_row *row, const struct extract_options *o,
    struct extraction *x)
{
	struct extract_work w = { .path = row->path, .row = row, .o = o, .x = x,
		.fd = -1 };
	struct error *before;

	extraction_begin(row, o, x);
	before = fail_into(&x->message);
	if (file_is_dir(row->path))
		extract_folder(row, o, NULL, x);
	else
		extract_probe_video(&w);
	extract_clean_up(&w);
	fail_into(before);
}
