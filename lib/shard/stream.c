/* Writer of the stream from vt-extract to vt-pack. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "shard/stream.h"
#include "shard/stream_read.h"
#include "shard/ustar.h"

/*
 * Bytes of members that are buffered before a write, and the requested capacity
 * of a pipe.  With the usual 64 KiB, both ends sleep too often.
 */
#define GATHER (1 << 20)

struct stream_writer {
	int fd;
	char *path, *tool;
	struct hasher *hash;		/* of all bytes written */
	struct buffer out;		/* bytes not written yet */
	struct sample sample;	/* being written, if open */
	int open, broken;		/* broken: a write has failed */
	int64_t written;		/* frames of all streams */
	uint64_t samples, frames, bytes;	/* ${bytes} are in the file */
};

struct stream_writer *
stream_open(int fd, const char *path, const char *tool)
{
	struct stream_writer *w = xcalloc(1, sizeof(*w));

	w->fd = fd;
	w->path = xstrdup(path);
	w->tool = xstrdup(tool);
	w->hash = hasher_new();
	(void)fcntl(fd, F_SETPIPE_SZ, GATHER);	/* fails on files */
	return w;
}

/* The hash covers what is written, so it is updated here and not per member. */
static int
stream_flush(struct stream_writer *w)
{
	size_t n = w->out.n;

	hasher_add(w->hash, w->out.data, n);
	w->out.n = 0;
	w->bytes += n;
	if (file_write(w->fd, w->path, w->out.data, n) == 0)
		return 0;
	w->broken = 1;
	return -1;
}

/* Buffer a member, and write when the buffer is full. */
static int
stream_put_member(struct stream_writer *w, const char *name, const void *data,
    size_t n)
{
	static const char zeros[USTAR_BLOCK];
	unsigned char header[USTAR_BLOCK];

	if (n > USTAR_SIZE)
		return fail("%s: member %s: %zu bytes (wanted at most %llu)",
		    text_quote(w->path), name, n, USTAR_SIZE);
	ustar_header(header, name, n);
	buffer_add(&w->out, header, sizeof(header));
	buffer_add(&w->out, data, n);
	buffer_add(&w->out, zeros, ustar_padding(n));
	return w->out.n < GATHER ? 0 : stream_flush(w);
}

int
stream_head(struct stream_writer *w, const struct class_list *classes,
    int numbered, const char *options)
{
	struct json_writer j = { 0 };
	int result;

	assert(w->samples == 0 && !w->open && w->out.n == 0);
	for (size_t i = 0; i < classes->n; i++)
		if (!text_is_utf8(classes->name[i]))
			return fail("class %zu: %s is not UTF-8", i,
			    text_quote(classes->name[i]));
	json_open(&j, NULL, '{');
	if (classes->n > 0)
		class_write(&j, classes);
	if (numbered)
		json_put_bool(&j, "numbered", 1);
	if (options != NULL)
		json_put_raw(&j, "options", options);
	json_close(&j);
	result = stream_put_member(w, STREAM_HEAD, j.out.data, j.out.n);
	buffer_free(&j.out);
	return result;
}

int
stream_begin(struct stream_writer *w, const struct sample *s)
{
	/* Callers guarantee these; the checks below depend on the video. */
	assert(!w->open && key_is_valid(s->key) && s->streams->n >= 1 &&
	    s->streams->n <= STREAM_MAX);
	for (int i = 0; i < s->streams->n; i++)
		assert(sample_ext_known(s->streams->kind[i].ext));
	assert(s->labels == NULL || s->label == -1);
	if (s->frames < 1 || s->frames > FRAME_MAX)
		return fail("%s: %d frames (wanted 1 to %d)",
		    text_quote(s->source), s->frames, FRAME_MAX);
	if (s->width < 1 || s->width > 65535 || s->height < 1 ||
	    s->height > 65535)
		return fail("%s: %dx%d pixels (wanted 1 to 65535 each way)",
		    text_quote(s->source), s->width, s->height);
	w->sample = *s;
	w->sample.flags &= ~(unsigned)(SHARD_VARIABLE | SHARD_LABELS);
	if (s->time != NULL)
		w->sample.flags |= SHARD_VARIABLE;
	if (s->labels != NULL)
		w->sample.flags |= SHARD_LABELS;
	w->open = 1;
	w->written = 0;
	return 0;
}

int
stream_frame(struct stream_writer *w, const void *data, size_t n)
{
	const struct stream_list *l = w->sample.streams;
	int frame = (int)(w->written / l->n), stream = (int)(w->written % l->n);
	char name[USTAR_NAME + 1];

	assert(w->open && frame < w->sample.frames);
	if (n == 0)
		return fail("%s: frame %d is empty",
		    text_quote(w->sample.source), frame);
	stream_frame_name(w->sample.key, (unsigned)frame, &l->kind[stream],
	    name);
	w->written++;
	return stream_put_member(w, name, data, n);
}

/* Flush after each sample, so that the reader need not wait for the next
 * one. */
int
stream_commit(struct stream_writer *w)
{
	const struct sample *s = &w->sample;
	struct buffer info = { 0 };
	char name[USTAR_NAME + 1], label[16];
	int result = -1;

	assert(w->open && w->written == (int64_t)s->frames * s->streams->n);
	if (s->label >= 0) {
		snprintf(name, sizeof(name), "%s.cls", s->key);
		snprintf(label, sizeof(label), "%d", s->label);
		if (stream_put_member(w, name, label, strlen(label)) != 0)
			goto out;
	}
	snprintf(name, sizeof(name), "%s.json", s->key);
	sample_write(s, &info);
	if (stream_put_member(w, name, info.data, info.n) != 0 ||
	    stream_flush(w) != 0)
		goto out;
	w->open = 0;
	w->samples++;
	w->frames += (uint64_t)s->frames;
	result = 0;
out:
	buffer_free(&info);
	return result;
}

int
stream_result(struct stream_writer *w, const char *text)
{
	return stream_put_member(w, STREAM_RESULT, text, strlen(text)) == 0 ?
	    stream_flush(w) : -1;
}

uint64_t
stream_written(const struct stream_writer *w)
{
	return w->bytes + w->out.n;
}

/* The end-of-stream marker, then the two zero blocks that end a tar. */
int
stream_end(struct stream_writer *w, const char *status)
{
	static const char zeros[2 * USTAR_BLOCK];
	struct json_writer j = { 0 };
	char hash[17];
	int result = -1;

	/* The marker's hash covers all bytes before the marker. */
	assert(!w->open || strcmp(status, STREAM_FAILED) == 0);
	if (w->broken || stream_flush(w) != 0)
		goto out;
	json_open(&j, NULL, '{');
	json_put_int(&j, "frames", (int64_t)w->frames);
	json_put_int(&j, "samples", (int64_t)w->samples);
	json_put_text(&j, "status", status);
	json_put_text(&j, "tool", w->tool);
	json_put_text(&j, "xxh3", hash64_text(hasher_64(w->hash), hash));
	json_close(&j);
	if (stream_put_member(w, STREAM_END, j.out.data, j.out.n) != 0)
		goto out;
	buffer_add(&w->out, zeros, sizeof(zeros));
	result = stream_flush(w);
out:
	buffer_free(&j.out);
	stream_drop(w);
	return result;
}

void
stream_drop(struct stream_writer *w)
{
	if (w == NULL)
		return;
	hasher_free(w->hash);
	buffer_free(&w->out);
	free(w->path);
	free(w->tool);
	free(w);
}
