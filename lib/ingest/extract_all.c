/* Decode videos in parallel and write their samples in list order. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/ordered.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/text.h"
#include "ingest/extract_all.h"
#include "ingest/label_intervals.h"

#define Q text_quote
#define WINDOW 8		/* videos that may be decoded ahead of the
				 * writer, per thread */

char *
extract_labels(const struct sample *s)
{
	struct buffer b = { 0 };

	if (s->labels == NULL)
		return xprintf("%d", s->label);
	for (int k = 0; k < s->nlabels; k++)
		buffer_printf(&b, "%s%d", k > 0 ? "," : "", s->labels[k].class);
	if (s->nlabels == 0)
		buffer_text(&b, "none");
	return b.data;
}

/* ---- results, in list order ---- */

/* The state of one run. */
struct extract_all_state {
	struct extract_run *r;
	struct extract_options how;		/* r->how, with ${stopped}
						 * set */
	struct extraction *result;		/* [window]: video i at i %
						 * window */
	size_t window;
	struct extractor **extractor;		/* [threads] */
	struct extract_pool *pool;		/* NULL: no budget */
	double start;
};

/* Set when a run ends; the decoding threads poll it and give up. */
static atomic_int stopping;

static int
extract_all_is_stopping(void)
{
	return stopping || stop_signal() != 0;
}

static int
extract_all_report_video(const struct extract_run *r, int i,
    const struct extraction *x)
{
	struct buffer b = { 0 };
	int result;

	if (r->report == NULL)
		return 0;
	report_video(&b, r->list->row[i].path, x);
	result = commit_write(r->report, b.data, b.n);
	buffer_free(&b);
	return result;
}

static int
extract_all_write_sample(struct extract_run *r, int i, struct extraction *x)
{
	struct sample s = x->sample;
	struct label_interval *labels = NULL;
	int bad;

	if (s.labels != NULL) {
		labels = label_intervals_place(&r->list->row[i], &s);
		if (labels == NULL)
			return -1;
		s.labels = labels;
	}
	bad = extraction_write(x, &s, r->stream, &r->sum.stored_bytes);
	if (!bad)
		tally_add(&r->tally, &s);
	free(labels);
	return bad;
}

static void
extract_all_say_sample(const struct extract_run *r, int i,
    const struct extraction *x)
{
	const struct sample *m = &x->sample;
	char spent[64] = "";

	if (r->verbose < 1)
		return;
	if (r->verbose > 1)
		snprintf(spent, sizeof(spent), "; %.2f s, %.0f frames/s",
		    x->spent, (double)x->account.frames / x->spent);
	note("%s: %s %s %dx%d, %.2f s: %d frames of %dx%d as %s%s",
	    Q(r->list->row[i].path), x->info.format, x->info.codec,
	    x->info.width, x->info.height, x->account.decoded, m->frames,
	    m->width, m->height, m->key, spent);
}

/*
 * Write a line such as "12/400 videos, 3600 frames, 1830 frames/s, 12.2 MB/s,
 * ETA 1:02".
 */
static const char *
extract_all_how_far(const struct extract_all_state *s, char buf[200])
{
	const struct report_totals *sum = &s->r->sum;
	double seconds = clock_seconds() - s->start;
	int64_t through = sum->stored + sum->skipped;
	char eta[32];

	clock_text(eta, through > 0 ? seconds / (double)through *
	    (double)(sum->videos - through) : 0);
	snprintf(buf, 200, "%lld/%lld videos, %lld frames, %.0f frames/s, "
	    "%.1f MB/s, ETA %s", (long long)through, (long long)sum->videos,
	    (long long)sum->frames, (double)sum->frames / seconds,
	    (double)sum->bytes / 1e6 / seconds, eta);
	return buf;
}

void
extract_summary(struct extract_run *r, const struct class_list *classes,
    struct buffer *to)
{
	const struct report_totals *sum = &r->sum;
	char size[32];

	buffer_printf(to, "%lld video%s", (long long)sum->stored,
	    sum->stored == 1 ? "" : "s");
	tally_text(&r->tally, classes, to);
	buffer_printf(to, ", %lld frames of %s", (long long)sum->frames,
	    text_bytes(size, (double)sum->stored_bytes));
	if (r->tally.defective > 0)
		buffer_printf(to, ", %zu truncated or damaged",
		    r->tally.defective);
}

static void
extract_all_count(struct extract_all_state *s, const struct extraction *x)
{
	struct report_totals *sum = &s->r->sum;
	char text[200];

	sum->bytes += (int64_t)x->sample.source_bytes;
	sum->frames += x->kept ? x->sample.frames : 0;
	sum->stored += x->kept;
	sum->skipped += !x->kept;
	sum->seconds = clock_seconds() - s->start;
	if (progress_due())
		progress_line("%s", extract_all_how_far(s, text));
	if (s->r->progress_requested != NULL && *s->r->progress_requested) {
		*s->r->progress_requested = 0;
		note("%s", extract_all_how_far(s, text));
	}
}

char *
extract_refusal(const struct list_row *row, const struct extraction *x,
int stop)
{
	int missing = access(row->path, F_OK) != 0 && errno == ENOENT;

	return xprintf("%s%s%s%s%s%s", list_at(row), x->message.text,
	    missing && row->tried != NULL ? " (tried " : "",
	    missing && row->tried != NULL ? row->tried : "",
	    missing && row->tried != NULL ? ")" : "",
	    stop ? "; --on-error=skip leaves it out" : "");
}

/*
 * Print the message about video ${i}: a warning, or an error if it ends the
 * run.
 */
static void
extract_all_say_message(const struct extract_run *r, int i,
    const struct extraction *x)
{
	char *text;

	if (x->kept) {
		if (x->message.text[0] != '\0')
			warning("%s", x->message.text);
		return;
	}
	text = extract_refusal(&r->list->row[i], x,
	    !r->skip && r->list->n > 1);
	if (r->skip && !x->lost)
		warning("skipped: %s", text);
	else
		fail("%s", text);
	free(text);
}

/*
 * Write the result of video ${i}, the next in the list.  Return 0, or -1 if the
 * run must end.
 */
static int
extract_all_finish(struct extract_all_state *s, int i, struct extraction *x)
{
	struct extract_run *r = s->r;
	int refused = !x->kept && (!r->skip || x->lost);

	/* Messages about videos that a signal cut short would mislead. */
	if (stop_signal() != 0 || (r->ended != NULL && *r->ended))
		return -1;
	if (r->verbose >= 0)
		extract_all_say_message(r, i, x);
	if (r->compare != NULL)
		compare_add(r->compare, (size_t)i, x);
	if ((x->kept && extract_all_write_sample(r, i, x) != 0) ||
	    extract_all_report_video(r, i, x) != 0 || refused)
		return -1;
	if (x->kept)
		extract_all_say_sample(r, i, x);
	extract_all_count(s, x);
	if (r->finished != NULL)
		r->finished(r->finished_of, (size_t)i, x);
	extraction_free(x);
	return 0;
}

static void
extract_all_item(size_t i, int thread, void *arg)
{
	struct extract_all_state *s = arg;
	struct extraction *x = &s->result[i % s->window];
	const struct list_row *row = &s->r->list->row[i];

	if (s->pool != NULL)
		extract_pool_video(s->pool, row, thread, x);
	else
		extract_video(row, &s->how, s->extractor[thread], x);
}

int
extract_all(struct extract_run *r)
{
	struct extract_all_state s = { .r = r, .how = *r->how,
	    .start = clock_seconds() };
	const struct extract_budget *b = &r->budget;
	struct ordered *videos;
	size_t i;
	int result = 0, at_once = (size_t)r->threads > r->list->n ?
	    (int)r->list->n : r->threads;

	stopping = 0;
	s.how.stopped = extract_all_is_stopping;
	r->sum = (struct report_totals){ .videos = (int64_t)r->list->n };
	at_once = at_once > 0 ? at_once : 1;
	if (r->workers || b->cpu > 0 || b->wall > 0 || b->memory > 0)
		s.pool = extract_pool_new(&s.how, b, r->threads,
		    r->threads / at_once);
	s.window = WINDOW * (size_t)r->threads;
	s.result = xcalloc(s.window, sizeof(*s.result));
	s.extractor = xcalloc((size_t)r->threads, sizeof(*s.extractor));
	for (int t = 0; t < r->threads; t++) {
		s.extractor[t] = extractor_new(s.how.quality);
		/* Threads beyond the number of videos compute flow. */
		if (s.pool == NULL && s.how.flow && t < at_once)
			extractor_add_flow(s.extractor[t], &s.how,
			    r->threads / at_once);
	}
	videos = ordered_new(r->list->n, r->threads, 1, s.window,
	    extract_all_item, &s);
	while (result == 0 && ordered_next(videos, &i))
		result = extract_all_finish(&s, (int)i,
		    &s.result[i % s.window]);
	/* Threads that still decode give up, so ordered_free returns soon. */
	stopping = 1;
	ordered_free(videos);
	extract_pool_free(s.pool);
	for (i = 0; i < s.window; i++)
		extraction_free(&s.result[i]);
	for (int t = 0; t < r->threads; t++)
		extractor_free(s.extractor[t]);
	free(s.result);
	free(s.extractor);
	return result;
}
