/* The dataset of videos that are not packed: each clip decodes its video. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "ingest/extract_settings.h"
#include "ingest/label_intervals.h"
#include "ingest/unpacked_run.h"

#define Q text_quote

/* ---- frames ---- */

static struct extractor *
unpacked_take(struct unpacked *u)
{
	struct extractor *e = NULL;

	pthread_mutex_lock(&u->lock);
	if (u->idles > 0)
		e = u->idle[--u->idles];
	pthread_mutex_unlock(&u->lock);
	return e != NULL ? e : extractor_new(u->how.quality);
}

static void
unpacked_release(struct unpacked *u, struct extractor *e)
{
	pthread_mutex_lock(&u->lock);
	u->idle = array_reserve(u->idle, u->idles, &u->idle_cap,
	    sizeof(*u->idle));
	u->idle[u->idles++] = e;
	pthread_mutex_unlock(&u->lock);
}

static void
unpacked_need(const void *of, const struct extraction *x, int frames,
    struct fraction fps, char *wanted)
{
	const struct frame_read *r = of;

	(void)x;
	(void)fps;
	for (int k = 0; k < r->n; k++)
		if (r->frame[k] < frames)
			wanted[r->frame[k]] = 1;
}

/* Check that ${x} is the video that was verified as sample ${m}.  Return 0, or
 * as dataset_frames_read. */
static int
unpacked_check(const struct sample *m, const struct extraction *x,
    struct error *why)
{
	if (x->hashed && x->sample.source_hash != m->source_hash)
		return error_set(why, "%s: changed while the run reads it: "
		    "XXH3-64 %016" PRIx64 " (was %016" PRIx64 ")", Q(m->shard),
		    x->sample.source_hash, m->source_hash);
	if (!x->kept) {
		error_set(why, "%s", x->message.text);
		return x->hashed ? -2 : -1;
	}
	if (x->sample.frames != m->frames)
		return error_set(why, "%s: %d frames (there were %d)",
		    Q(m->shard), x->sample.frames, m->frames), -2;
	return 0;
}

/* The callback of struct dataset_content. */
static int
unpacked_read(void *of, uint32_t i, const struct frame_read *r,
    struct error *why)
{
	struct unpacked *u = of;
	struct extract_options how = u->how;
	struct extractor *e = unpacked_take(u);
	struct extraction x;
	int status;

	how.need = unpacked_need;
	how.need_of = r;
	how.stopped = NULL;
	extract_video(&u->list.row[u->row[i]], &how, e, &x);
	status = unpacked_check(&u->sample[i], &x, why);
	r->bytes->n = r->at[0] = 0;
	for (int k = 0; k < r->n && status == 0; k++) {
		int item = extraction_item(&x, r->frame[k], 0);
		size_t size;
		const void *data;

		assert(item >= 0);
		data = spool_get(x.frame, (size_t)item, &size, why);
		if (data == NULL)
			status = -1;
		else
			buffer_add(r->bytes, data, size);
		r->at[k + 1] = r->bytes->n;
	}
	extraction_free(&x);
	unpacked_release(u, e);
	return status;
}

static void
unpacked_free_content(void *of)
{
	unpacked_free(of);
}

/* ---- samples ---- */

/* Set sample ${i}, of row ${k}.  Return 0, or -1 after a message. */
static int
unpacked_set_sample(struct unpacked *u, uint32_t i, size_t k)
{
	const struct list_row *row = &u->list.row[k];
	const struct unpacked_fact *f = &u->fact[k];
	struct sample *m = &u->sample[i];

	u->row[i] = k;
	*m = row->sample;
	m->streams = &u->streams;
	m->frames = f->frames;
	m->width = f->width;
	m->height = f->height;
	m->fps = (struct fraction){ f->num, f->den };
	m->flags = f->flags;
	m->source_hash = f->hash;
	m->source_bytes = f->bytes;
	m->shard = row->path;
	if (m->labels == NULL)
		return 0;
	m->flags |= SHARD_LABELS;
	for (int s = 0; s < row->nlabels; s++)
		if (row->label[s].unit == LIST_SECONDS &&
		    (f->flags & SHARD_VARIABLE))
			return fail("%s: labels in seconds of a video with a "
			    "variable frame rate (wanted --fps=RATE, or a "
			    "packed set)", Q(row->path));
	m->labels = label_intervals_place(row, m);
	return m->labels != NULL ? 0 : -1;
}

static struct hash128
unpacked_identify(const struct unpacked *u, const char *settings)
{
	struct buffer b = { 0 };
	struct hash128 id;

	buffer_printf(&b, "%s\n%zu classes\n", settings, u->classes.n);
	class_text(&u->classes, &b);
	for (uint32_t i = 0; i < u->samples; i++) {
		const struct sample *m = &u->sample[i];

		buffer_printf(&b, "%s %016" PRIx64 " %" PRIu64 " %d %d", m->key,
		    m->source_hash, m->source_bytes, m->frames, m->label);
		for (int k = 0; k < m->nlabels; k++)
			buffer_printf(&b, " %d:%d-%d", m->labels[k].class,
			    m->labels[k].first, m->labels[k].last);
		buffer_text(&b, "\n");
	}
	id = hash128(b.data, b.n);
	buffer_free(&b);
	return id;
}

struct dataset *
unpacked_dataset(struct unpacked *u)
{
	struct dataset_content c = { .path = u->path, .classes = &u->classes,
		.streams = &u->streams,
		.read = unpacked_read, .free = unpacked_free_content, .of = u };
	struct dataset *d;
	char *settings;

	u->sample = xcalloc(u->list.n, sizeof(*u->sample));
	u->row = xcalloc(u->list.n, sizeof(*u->row));
	for (size_t k = 0; k < u->list.n; k++) {
		if (u->fact[k].state != UNPACKED_KEPT)
			continue;
		if (unpacked_set_sample(u, u->samples++, k) != 0) {
			unpacked_free(u);
			return NULL;
		}
	}
	settings = extract_settings(&u->how);
	c.sample = u->sample;
	c.samples = u->samples;
	c.extract = settings;
	c.id = unpacked_identify(u, settings);
	d = dataset_of(&c);
	free(settings);
	return d;
}
