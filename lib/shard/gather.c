/*
 * Assembly of the members of a stream into the samples of a shard.
 *
 * A sample is KEY.000000.jpg, ... in order, KEY.cls if it has a
 * label, and KEY.json, which closes it. The order is part of the format.
 * The members appended here are the bytes of the shard. Frame f of stream k of
 * n streams is record f n + k of the index. An index record therefore takes 16
 * bytes, and no name is stored or looked up. The order also distinguishes a
 * truncated sample from a complete one before its KEY.json arrives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "shard/gather.h"
#include "shard/stream.h"

/* Return "FILE: offset N: KEY.json".  The caller frees it. */
static char *
gather_place(const struct stream_reader *r, const struct stream_member *m)
{
	return xprintf("%s: offset %llu: %s", stream_path(r),
	    (unsigned long long)m->offset, m->name);
}

/* Report that ${m} is not the expected member ${want}.  Other programs write
 * members in the order of the directory, so their archives get a hint. */
static int
gather_wrong(const struct gather *g, const struct stream_reader *r,
    const struct stream_member *m, const char *want)
{
	char *at = gather_place(r, m);

	const char *hint = stream_foreign(r) == STREAM_ARCHIVED ? " (tar "
	    "--sort=name puts members in order; --foreign=webdataset takes "
	    "samples without .json)" : "";

	if (g->open)
		fail("%s: wanted %s, after %s at offset %llu%s", at, want,
		    g->last, (unsigned long long)g->last_offset, hint);
	else
		fail("%s: wanted %s%s", at, want, hint);
	free(at);
	return STREAM_BAD;
}

/* Write the name of frame member ${number} of the sample: the frames of all
 * streams are counted together. */
static void
gather_frame_name(const struct gather *g, uint64_t number,
    char name[USTAR_NAME + 1])
{
	uint64_t n = (uint64_t)g->streams.n;

	stream_frame_name(g->key, (unsigned)(number / n),
	    &g->streams.kind[number % n], name);
}

/*
 * The first sample determines the list of streams.  For frame 0 each stream has
 * a member, KEY.000000.TAG.EXT. The first other member completes the list
 * for all samples. Packing a stream therefore needs no header, and a sample
 * with another number of streams is detected at its first frame. Return 1 if
 * ${m} is the first member of a new stream.
 */
static int
gather_another_stream(struct gather *g, const struct stream_member *m)
{
	struct stream_list *l = &g->streams;

	if (g->fixed || m->kind != MEMBER_FRAME || m->frame != 0 ||
	    l->n == STREAM_MAX)
		return 0;
	for (int i = 0; i < l->n; i++)
		if (strcmp(l->kind[i].tag, m->tag) == 0)
			return 0;
	strcpy(l->kind[l->n].tag, m->tag);
	strcpy(l->kind[l->n].ext, m->ext);
	l->n++;
	return 1;
}

/*
 * Check that ${m} is the next member.  Frames are valid until the label.
 * The label and KEY.json are valid only after a whole number of frames of
 * all streams. A message has the only valid name.
 */
static int
gather_check_order(struct gather *g, const struct stream_reader *r,
    const struct stream_member *m)
{
	char want[USTAR_NAME + 1], rest[KEY_MAX + 60];
	int whole;

	if (!g->open) {
		strcpy(g->key, m->key);
		g->offset = m->offset;
		if (m->kind != MEMBER_FRAME || m->frame != 0)
			return gather_wrong(g, r, m,
			    "the first frame of a sample, "
			    "number 000000");
	}
	if (strcmp(m->key, g->key) != 0) {
		snprintf(rest, sizeof(rest),
		    g->frames % (uint64_t)g->streams.n == 0 ? "%.80s.json, "
		    "without which a sample is incomplete" : "the rest of "
		    "sample %.80s", g->key);
		return gather_wrong(g, r, m, rest);
	}
	if (gather_another_stream(g, m))
		return 0;
	g->fixed = 1;
	whole = g->frames % (uint64_t)g->streams.n == 0;
	if (m->kind == MEMBER_FRAME && g->label == -1) {
		gather_frame_name(g, g->frames, want);
		return strcmp(m->name, want) == 0 ? 0 : gather_wrong(g, r, m,
		    want);
	}
	if (m->kind == MEMBER_FRAME || !whole ||
	    (m->kind == MEMBER_LABEL && g->label != -1)) {
		if (!whole)
			gather_frame_name(g, g->frames, want);
		else
			snprintf(want, sizeof(want), "%.80s.json", g->key);
		return gather_wrong(g, r, m, want);
	}
	return 0;
}

/* Append a member with the data ${data}, or, if NULL, with the data that
 * ${r} reads. */
static int
gather_append(struct gather *g, struct stream_reader *r,
    const struct stream_member *m, const void *data, size_t n)
{
	static const unsigned char zeros[USTAR_BLOCK];
	unsigned char header[USTAR_BLOCK];
	struct shard_record *rec;
	char *to;
	int got = STREAM_MORE;

	ustar_header(header, m->name, n);
	buffer_add(&g->bytes, header, sizeof(header));
	buffer_reserve(&g->bytes, n + USTAR_BLOCK);
	to = g->bytes.data + g->bytes.n;
	if (data != NULL)
		memcpy(to, data, n);
	else if ((got = stream_data(r, to)) != STREAM_MORE)
		return got;
	g->bytes.n += n;
	buffer_add(&g->bytes, zeros, ustar_padding(n));
	g->record = array_reserve(g->record, g->records, &g->cap,
	    sizeof(*g->record));
	rec = &g->record[g->records++];
	*rec = (struct shard_record){
		.blk = (uint32_t)(g->total / USTAR_BLOCK) + 1,
		.length = (uint32_t)n, .crc = crc32c(0, to, n) };
	g->total += USTAR_BLOCK + n + ustar_padding(n);
	if (g->total / USTAR_BLOCK > UINT32_MAX)
		return fail("%s: sample %s is larger than 2 TiB",
		    stream_path(r), g->key);
	return STREAM_MORE;
}

/* Accept a label only in the form that the index can reproduce: verification
 * writes KEY.cls from the index and compares. */
static int
gather_add_label(struct gather *g, struct stream_reader *r,
    const struct stream_member *m)
{
	char text[12] = "", again[12];
	int64_t v;
	int got;

	if (m->size == 0 || m->size >= sizeof(text))
		return gather_wrong(g, r, m,
		    "a label, a number in decimal digits");
	if ((got = stream_data(r, text)) != STREAM_MORE)
		return got;
	if (text_int(text, 0, INT32_MAX, &v) != 0)
		return gather_wrong(g, r, m,
		    "a label, a number in decimal digits");
	g->label = (int)v;
	snprintf(again, sizeof(again), "%d", g->label);
	if (strlen(text) != m->size || strcmp(text, again) != 0)
		return gather_wrong(g, r, m,
		    "a label in decimal digits only");
	return gather_append(g, r, m, again, strlen(again));
}

/* Return the time of frame ${f}, to the nearest 0.1 ms.  It may exceed 32
 * bits. */
static uint64_t
gather_frame_time(const struct sample *s, uint64_t f)
{
	uint64_t num = (uint64_t)s->fps.num, den = (uint64_t)s->fps.den;
	uint64_t x = 10000 * f;

	if (s->time != NULL)
		return s->time[f];
	if (num == 0)
		return 0;
	if (x / num > UINT32_MAX / den)
		return UINT64_MAX;
	/* x * den / num, in two parts because the product can have 65 bits */
	return x / num * den + (x % num * den + num / 2) / num;
}

/* Compare KEY.json with the members, and set the times of their records. */
static int
gather_agree(struct gather *g, const struct sample *s, const char *at)
{
	uint64_t n = (uint64_t)g->streams.n, frames = g->frames / n;

	if (strcmp(s->key, g->key) != 0)
		return fail("%s: \"key\" is %s", at, s->key);
	if ((uint64_t)s->frames != frames)
		return fail("%s: \"frames\" is %d, but the stream has %llu", at,
		    s->frames, (unsigned long long)frames);
	if (s->label != g->label)
		return fail("%s: \"label\" is %d, but %s.cls %s", at, s->label,
		    g->key, g->label == -1 ? "is missing" : "has another");
	if (!stream_list_equal(s->streams, &g->streams))
		return fail("%s: \"streams\" differ from those in the stream",
		    at);
	for (uint64_t f = 0; f < frames; f++) {
		uint64_t t = gather_frame_time(s, f);

		if (t > UINT32_MAX)
			return fail("%s: frame %llu comes more than %u s after "
			    "the first: \"fps\" is %d/%d", at,
			    (unsigned long long)f, UINT32_MAX / 10000,
			    s->fps.num, s->fps.den);
		for (uint64_t k = 0; k < n; k++)
			g->record[f * n + k].time = (uint32_t)t;
	}
	return 0;
}

/* Check KEY.json and close the sample.  The shard stores KEY.json in canonical
 * form, whatever form the input has. */
static int
gather_add_info(struct gather *g, struct stream_reader *r,
    const struct stream_member *m)
{
	char *text = xmalloc((size_t)m->size + 1), *at = gather_place(r, m);
	char *canonical = NULL;
	int got = stream_data(r, text);

	if (got != STREAM_MORE)
		goto out;
	got = STREAM_BAD;
	g->sample = sample_read(at, text, (size_t)m->size, &canonical, NULL);
	if (g->sample == NULL || gather_agree(g, g->sample, at) != 0)
		goto out;
	got = gather_append(g, r, m, canonical, strlen(canonical));
	if (got != STREAM_MORE)
		goto out;
	got = STREAM_DONE;
	g->stream_samples++;
	g->stream_frames += (uint64_t)g->sample->frames;
out:
	free(canonical);
	free(text);
	free(at);
	return got;
}

int
gather_member(struct gather *g, struct stream_reader *r,
    const struct stream_member *m)
{
	int got;

	if (!g->open)
		g->label = -1;
	if (gather_check_order(g, r, m) != 0)
		return STREAM_BAD;
	g->open = 1;
	if (m->kind == MEMBER_FRAME && m->size == 0)
		return gather_wrong(g, r, m, "a frame that is not empty");
	if (m->kind == MEMBER_INFO) {
		got = gather_add_info(g, r, m);
	} else if (m->kind == MEMBER_LABEL) {
		got = gather_add_label(g, r, m);
	} else {
		g->frames++;
		got = gather_append(g, r, m, NULL, (size_t)m->size);
	}
	strcpy(g->last, m->name);
	g->last_offset = m->offset;
	return got;
}

int
gather_end(struct gather *g, struct stream_reader *r,
    const struct stream_member *m)
{
	struct stream_marker mark;
	int got = stream_read_marker(r, &mark);

	if (got != STREAM_MORE)
		return got;
	if (strcmp(mark.status, STREAM_FAILED) == 0) {
		fail("%s: vt-extract failed after %llu samples", stream_path(r),
		    (unsigned long long)mark.samples);
		return STREAM_GIVEN_UP;
	}
	if (g->open)
		return fail("%s: offset %llu: the stream ends, but sample %s "
		    "has no .json", stream_path(r),
		    (unsigned long long)m->offset, g->key);
	if (mark.samples != g->stream_samples ||
	    mark.frames != g->stream_frames)
		return fail("%s: offset %llu: end-of-stream marker: %llu "
		    "samples, %llu frames (read %llu, %llu)", stream_path(r),
		    (unsigned long long)m->offset,
		    (unsigned long long)mark.samples,
		    (unsigned long long)mark.frames,
		    (unsigned long long)g->stream_samples,
		    (unsigned long long)g->stream_frames);
	if (strcmp(mark.status, "ok") != 0 && !stream_is_stdin(r))
		warning("%s: vt-extract skipped videos", stream_path(r));
	g->stream_samples = g->stream_frames = 0;
	return STREAM_MORE;
}

/* Keep the memory for the next sample, and the list of streams for all. */
void
gather_next(struct gather *g)
{
	sample_free(g->sample);
	g->sample = NULL;
	g->open = 0;
	g->bytes.n = 0;
	g->total = 0;
	g->records = 0;
	g->frames = 0;
	g->label = -1;
}

void
gather_free(struct gather *g)
{
	gather_next(g);
	buffer_free(&g->bytes);
	free(g->record);
	*g = (struct gather){ 0 };
}
