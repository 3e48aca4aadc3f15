/*
 * Something-Something v2: a JSON array of objects with an id and, except in
 * test lists, a template, which is the class with placeholders in brackets.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "ingest/list_format.h"

int
ssv2_detect(struct list_reading *r)
{
	const struct json *o = json_at(r->json, 0);

	return json_get(o, "id") != NULL && (json_get(o, "template") != NULL ||
	    json_size(o) == 1);
}

/* Return ${template} without brackets.  The caller frees it. */
static char *
ssv2_class(const char *template)
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
ssv2_item(struct list_reading *r, const struct json *o, size_t i)
{
	const char *id = json_to_text(json_get(o, "id"));
	const struct json *template = json_get(o, "template");
	const char *text = json_to_text(template);
	struct list_row *row;
	char *class;

	if (!json_is(o, '{') || id == NULL || *id == '\0' ||
	    strchr(id, '/') != NULL || (text == NULL && (template != NULL ||
	    json_size(o) > 1)))
		return fail("%s: item %zu (wanted \"id\" alone, or with "
		    "\"template\", both texts)", r->name, i + 1);
	row = list_find(r, id, ".webm");
	row->item = (int)i + 1;
	if (text != NULL) {
		class = ssv2_class(text);
		list_row_label(row, class);
		free(class);
	}
	return 0;
}

int
ssv2_read(struct list_reading *r)
{
	int result = 0;

	if (!json_is(r->json, '['))
		return fail("%s: not a JSON array (wanted %s)", r->name,
		    r->format->wanted);
	for (size_t i = 0; i < json_size(r->json) && result == 0; i++)
		result = ssv2_item(r, json_at(r->json, i), i);
	return result;
}
