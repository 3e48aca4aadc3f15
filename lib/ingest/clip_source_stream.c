/*
 * A source that delivers the samples of a stream, one at a time.
 *
 * shard/gather.h checks the stream, as for packing.  It keeps the bytes of a
 * sample only until they are moved to a spool.  All frames must be kept until
 * the last one has come, because the choice of frames depends on their number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "ingest/clip_source.h"
#include "shard/gather.h"

#define MEMBER ((uint64_t)64 << 20)	/* largest member; the same limit as
					 * vt-pack's */

struct clip_source_stream {
	struct clip_source in;
	struct stream_reader *r;
	struct gather g;
	struct spool_budget *memory;
	struct sample *sample;		/* owner of now.sample's texts */
	struct extraction now;
	char key[KEY_MAX + 1];		/* key of the last complete sample */
	char *settings;
	uint64_t all;			/* samples delivered */
};

/* Move the frame ${m} to the spool. */
static int
clip_source_stream_keep_frame(struct clip_source_stream *s,
    const struct stream_member *m)
{
	struct buffer *b = &s->g.bytes;
	int bad = m->kind == MEMBER_FRAME ? spool_add(s->now.frame, b->data +
	    USTAR_BLOCK, (size_t)m->size) : 0;

	b->n = 0;
	return bad;
}

static int
clip_source_stream_read_head(struct clip_source_stream *s,
    const struct stream_member *m)
{
	char *text = xmalloc((size_t)m->size + 1);
	char *what = xprintf("%s: offset %llu: %s", stream_path(s->r),
	    (unsigned long long)m->offset, m->name);
	int result = stream_data(s->r, text);
	struct json *head = result == STREAM_MORE ? json_parse(what, text,
	    (size_t)m->size) : NULL;
	const struct json *options = json_get(head, "options");

	if (result == STREAM_MORE && head == NULL)
		result = STREAM_BAD;
	free(s->settings);
	s->settings = options != NULL ? json_print(options) : NULL;
	s->in.settings = s->settings;
	json_free(head);
	free(text);
	free(what);
	return result;
}

/* Return STREAM_DONE if the member completes a sample. */
static int
clip_source_stream_read_member(struct clip_source_stream *s,
    const struct stream_member *m)
{
	int result;

	if (s->g.open && m->kind == MEMBER_HEAD)
		return fail("%s: offset %llu: %s, but sample %s has no .json",
		    stream_path(s->r), (unsigned long long)m->offset, m->name,
		    s->g.key);
	if (m->kind == MEMBER_HEAD)
		return clip_source_stream_read_head(s, m);
	if (m->kind == MEMBER_END)
		return gather_end(&s->g, s->r, m);
	if (s->now.frame == NULL)
		s->now.frame = spool_new(s->memory, 0);
	result = gather_member(&s->g, s->r, m);
	if (result == STREAM_MORE || result == STREAM_DONE)
		return clip_source_stream_keep_frame(s, m) == 0 ? result :
		    STREAM_BAD;
	return result;
}

/* Report a stream that ended without its end-of-stream marker. */
static int
clip_source_stream_cut(const struct clip_source_stream *s, int why)
{
	if (why == STREAM_UNMARKED)
		return fail("%s: a whole tar archive, of %llu samples, but "
		    "without the end-of-stream marker of vt-extract",
		    stream_path(s->r), (unsigned long long)s->all);
	return fail("%s: the input ended after %llu samples, last complete key "
	    "%s, offset %llu: its writer died or the pipe broke",
	    stream_path(s->r), (unsigned long long)s->all, s->all > 0 ?
	    s->key : "none", (unsigned long long)stream_bytes(s->r));
}

/* Free the clip that the caller had. */
static void
clip_source_stream_forget(struct clip_source_stream *s)
{
	spool_free(s->now.frame);
	sample_free(s->sample);
	s->sample = NULL;
	s->now = (struct extraction){ 0 };
}

/* A sample is complete: take it from the gatherer. */
static void
clip_source_stream_arrive(struct clip_source_stream *s)
{
	struct sample *m = s->sample = s->g.sample;

	s->g.sample = NULL;
	strcpy(s->key, m->key);
	s->now.sample = *m;
	s->now.sample.status = "ok";
	s->now.sample.shard = stream_path(s->r);
	if (*m->source == '\0')
		s->now.sample.source = m->key;
	s->now.kept = 1;
	s->all++;
	gather_next(&s->g);
}

static int
clip_source_stream_next(struct clip_source *in, const struct extraction **x)
{
	struct clip_source_stream *s = (struct clip_source_stream *)in;
	int result = STREAM_MORE;
	struct stream_member m;

	clip_source_stream_forget(s);
	while (result == STREAM_MORE) {
		result = stream_next(s->r, &m);
		if (result != STREAM_MORE)
			break;
		result = clip_source_stream_read_member(s, &m);
		if (result == STREAM_DONE) {
			clip_source_stream_arrive(s);
			*x = &s->now;
			return 1;
		}
	}
	if (s->g.open && (result == STREAM_DONE || result == STREAM_UNMARKED))
		return fail("%s: the archive ends, but sample %s has no .json",
		    stream_path(s->r), s->g.key);
	return result == STREAM_DONE ? 0 : result == STREAM_BAD ? -1 :
	    result == STREAM_GIVEN_UP ? -2 : clip_source_stream_cut(s, result);
}

static void
clip_source_stream_free(struct clip_source *in)
{
	struct clip_source_stream *s = (struct clip_source_stream *)in;

	clip_source_stream_forget(s);
	gather_free(&s->g);
	stream_read_close(s->r);
	free(s->settings);
	free(s);
}

struct clip_source *
clip_source_stream(const char *path, struct spool_budget *memory)
{
	const struct stream_limits limits = { .member = MEMBER };
	struct clip_source_stream *s = xcalloc(1, sizeof(*s));

	s->in = (struct clip_source){ clip_source_stream_next,
	    clip_source_stream_free, NULL };
	s->memory = memory;
	s->r = stream_read_open(path, &limits);
	if (s->r != NULL)
		return &s->in;
	clip_source_stream_free(&s->in);
	return NULL;
}
