/* KEY.json, written and read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "shard/info.h"

static const char *const frame_types[] = { "jpg", "png" };

int
stream_ext_known(const char *ext)
{
	for (size_t i = 0; i < sizeof(frame_types) / sizeof(*frame_types); i++)
		if (strcmp(ext, frame_types[i]) == 0)
			return 1;
	return 0;
}

int
stream_list_equal(const struct stream_list *a, const struct stream_list *b)
{
	if (a->n != b->n)
		return 0;
	for (int i = 0; i < a->n; i++)
		if (strcmp(a->kind[i].tag, b->kind[i].tag) != 0 ||
		    strcmp(a->kind[i].ext, b->kind[i].ext) != 0)
			return 0;
	return 1;
}

void
stream_list_write(struct json_writer *w, const char *key,
    const struct stream_list *l)
{
	json_open(w, key, '[');
	for (int i = 0; i < l->n; i++) {
		json_open(w, NULL, '{');
		json_put_text(w, "ext", l->kind[i].ext);
		json_put_text(w, "tag", l->kind[i].tag);
		json_close(w);
	}
	json_close(w);
}

int
stream_list_read(const struct json *v, struct stream_list *l)
{
	*l = (struct stream_list){ 0 };
	if (!json_is(v, '[') || json_size(v) < 1 || json_size(v) > STREAM_MAX)
		return -1;
	for (; l->n < (int)json_size(v); l->n++) {
		const struct json *o = json_at(v, (size_t)l->n);
		const char *ext = json_to_text(json_get(o, "ext"));
		const char *tag = json_to_text(json_get(o, "tag"));
		struct stream_kind *k = &l->kind[l->n];

		if (ext == NULL || tag == NULL || !stream_ext_known(ext) ||
		    strlen(tag) < 1 || strlen(tag) >= sizeof(k->tag) ||
		    strspn(tag, "abcdefghijklmnopqrstuvwxyz0123456789") !=
		    strlen(tag))
			return -1;
		for (int i = 0; i < l->n; i++)
			if (strcmp(l->kind[i].tag, tag) == 0)
				return -1;
		strcpy(k->ext, ext);
		strcpy(k->tag, tag);
	}
	return 0;
}

/* A path as UTF-8, see info.h; the caller's to free. */
static char *
info_path_to_text(const char *s)
{
	struct buffer b = { 0 };

	buffer_add(&b, "", 0);
	while (*s != '\0') {
		int n = text_utf8(s);

		if (n == 0)
			buffer_printf(&b, "\\x%02x", (unsigned char)*s++);
		else if (*s == '\\')
			buffer_text(&b, "\\\\"), s++;
		else
			buffer_add(&b, s, (size_t)n), s += n;
	}
	return b.data;
}

/* The way back, in place; other escapes stay as they are. */
static char *
info_path_from_text(const char *text)
{
	char *path = xstrdup(text), *to = path;
	unsigned byte;

	for (const char *s = text; *s != '\0';) {
		if (s[0] == '\\' && s[1] == '\\') {
			*to++ = '\\';
			s += 2;
		} else if (s[0] == '\\' && s[1] == 'x' &&
		    strspn(s + 2, "0123456789abcdef") >= 2) {
			sscanf(s + 2, "%2x", &byte);
			*to++ = (char)byte;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
	return path;
}

void
info_write(const struct stream_sample *s, const struct stream_list *streams,
    struct buffer *b)
{
	struct json_writer w = { 0 };
	char *source = info_path_to_text(s->source), hash[17];

	snprintf(hash, sizeof(hash), "%016llx",
	    (unsigned long long)s->source_hash);
	json_open(&w, NULL, '{');
	json_put_int(&w, "flags", s->flags);
	json_open(&w, "fps", '[');
	json_put_int(&w, NULL, s->fps_num);
	json_put_int(&w, NULL, s->fps_den);
	json_close(&w);
	json_put_int(&w, "frames", s->frames);
	json_put_int(&w, "height", s->height);
	json_put_text(&w, "key", s->key);
	json_put_int(&w, "label", s->label);
	if (s->flags & SHARD_LABELS) {
		json_open(&w, "labels", '[');
		for (int i = 0; i < s->nlabels; i++) {
			json_open(&w, NULL, '[');
			for (int k = 0; k < 3; k++)
				json_put_int(&w, NULL, s->labels[i][k]);
			json_close(&w);
		}
		json_close(&w);
	}
	json_put_text(&w, "src", source);
	json_put_int(&w, "src_bytes", (int64_t)s->source_bytes);
	json_put_text(&w, "src_xxh3", hash);
	json_put_text(&w, "status", s->status);
	stream_list_write(&w, "streams", streams);
	if (s->time != NULL) {
		json_open(&w, "t", '[');
		for (int i = 0; i < s->frames; i++)
			json_put_int(&w, NULL, s->time[i]);
		json_close(&w);
	}
	json_put_int(&w, "width", s->width);
	json_close(&w);
	buffer_add(b, w.out.data, w.out.n);
	buffer_free(&w.out);
	free(source);
}

static int
info_get_int(const char *what, const struct json *o, const char *name,
    int64_t min, int64_t max, int64_t *to)
{
	if (json_to_int(json_get(o, name), min, max, to) != 0)
		return fail("%s: \"%s\" is missing or wrong (wanted an integer "
		    "from %lld to %lld)", what, name, (long long)min,
		    (long long)max);
	return 0;
}

static int
info_get_small(const char *what, const struct json *o, const char *name,
    int min, int max, int *to)
{
	int64_t v;

	if (info_get_int(what, o, name, min, max, &v) != 0)
		return -1;
	*to = (int)v;
	return 0;
}

static const char *
info_get_text(const char *what, const struct json *o, const char *name)
{
	const char *s = json_to_text(json_get(o, name));

	if (s == NULL)
		return fail_null("%s: \"%s\" is missing or no text", what, name);
	return s;
}

static int
info_get_rate(const char *what, const struct json *v, struct stream_sample *s)
{
	int64_t n, d;

	if (!json_is(v, '[') || json_size(v) != 2 ||
	    json_to_int(json_at(v, 0), 0, INT32_MAX, &n) != 0 ||
	    json_to_int(json_at(v, 1), 0, INT32_MAX, &d) != 0 ||
	    (n == 0) != (d == 0))
		return fail("%s: \"fps\" is missing or wrong (wanted "
		    "[numerator,denominator], [0,0] if unknown)", what);
	s->fps_num = (int)n;
	s->fps_den = (int)d;
	return 0;
}

static int
info_get_times(const char *what, const struct json *v, struct info *i)
{
	int64_t t = 0;

	if (!json_is(v, '[') || json_size(v) != (size_t)i->sample.frames)
		return fail("%s: \"t\" is no list of %d times", what,
		    i->sample.frames);
	i->time = xcalloc((size_t)i->sample.frames, sizeof(*i->time));
	for (size_t k = 0; k < json_size(v); k++) {
		if (json_to_int(json_at(v, k), t, k == 0 ? 0 : UINT32_MAX,
		    &t) != 0)
			return fail("%s: time %zu of \"t\" is wrong (wanted 0 "
			    "first, then no less than the one before)", what, k);
		i->time[k] = (uint32_t)t;
	}
	i->sample.time = i->time;
	return 0;
}

static int
info_get_labels(const char *what, const struct json *v, struct info *i)
{
	size_t n = json_size(v);

	if (!json_is(v, '[') || n > 1000000)
		return fail("%s: \"labels\" is missing or no list, but flag %d "
		    "is set", what, SHARD_LABELS);
	i->labels = xcalloc(n + 1, sizeof(*i->labels));	/* not NULL */
	for (size_t k = 0; k < n; k++) {
		const struct json *l = json_at(v, k);
		int64_t to[3], last = i->sample.frames - 1;

		if (json_size(l) != 3 ||
		    json_to_int(json_at(l, 0), 0, INT32_MAX, &to[0]) != 0 ||
		    json_to_int(json_at(l, 1), 0, last, &to[1]) != 0 ||
		    json_to_int(json_at(l, 2), to[1], last, &to[2]) != 0)
			return fail("%s: item %zu of \"labels\" is wrong (wanted "
			    "[class,first frame,last frame])", what, k);
		for (int c = 0; c < 3; c++)
			i->labels[k][c] = (int)to[c];
	}
	i->sample.labels = (const int (*)[3])i->labels;
	i->sample.nlabels = (int)n;
	return 0;
}

static int
info_get_all(const char *what, const struct json *o, struct info *i)
{
	struct stream_sample *s = &i->sample;
	const struct json *t = json_get(o, "t");
	const char *key, *source, *status, *hash;
	int64_t flags, bytes;

	if (!json_is(o, '{'))
		return fail("%s: no JSON object", what);
	if ((key = info_get_text(what, o, "key")) == NULL ||
	    (source = info_get_text(what, o, "src")) == NULL ||
	    (status = info_get_text(what, o, "status")) == NULL ||
	    (hash = info_get_text(what, o, "src_xxh3")) == NULL ||
	    info_get_int(what, o, "flags", 0, 63, &flags) != 0 ||
	    info_get_int(what, o, "src_bytes", 0, INT64_MAX, &bytes) != 0 ||
	    info_get_small(what, o, "frames", 1, FRAME_MAX, &s->frames) != 0 ||
	    info_get_small(what, o, "width", 1, 65535, &s->width) != 0 ||
	    info_get_small(what, o, "height", 1, 65535, &s->height) != 0 ||
	    info_get_small(what, o, "label", -1, INT32_MAX, &s->label) != 0 ||
	    info_get_rate(what, json_get(o, "fps"), s) != 0)
		return -1;
	if (!key_is_valid(key))
		return fail("%s: \"key\" %s is no key", what, text_quote(key));
	if (strlen(hash) != 16 || strspn(hash, "0123456789abcdef") != 16)
		return fail("%s: \"src_xxh3\" %s (wanted 16 hexadecimal digits)",
		    what, text_quote(hash));
	if (stream_list_read(json_get(o, "streams"), &i->streams) != 0)
		return fail("%s: \"streams\" is missing or wrong", what);
	s->flags = (unsigned)flags;
	if ((t != NULL) != ((flags & SHARD_VARIABLE) != 0))
		return fail("%s: \"t\" and flag %d do not go together", what,
		    SHARD_VARIABLE);
	if ((flags & SHARD_LABELS) && s->label != -1)
		return fail("%s: one label and several", what);
	if ((t != NULL && info_get_times(what, t, i) != 0) ||
	    ((flags & SHARD_LABELS) &&
	    info_get_labels(what, json_get(o, "labels"), i) != 0))
		return -1;
	strcpy(i->key, key);
	strcpy(i->ext, i->streams.kind[0].ext);
	i->status = xstrdup(status);
	i->source = info_path_from_text(source);
	s->key = i->key;
	s->ext = i->ext;
	s->status = i->status;
	s->source = i->source;
	s->source_bytes = (uint64_t)bytes;
	s->source_hash = strtoull(hash, NULL, 16);
	return 0;
}

struct info *
info_read(const char *what, const char *text, size_t n)
{
	struct info *i = xcalloc(1, sizeof(*i));
	struct json *o = json_parse(what, text, n);

	if (o == NULL || info_get_all(what, o, i) != 0) {
		info_free(i);
		i = NULL;
	} else {
		i->text = json_print(o);
	}
	json_free(o);
	return i;
}

void
info_free(struct info *i)
{
	if (i == NULL)
		return;
	free(i->text);
	free(i->status);
	free(i->source);
	free(i->time);
	free(i->labels);
	free(i);
}
