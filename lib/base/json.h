#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/mem.h"

/*
 * JSON reader and writer.  Output is canonical: UTF-8, keys in byte order, no
 * blanks.  Equal content therefore gives equal bytes.  Several threads must not
 * use one writer or document at the same time.
 */

/* Maximum depth of nested brackets.  Deeper documents are rejected. */
#define JSON_DEPTH 64

/*
 * A JSON writer.  Initialize it with { 0 }.  The text is in ${out}, which the
 * caller frees with buffer_free.  In the functions below, ${key} is the
 * member's name, or NULL inside an array and at the top level.  The keys of an
 * object must come in byte order, which is asserted, and have fewer than 128
 * bytes.
 */
struct json_writer {
	struct buffer out;
	int depth;
	struct { char bracket, filled; char last[128]; } level[JSON_DEPTH];
};

/*
 * json_open(w, key, bracket), json_close(w):
 * Begin and end an object, ${bracket} '{', or an array, '['.
 */
void json_open(struct json_writer *w, const char *key, char bracket);
void json_close(struct json_writer *w);

/*
 * json_put_int(w, key, v), json_put_real(w, key, v), json_put_bool(w, key, v):
 * Write a value.  Reals are written with the fewest of 15 to 17 digits that
 * read back exactly.  NaN and infinities become null.
 */
void json_put_int(struct json_writer *w, const char *key, int64_t v);
void json_put_real(struct json_writer *w, const char *key, double v);
void json_put_bool(struct json_writer *w, const char *key, int v);

/*
 * json_put_fixed(w, key, v): write a finite real with 4 digits after the point.
 * json_put_pair(w, key, a, b): write the array [a,b].
 */
void json_put_fixed(struct json_writer *w, const char *key, double v);
void json_put_pair(struct json_writer *w, const char *key, int64_t a,
    int64_t b);

/* json_put_text(w, key, s): Write the string ${s}, which must be UTF-8. */
void json_put_text(struct json_writer *w, const char *key, const char *s);

/*
 * json_put_bytes(w, key, s):
 * As json_put_text, but replace each byte that is not UTF-8 by U+FFFD.
 */
void json_put_bytes(struct json_writer *w, const char *key, const char *s);

/*
 * json_put_raw(w, key, text):
 * Write ${text}, which is JSON, such as a value kept from a file that was read.
 */
void json_put_raw(struct json_writer *w, const char *key, const char *text);

/*
 * A member of an object.  A number that is not finite and a text that is NULL
 * are absent.
 */
struct json_member {
	const char *key;
	enum { JSON_NUMBER, JSON_FLAG, JSON_TEXT, JSON_RAW } kind;
	double number;			/* of a flag: not 0 is true, NAN
					 * absent */
	const char *text;		/* JSON_RAW: JSON */
};

#define JSON_MEMBER(key, x) { key, JSON_NUMBER, (double)(x), NULL }
#define JSON_MEMBER_TEXT(key, s) { key, JSON_TEXT, 0, s }

/* json_put_members(w, m, n): sort ${m}[n] by key, and write them. */
void json_put_members(struct json_writer *w, struct json_member *m, size_t n);

/*
 * A JSON value.  Values belong to the document that json_parse returned, and
 * are valid until json_free.  Duplicate keys and documents deeper than
 * JSON_DEPTH are rejected, so that json_print can print all that was read.
 */
struct json;

/*
 * json_parse(what, text, n):
 * Parse ${n} bytes of UTF-8 JSON.  Return NULL after a message that begins with
 * ${what}.  json_free frees the document.
 */
struct json *json_parse(const char *what, const char *text, size_t n);

/* json_try(what, text, n, e): As json_parse, but add the message to ${e}. */
struct json *json_try(const char *what, const char *text, size_t n,
    struct error *e);

/*
 * json_free(document):
 * Free the document and all its values.  NULL does nothing.
 */
void json_free(struct json *document);

/*
 * The functions below print no message.  Their first argument may be NULL or
 * have the wrong type; then they return NULL, -1 or 0.  They can therefore be
 * chained.
 */

/* json_get(object, key): Return the member's value, NULL if absent. */
const struct json *json_get(const struct json *object, const char *key);

/* json_at(array, i): Return element ${i}, NULL if absent. */
const struct json *json_at(const struct json *array, size_t i);

/* json_size(v): Return the number of elements or members. */
size_t json_size(const struct json *array_or_object);

/*
 * json_next(object, at, key):
 * Iterate over the members in the order of the text.  Start with ${*at} NULL.
 * Set ${*key}, valid as long as the document.  Return the value, NULL after the
 * last.
 *
 *	for (void *at = NULL; (v = json_next(o, &at, &key)) != NULL;)
 */
const struct json *json_next(const struct json *object, void **at,
    const char **key);
/*
 * json_depth(v):
 * Return the depth of nested brackets: 0 for a number, 1 for [].
 */
int json_depth(const struct json *v);

/*
 * json_is(v, kind):
 * Return 1 if ${v} is of this kind, 0 otherwise: '{' object, '[' array, 's'
 * string, 'i' integer, 'r' integer or real, 'b' boolean, '0' null.
 */
int json_is(const struct json *v, char kind);

/*
 * json_to_int(v, min, max, to), json_to_real(v, to), json_to_bool(v, to):
 * Set ${*to} to the value.  Return 0, or -1 if ${v} has another type or, for
 * json_to_int, lies outside [min, max].  json_to_real accepts integers.
 */
int json_to_int(const struct json *v, int64_t min, int64_t max, int64_t *to);
int json_to_real(const struct json *v, double *to);
int json_to_bool(const struct json *v, int *to);

/*
 * json_to_text(v):
 * Return the string, NULL if ${v} is not one.  Valid as long as the document.
 */
const char *json_to_text(const struct json *v);

/* json_print(v): Return ${v} in canonical form.  The caller frees it. */
char *json_print(const struct json *v);

#endif
