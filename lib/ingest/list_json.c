/*
 * Something-Something v2: its annotation list and its class numbers, both JSON.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_json.h"
#include "ingest/list_layout.h"

#define Q text_quote

/*
 * A template is the class name with placeholders in brackets: remove the
 * brackets.  The caller frees the result.
 */
static char *
list_json_class_of(const char *template)
{
	char *class = xstrdup(template), *to = class;

	for (const char *s = template; *s != '\0'; s++)
		if (*s != '[' && *s != ']')
			*to++ = *s;
	*to = '\0';
	return class;
}

/* An item has no line number; messages count items from 1. */
static int
list_json_read_item(struct list_reading *r, const struct json *o, size_t i)
{
	const char *id = json_to_text(json_get(o, "id"));
	const struct json *template = json_get(o, "template");
	const char *text = json_to_text(template);
	struct list_row *row;

	/* An item of a test list has an id and nothing else. */
	if (!json_is(o, '{') || id == NULL || *id == '\0' ||
	    strchr(id, '/') != NULL || (text == NULL && (template != NULL ||
	    json_size(o) > 1)))
		return fail("%s: item %zu (wanted \"id\" alone, or with "
		    "\"template\", both texts)", r->name, i + 1);
	row = list_find(r, id, 0);
	row->label = text != NULL ? list_json_class_of(text) : NULL;
	row->item = (int)i + 1;
	return 0;
}

/* An item of Something-Something v2: it has a template, or an id alone. */
static int
list_json_is_ssv2(const struct json *o)
{
	return json_get(o, "id") != NULL && (json_get(o, "template") != NULL ||
	    json_size(o) == 1);
}

int
list_json(struct list_reading *r, const char *text, size_t n)
{
	enum list_format requested = r->how->format;
	struct error broken = { "" };
	struct json *all;
	int result = 0;

	all = json_try(r->name, text, n, &broken);
	if (requested != LIST_SSV2 && !(requested == LIST_AUTO && (all != NULL ?
	    list_json_is_ssv2(json_at(all, 0)) : strstr(text, "\"template\"") !=
	    NULL)) && list_foreign(r->name, text))
		result = -1;
	else if (all == NULL)
		result = fail("%s", broken.text);
	r->y.format = LIST_SSV2;
	if (result != 0)
		goto out;
	if (!json_is(all, '['))
		result = fail("%s: not a JSON array (wanted %s)", r->name,
		    list_kind[LIST_SSV2].wanted);
	for (size_t i = 0; i < json_size(all) && result == 0; i++)
		result = list_json_read_item(r, json_at(all, i), i);
out:
	json_free(all);
	return result;
}

/* Accept a number, or its digits as a text. */
static int
list_json_to_number(const struct json *v, int64_t largest, int64_t *to)
{
	const char *text = json_to_text(v);

	return text != NULL ? text_int(text, 0, largest, to) :
	    json_to_int(v, 0, largest, to);
}

int
list_json_classes(const char *path, const char *text, size_t n,
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
		if (list_json_to_number(v, (int64_t)all - 1, &i) != 0)
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
