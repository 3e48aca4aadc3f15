/* Read files of class names. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote

/* Accept a number, or its digits as a text. */
static int
list_classes_number(const struct json *v, int64_t largest, int64_t *to)
{
	const char *text = json_to_text(v);

	return text != NULL ? text_int(text, 0, largest, to) :
	    json_to_int(v, 0, largest, to);
}

/*
 * Append the class names of a JSON object {"name":"0",...}, ${n} bytes at
 * ${text}, to ${c}, in the order of their numbers.  Return 0, or -1 after a
 * message if a number is missing or repeated.
 */
static int
list_classes_json(const char *path, const char *text, size_t n,
    struct class_list *c)
{
	struct json *o = json_parse(Q(path), text, n);
	const struct json *v;
	const char *key, **name;
	size_t all = o != NULL && json_is(o, '{') ? json_size(o) : 0;
	int64_t i;
	int result = 0;

	if (o == NULL)
		return -1;
	name = xcalloc(all + 1, sizeof(*name));
	if (all == 0)
		result = fail("%s: not a JSON object of class names and "
		    "numbers", Q(path));
	/* The numbers must be 0 to all - 1, each of them once. */
	for (void *at = NULL; result == 0 &&
	    (v = json_next(o, &at, &key)) != NULL;)
		if (list_classes_number(v, (int64_t)all - 1, &i) != 0)
			result = fail("%s: class %s has no number from 0 "
			    "to %zu", Q(path), Q(key), all - 1);
		else if (name[i] != NULL)
			result = fail("%s: class %lld is %s and %s", Q(path),
			    (long long)i, Q(name[i]), Q(key));
		else
			name[i] = key;
	for (size_t k = 0; k < all && result == 0; k++)
		class_add(c, name[k]);
	free(name);
	json_free(o);
	return result == 0 ? class_check(Q(path), c, NULL) : -1;
}

/*
 * Return the name after "12 name" or "c012 name" if the number is ${number};
 * otherwise NULL.
 */
static char *
list_classes_after(char *line, int64_t number)
{
	char code[24];
	size_t n;

	snprintf(code, sizeof(code), *line == 'c' ? "c%03lld" : "%lld",
	    (long long)number);
	n = strlen(code);
	if (strncmp(line, code, n) != 0 || strspn(line + n, " \t") == 0)
		return NULL;
	return line + n + strspn(line + n, " \t");
}

static int
list_classes_read(const char *path, struct class_list *c)
{
	struct buffer b = { 0 };
	int from, result = -1;

	if (file_read_text(path, &b) != 0)
		goto out;
	if (list_is_json(b.data)) {
		result = list_classes_json(path, b.data, b.n, c);
		goto out;
	}
	if (class_read_lines(path, b.data, c) != 0)
		goto out;
	result = 0;
	/*
	 * Numbers begin at 0 or 1, as the first line shows.  If a line is not
	 * numbered accordingly, all lines are names as they stand.
	 */
	from = list_classes_after(c->name[0], 0) == NULL;
	for (size_t i = 0; i < c->n; i++)
		if (list_classes_after(c->name[i], (int64_t)i + from) == NULL)
			goto out;
	for (size_t i = 0; i < c->n; i++) {
		char *name = xstrdup(list_classes_after(c->name[i],
		    (int64_t)i + from));

		free(c->name[i]);
		c->name[i] = name;
	}
	result = class_check(Q(path), c, NULL);
out:
	buffer_free(&b);
	return result;
}

int
list_classes(const char *path, int sorted, struct class_list *c)
{
	if (list_classes_read(path, c) != 0)
		return -1;
	if (sorted)
		qsort(c->name, c->n, sizeof(*c->name), list_by_bytes);
	return 0;
}
