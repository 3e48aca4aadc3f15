/* KEY.json: a sample written as JSON and parsed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "shard/level.h"
#include "shard/sample.h"

static const char *const frame_types[] = { "jpg", "png" };

int
sample_ext_known(const char *ext)
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

int
stream_list_find(const struct stream_list *l, const char *tag)
{
	for (int i = 0; i < l->n; i++)
		if (strcmp(l->kind[i].tag, tag) == 0)
			return i;
	return -1;
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

		if (ext == NULL || tag == NULL || !sample_ext_known(ext) ||
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

/* Return a path as UTF-8, as sample_write describes.  The caller frees it. */
static char *
sample_path_to_text(const char *s)
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

/* Reverse sample_path_to_text.  Other escapes are unchanged.  The caller
 * frees the result. */
static char *
sample_path_from_text(const char *text)
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

/* Write the sizes of the levels, if there are several. */
static void
sample_write_levels(const struct sample *s, struct json_writer *w)
{
	struct level_list l = level_list_of(s->streams);

	if (l.n < 2)
		return;
	json_open(w, "levels", '[');
	for (int i = 0; i < l.n; i++) {
		int width, height;

		level_size(l.level[i].side, s->width, s->height, &width,
		    &height);
		json_put_pair(w, NULL, width, height);
	}
	json_close(w);
}

void
sample_flow_write(struct json_writer *w, const struct sample_flow *f)
{
	json_open(w, "flow", '{');
	json_put_int(w, "bound", f->bound);
	json_put_text(w, "method", f->method);
	json_close(w);
}

/* Write the members in the order of their keys, as canonical JSON requires.
 * "t" and "labels" exist only with their flags, "flow" only with flow, "group"
 * only with one, and "levels" only if there are several. */
void
sample_write(const struct sample *s, struct buffer *b)
{
	struct json_writer w = { 0 };
	char *source = sample_path_to_text(s->source), hash[17];
	char *group = s->group != NULL ? sample_path_to_text(s->group) : NULL;

	json_open(&w, NULL, '{');
	json_put_int(&w, "flags", s->flags);
	if (s->flow.method != NULL)
		sample_flow_write(&w, &s->flow);
	json_put_pair(&w, "fps", s->fps.num, s->fps.den);
	json_put_int(&w, "frames", s->frames);
	if (group != NULL)
		json_put_text(&w, "group", group);
	json_put_int(&w, "height", s->height);
	json_put_text(&w, "key", s->key);
	json_put_int(&w, "label", s->label);
	if (s->flags & SHARD_LABELS) {
		json_open(&w, "labels", '[');
		for (int i = 0; i < s->nlabels; i++) {
			json_open(&w, NULL, '[');
			json_put_int(&w, NULL, s->labels[i].class);
			json_put_int(&w, NULL, s->labels[i].first);
			json_put_int(&w, NULL, s->labels[i].last);
			json_close(&w);
		}
		json_close(&w);
	}
	sample_write_levels(s, &w);
	if (s->phash != 0)
		json_put_text(&w, "phash", hash64_text(s->phash, hash));
	json_put_text(&w, "src", source);
	json_put_int(&w, "src_bytes", (int64_t)s->source_bytes);
	json_put_text(&w, "src_xxh3", hash64_text(s->source_hash, hash));
	json_put_text(&w, "status", s->status);
	stream_list_write(&w, "streams", s->streams);
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
	free(group);
	free(source);
}

/* A KEY.json that is read.  The functions below read one member each.  They
 * return 0, or -1 with a message in ${why}, printed if ${why} is NULL. */
struct sample_reader {
	const char *what;		/* begins messages */
	const struct json *o;
	struct sample *s;
	struct error *why;
};

static int
sample_get_int(const struct sample_reader *r, const char *name, int64_t min,
    int64_t max, int64_t *to)
{
	if (json_to_int(json_get(r->o, name), min, max, to) != 0)
		return error_set(r->why, "%s: \"%s\" is missing or wrong "
		    "(wanted an integer from %lld to %lld)", r->what, name,
		    (long long)min, (long long)max);
	return 0;
}

static int
sample_get_small(const struct sample_reader *r, const char *name, int min,
    int max, int *to)
{
	int64_t v;

	if (sample_get_int(r, name, min, max, &v) != 0)
		return -1;
	*to = (int)v;
	return 0;
}

static const char *
sample_get_text(const struct sample_reader *r, const char *name)
{
	const char *s = json_to_text(json_get(r->o, name));

	if (s == NULL)
		error_set(r->why, "%s: \"%s\" is missing or not a text",
		    r->what, name);
	return s;
}

static int
sample_get_rate(const struct sample_reader *r)
{
	const struct json *v = json_get(r->o, "fps");
	int64_t n, d;

	if (!json_is(v, '[') || json_size(v) != 2 ||
	    json_to_int(json_at(v, 0), 0, INT32_MAX, &n) != 0 ||
	    json_to_int(json_at(v, 1), 0, INT32_MAX, &d) != 0 ||
	    (n == 0) != (d == 0))
		return error_set(r->why, "%s: \"fps\" is missing or wrong "
		    "(wanted [numerator,denominator], [0,0] if unknown)",
		    r->what);
	r->s->fps = (struct fraction){ (int)n, (int)d };
	return 0;
}

/* Times begin at 0 and never decrease; equal times are valid. */
static int
sample_get_times(const struct sample_reader *r)
{
	const struct json *v = json_get(r->o, "t");
	struct sample *s = r->s;
	uint32_t *time;
	int64_t t = 0;

	if (!json_is(v, '[') || json_size(v) != (size_t)s->frames)
		return error_set(r->why, "%s: \"t\" is not a list of %d times",
		    r->what, s->frames);
	s->time = time = xcalloc((size_t)s->frames, sizeof(*time));
	for (size_t k = 0; k < json_size(v); k++) {
		if (json_to_int(json_at(v, k), t, k == 0 ? 0 : UINT32_MAX,
		    &t) != 0)
			return error_set(r->why, "%s: time %zu of \"t\" is "
			    "wrong (wanted 0 first, then no less than the one "
			    "before)", r->what, k);
		time[k] = (uint32_t)t;
	}
	return 0;
}

/* Check the intervals against the number of frames, which sample_get_all has
 * read before. */
static int
sample_get_labels(const struct sample_reader *r)
{
	const struct json *v = json_get(r->o, "labels");
	size_t n = json_size(v);
	struct label_interval *to;

	if (!json_is(v, '[') || n > 1000000)
		return error_set(r->why, "%s: \"labels\" is missing or not a "
		    "list, but flag %d is set", r->what, SHARD_LABELS);
	r->s->labels = to = xcalloc(n + 1, sizeof(*to));	/* not NULL */
	for (size_t k = 0; k < n; k++) {
		const struct json *l = json_at(v, k);
		int64_t class, first, last, end = r->s->frames - 1;

		if (json_size(l) != 3 ||
		    json_to_int(json_at(l, 0), 0, INT32_MAX, &class) != 0 ||
		    json_to_int(json_at(l, 1), 0, end, &first) != 0 ||
		    json_to_int(json_at(l, 2), first, end, &last) != 0)
			return error_set(r->why, "%s: item %zu of \"labels\" "
			    "is wrong (wanted [class,first frame,last frame])",
			    r->what, k);
		to[k] = (struct label_interval){ (int)class, (int)first,
			(int)last };
	}
	r->s->nlabels = (int)n;
	return 0;
}

/* The sizes of levels are functions of the size of the first, because the index
 * has only that. */
static int
sample_check_levels(const struct sample_reader *r)
{
	const struct json *v = json_get(r->o, "levels");
	const struct sample *s = r->s;
	struct level_list l = level_list_of(s->streams);
	int64_t got[2];

	if (l.n < 2)
		return 0;
	for (int i = 0; i < l.n; i++) {
		const struct json *size = json_at(v, (size_t)i);
		int w, h;

		level_size(l.level[i].side, s->width, s->height, &w, &h);
		if (json_size(v) != (size_t)l.n || json_size(size) != 2 ||
		    json_to_int(json_at(size, 0), w, w, &got[0]) != 0 ||
		    json_to_int(json_at(size, 1), h, h, &got[1]) != 0)
			return error_set(r->why, "%s: \"levels\" is missing or "
			    "wrong (wanted %d sizes, and [%d,%d] for "
			    "stream %s)", r->what, l.n, w, h,
			    s->streams->kind[l.level[i].stream].tag);
	}
	return 0;
}

/*
 * Check everything that later code relies on, because the stream and the shard
 * may come from another program.  On an error, the fields set so far belong to
 * ${r->s}, and sample_free frees them.
 */
static int
sample_get_all(const struct sample_reader *r)
{
	const struct json *t = json_get(r->o, "t");
	const char *phash = json_to_text(json_get(r->o, "phash"));
	const char *group = json_to_text(json_get(r->o, "group"));
	const char *key, *source, *status, *hash;
	struct stream_list *streams = xcalloc(1, sizeof(*streams));
	struct sample *s = r->s;
	int64_t flags, bytes;

	s->streams = streams;
	if (!json_is(r->o, '{'))
		return error_set(r->why, "%s: not a JSON object", r->what);
	if ((key = sample_get_text(r, "key")) == NULL ||
	    (source = sample_get_text(r, "src")) == NULL ||
	    (status = sample_get_text(r, "status")) == NULL ||
	    (hash = sample_get_text(r, "src_xxh3")) == NULL ||
	    sample_get_int(r, "flags", 0, 63, &flags) != 0 ||
	    sample_get_int(r, "src_bytes", 0, INT64_MAX, &bytes) != 0 ||
	    sample_get_small(r, "frames", 1, FRAME_MAX, &s->frames) != 0 ||
	    sample_get_small(r, "width", 1, 65535, &s->width) != 0 ||
	    sample_get_small(r, "height", 1, 65535, &s->height) != 0 ||
	    sample_get_small(r, "label", -1, INT32_MAX, &s->label) != 0 ||
	    sample_get_rate(r) != 0)
		return -1;
	if (!key_is_valid(key))
		return error_set(r->why, "%s: \"key\" %s is not a valid key",
		    r->what, text_quote(key));
	if (hash64_parse(hash, &s->source_hash) != 0)
		return error_set(r->why, "%s: \"src_xxh3\" %s (wanted 16 "
		    "hexadecimal digits)", r->what, text_quote(hash));
	if (json_get(r->o, "phash") != NULL && (phash == NULL ||
	    hash64_parse(phash, &s->phash) != 0))
		return error_set(r->why, "%s: \"phash\" is wrong (wanted 16 "
		    "hexadecimal digits)", r->what);
	if (stream_list_read(json_get(r->o, "streams"), streams) != 0)
		return error_set(r->why, "%s: \"streams\" is missing or wrong",
		    r->what);
	if (sample_check_levels(r) != 0)
		return -1;
	/* The flags must agree with the fields they announce, because the
	 * index stores only the flags. */
	s->flags = (unsigned)flags;
	if ((t != NULL) != ((flags & SHARD_VARIABLE) != 0))
		return error_set(r->why, "%s: \"t\" and flag %d do not go "
		    "together", r->what, SHARD_VARIABLE);
	if ((flags & SHARD_LABELS) && s->label != -1)
		return error_set(r->why, "%s: both \"label\" and \"labels\" "
		    "are given", r->what);
	if ((t != NULL && sample_get_times(r) != 0) ||
	    ((flags & SHARD_LABELS) && sample_get_labels(r) != 0))
		return -1;
	s->key = xstrdup(key);
	s->status = xstrdup(status);
	s->source = sample_path_from_text(source);
	s->group = group != NULL ? sample_path_from_text(group) : NULL;
	s->source_bytes = (uint64_t)bytes;
	return 0;
}

struct sample *
sample_read(const char *what, const char *text, size_t n, char **canonical,
    struct error *why)
{
	struct sample *s = xcalloc(1, sizeof(*s));
	struct json *o = json_try(what, text, n, why);
	const struct sample_reader r = { what, o, s, why };

	if (o == NULL || sample_get_all(&r) != 0) {
		sample_free(s);
		s = NULL;
	} else if (canonical != NULL) {
		*canonical = json_print(o);
	}
	json_free(o);
	return s;
}

char *
sample_source_read(const char *key, const char *text, size_t n)
{
	struct json *o = json_parse(key, text, n);
	const char *source = json_to_text(json_get(o, "src"));
	char *path = o == NULL ? NULL : source != NULL && *source != '\0' ?
	    sample_path_from_text(source) : xstrdup(key);

	json_free(o);
	return path;
}

void
sample_free(struct sample *s)
{
	if (s == NULL)
		return;
	/* sample_read allocated these; the type says const for other
	 * creators. */
	free((void *)s->key);
	free((void *)s->source);
	free((void *)s->group);
	free((void *)s->status);
	free((void *)s->streams);
	free((void *)s->labels);
	free((void *)s->time);
	free(s);
}
