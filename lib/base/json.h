#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/mem.h"

/*
 * JSON, written and read.  What vt writes is canonical: UTF-8, keys in byte
 * order, no blanks, so that equal content is equal bytes.
 */

/* Brackets within brackets; documents that nest deeper are not read. */
#define JSON_DEPTH 64

/*
 * Writing: json_open and json_close bracket an object '{' or array '[';
 * a key is NULL inside an array and at the top.  Keys of one object must come
 * in byte order, which is asserted.
 */
struct json_writer {
	struct buffer out;
	int depth;
	struct { char bracket, filled; char last[128]; } level[JSON_DEPTH];
};

void json_open(struct json_writer *w, const char *key, char bracket);
void json_close(struct json_writer *w);
void json_put_int(struct json_writer *w, const char *key, int64_t v);
void json_put_real(struct json_writer *w, const char *key, double v);
void json_put_bool(struct json_writer *w, const char *key, int v);
void json_put_text(struct json_writer *w, const char *key, const char *s);
/* ${s} may be other bytes than UTF-8: U+FFFD stands for each of them. */
void json_put_bytes(struct json_writer *w, const char *key, const char *s);
/* ${text} is JSON already, such as a value kept from a file that was read. */
void json_put_raw(struct json_writer *w, const char *key, const char *text);

/*
 * Reading.  Values belong to the document json_parse returned, and live until
 * json_free of it.  Duplicate keys and what nests deeper than JSON_DEPTH are
 * refused, so that whatever was read can be printed and read again.
 */
struct json;

/* json_parse(what, text, n): NULL after a message that begins with ${what}. */
struct json *json_parse(const char *what, const char *text, size_t n);

/* json_try(what, text, n, e): the same with the message in ${e}. */
struct json *json_try(const char *what, const char *text, size_t n,
    struct error *e);
void json_free(struct json *document);

/* These return NULL, or -1, without a message if there is no such value. */
const struct json *json_get(const struct json *object, const char *key);
const struct json *json_at(const struct json *array, size_t i);
size_t json_size(const struct json *array_or_object);
/*
 * json_next(object, at, key): the members one by one, NULL after the last:
 *
 *	for (void *at = NULL; (v = json_next(o, &at, &key)) != NULL;)
 */
const struct json *json_next(const struct json *object, void **at,
    const char **key);
/* json_depth(v): brackets within brackets: 0 for a number, 1 for []. */
int json_depth(const struct json *v);
int json_is(const struct json *v, char kind);	/* '{' '[' 's' 'i' 'r' 'b' */
int json_to_int(const struct json *v, int64_t min, int64_t max, int64_t *to);
int json_to_real(const struct json *v, double *to);
int json_to_bool(const struct json *v, int *to);
const char *json_to_text(const struct json *v);
/* json_print(v): ${v} in canonical form, the caller's to free. */
char *json_print(const struct json *v);

#endif
