/* JSON.  The writer is our own, because the output must be canonical;
 * jansson parses. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

/* Escape only what JSON requires (RFC 8259, section 7). */
static void
json_put_string(struct buffer *b, const char *s)
{
	buffer_text(b, "\"");
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			buffer_printf(b, "\\%c", c);
		else if (c == '\n')
			buffer_text(b, "\\n");
		else if (c == '\t')
			buffer_text(b, "\\t");
		else if (c < ' ')
			buffer_printf(b, "\\u%04x", c);
		else
			buffer_add(b, s, 1);
	}
	buffer_text(b, "\"");
}

/* Write the comma and the key that precede a value, and check the order of
 * the keys. */
static void
json_begin(struct json_writer *w, const char *key)
{
	if (w->depth > 0) {
		int i = w->depth - 1;

		assert((key != NULL) == (w->level[i].bracket == '{'));
		if (w->level[i].filled)
			buffer_text(&w->out, ",");
		if (key != NULL) {
			assert(!w->level[i].filled ||
			    strcmp(w->level[i].last, key) < 0);
			snprintf(w->level[i].last, sizeof(w->level[i].last),
			    "%s", key);
			json_put_string(&w->out, key);
			buffer_text(&w->out, ":");
		}
		w->level[i].filled = 1;
	}
}

/* The depth is asserted: all documents that vt writes have a fixed depth, or
 * were read with JSON_DEPTH. */
void
json_open(struct json_writer *w, const char *key, char bracket)
{
	const char text[2] = { bracket, '\0' };

	json_begin(w, key);
	assert((size_t)w->depth < sizeof(w->level) / sizeof(w->level[0]));
	w->level[w->depth].bracket = bracket;
	w->level[w->depth].filled = 0;
	w->depth++;
	buffer_text(&w->out, text);
}

void
json_close(struct json_writer *w)
{
	assert(w->depth > 0);
	w->depth--;
	buffer_text(&w->out, w->level[w->depth].bracket == '{' ? "}" : "]");
}

void
json_put_int(struct json_writer *w, const char *key, int64_t v)
{
	json_begin(w, key);
	buffer_printf(&w->out, "%lld", (long long)v);
}

void
json_put_real(struct json_writer *w, const char *key, double v)
{
	char text[32];

	json_begin(w, key);
	/* JSON cannot represent NaN and infinities; readers expect null. */
	buffer_text(&w->out, isfinite(v) ? text_real_write(text, v) : "null");
}

void
json_put_fixed(struct json_writer *w, const char *key, double v)
{
	json_begin(w, key);
	buffer_printf(&w->out, "%.4f", v);
}

void
json_put_pair(struct json_writer *w, const char *key, int64_t a, int64_t b)
{
	json_begin(w, key);
	buffer_printf(&w->out, "[%" PRId64 ",%" PRId64 "]", a, b);
}

void
json_put_bool(struct json_writer *w, const char *key, int v)
{
	json_begin(w, key);
	buffer_text(&w->out, v ? "true" : "false");
}

void
json_put_text(struct json_writer *w, const char *key, const char *s)
{
	json_begin(w, key);
	json_put_string(&w->out, s);
}

/* Paths and names of files are bytes, and JSON is UTF-8. */
void
json_put_bytes(struct json_writer *w, const char *key, const char *s)
{
	struct buffer b = { 0 };

	buffer_add(&b, "", 0);
	while (*s != '\0') {
		int n = text_utf8(s);

		buffer_add(&b, n > 0 ? s : "\357\277\275", n > 0 ? (size_t)n :
		    3);
		s += n > 0 ? n : 1;
	}
	json_put_text(w, key, b.data);
	buffer_free(&b);
}

void
json_put_raw(struct json_writer *w, const char *key, const char *text)
{
	json_begin(w, key);
	buffer_text(&w->out, text);
}

static int
json_member_by_key(const void *a, const void *b)
{
	return strcmp(((const struct json_member *)a)->key,
	    ((const struct json_member *)b)->key);
}

void
json_put_members(struct json_writer *w, struct json_member *m, size_t n)
{
	qsort(m, n, sizeof(*m), json_member_by_key);
	for (const struct json_member *end = m + n; m < end; m++)
		if (m->kind == JSON_NUMBER && isfinite(m->number))
			json_put_real(w, m->key, m->number);
		else if (m->kind == JSON_FLAG && !isnan(m->number))
			json_put_bool(w, m->key, m->number != 0);
		else if (m->kind == JSON_TEXT && m->text != NULL)
			json_put_text(w, m->key, m->text);
		else if (m->kind == JSON_RAW && m->text != NULL)
			json_put_raw(w, m->key, m->text);
}

/* struct json is json_t under another name, so that jansson.h stays in this
 * file. */
static const json_t *
json_of_ours(const struct json *v)
{
	return (const json_t *)v;
}

static const struct json *
json_to_ours(const json_t *v)
{
	return (const struct json *)v;
}

/*
 * jansson does not reliably distinguish ENOMEM from a syntax error, and an
 * intact checkpoint was once set aside as damaged.  With xmalloc its
 * allocations cannot fail.
 */
static void
json_use_xmalloc(void)
{
	json_set_alloc_funcs(xmalloc, free);
}

struct json *
json_parse(const char *what, const char *text, size_t n)
{
	return json_try(what, text, n, NULL);
}

/* Duplicate keys are rejected: canonical output could not represent them,
 * and readers disagree on which counts. */
struct json *
json_try(const char *what, const char *text, size_t n, struct error *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	json_error_t error;
	json_t *v;

	pthread_once(&once, json_use_xmalloc);
	v = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
	if (v == NULL) {
		error_set(e, "%s: not valid JSON at line %d, column %d: %s",
		    what, error.line, error.column, error.text);
		return NULL;
	}
	/* json_depth recurses, but jansson stops at depth 2048, so the stack
	 * suffices. */
	if (json_depth(json_to_ours(v)) > JSON_DEPTH) {
		json_decref(v);
		error_set(e, "%s: JSON nested more than %d deep", what,
		    JSON_DEPTH);
		return NULL;
	}
	return (struct json *)v;
}

void
json_free(struct json *document)
{
	json_decref((json_t *)document);
}

const struct json *
json_get(const struct json *object, const char *key)
{
	return json_to_ours(json_object_get(json_of_ours(object), key));
}

const struct json *
json_at(const struct json *array, size_t i)
{
	return json_to_ours(json_array_get(json_of_ours(array), i));
}

/* Objects and arrays are counted by different functions of jansson; other
 * types give 0. */
size_t
json_size(const struct json *v)
{
	return json_is_object(json_of_ours(v)) ?
	    json_object_size(json_of_ours(v)) :
	    json_array_size(json_of_ours(v));
}

const struct json *
json_next(const struct json *object, void **at, const char **key)
{
	json_t *o = (json_t *)json_of_ours(object);

	*at = *at == NULL ? json_object_iter(o) :
	    json_object_iter_next(o, *at);
	if (*at == NULL)
		return NULL;
	*key = json_object_iter_key(*at);
	return json_to_ours(json_object_iter_value(*at));
}

/* Recursion is at most as deep as the document, which json_try limits. */
int
json_depth(const struct json *v)
{
	const struct json *item;
	const char *key;
	int largest = 0, depth;

	if (!json_is(v, '{') && !json_is(v, '['))
		return 0;
	for (void *at = NULL; (item = json_next(v, &at, &key)) != NULL;)
		if ((depth = json_depth(item)) > largest)
			largest = depth;
	for (size_t i = 0; (item = json_at(v, i)) != NULL; i++)
		if ((depth = json_depth(item)) > largest)
			largest = depth;
	return largest + 1;
}

int
json_is(const struct json *v, char kind)
{
	const json_t *j = json_of_ours(v);

	switch (kind) {
	case '{': return json_is_object(j);
	case '[': return json_is_array(j);
	case 's': return json_is_string(j);
	case 'i': return json_is_integer(j);
	case 'r': return json_is_number(j);
	case 'b': return json_is_boolean(j);
	case '0': return json_is_null(j);
	default: return 0;
	}
}

int
json_to_int(const struct json *v, int64_t min, int64_t max, int64_t *to)
{
	int64_t i;

	if (!json_is_integer(json_of_ours(v)))
		return -1;
	i = json_integer_value(json_of_ours(v));
	if (i < min || i > max)
		return -1;
	*to = i;
	return 0;
}

int
json_to_real(const struct json *v, double *to)
{
	if (!json_is_number(json_of_ours(v)))
		return -1;
	*to = json_number_value(json_of_ours(v));
	return 0;
}

int
json_to_bool(const struct json *v, int *to)
{
	if (!json_is_boolean(json_of_ours(v)))
		return -1;
	*to = json_is_true(json_of_ours(v));
	return 0;
}

const char *
json_to_text(const struct json *v)
{
	return json_string_value(json_of_ours(v));
}

/* Sort the keys: jansson keeps the order of insertion, and canonical form is
 * in byte order. */
static int
json_by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Print ${v} and everything in it, with the keys of each object sorted. */
static void
json_print_value(struct json_writer *w, const char *key, const json_t *v)
{
	if (json_is_object(v)) {
		size_t n = json_object_size(v), i = 0;
		const char **keys = xcalloc(n, sizeof(*keys)), *k;
		json_t *item;

		json_object_foreach((json_t *)v, k, item)
			keys[i++] = k;
		qsort(keys, n, sizeof(*keys), json_by_key);
		json_open(w, key, '{');
		for (i = 0; i < n; i++)
			json_print_value(w, keys[i],
			    json_object_get(v, keys[i]));
		json_close(w);
		free(keys);
	} else if (json_is_array(v)) {
		json_open(w, key, '[');
		for (size_t i = 0; i < json_array_size(v); i++)
			json_print_value(w, NULL, json_array_get(v, i));
		json_close(w);
	} else if (json_is_string(v)) {
		json_put_text(w, key, json_string_value(v));
	} else if (json_is_integer(v)) {
		json_put_int(w, key, json_integer_value(v));
	} else if (json_is_real(v)) {
		json_put_real(w, key, json_real_value(v));
	} else if (json_is_boolean(v)) {
		json_put_bool(w, key, json_is_true(v));
	} else {
		json_put_raw(w, key, "null");
	}
}

/* Used for values that are compared or hashed as text. */
char *
json_print(const struct json *v)
{
	struct json_writer w = { 0 };

	json_print_value(&w, NULL, json_of_ours(v));
	return w.out.data;
}
