/* The protocol of an evaluation, the first line of a score file. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "eval/protocol.h"

void
protocol_free(struct protocol *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->item[i].name);
		free(p->item[i].value);
	}
	free(p->item);
	*p = (struct protocol){ 0 };
}

/* Set an item.  Take ${name} and ${value}. */
static void
protocol_take(struct protocol *p, char *name, char *value)
{
	size_t i = 0;

	while (i < p->n && strcmp(p->item[i].name, name) < 0)
		i++;
	if (i < p->n && strcmp(p->item[i].name, name) == 0) {
		free(p->item[i].name);
		free(p->item[i].value);
	} else {
		p->item = array_reserve(p->item, p->n, &p->cap,
		    sizeof(*p->item));
		memmove(&p->item[i + 1], &p->item[i],
		    (p->n++ - i) * sizeof(*p->item));
	}
	p->item[i] = (struct protocol_item){ name, value };
}

void
protocol_add(struct protocol *p, const char *name, const char *fmt, ...)
{
	char value[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	protocol_take(p, xstrdup(name), xstrdup(value));
}

const char *
protocol_get(const struct protocol *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->item[i].name, name) == 0)
			return p->item[i].value;
	return NULL;
}

int64_t
protocol_int(const struct protocol *p, const char *name)
{
	const char *value = protocol_get(p, name);
	int64_t x;

	return value != NULL && text_int(value, 0, INT64_MAX, &x) == 0 ? x : -1;
}

/* Return 1 if ${list}, which ends with NULL, has ${name}. */
static int
protocol_has(const char *const *list, const char *name)
{
	for (; *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return 1;
	return 0;
}

void
protocol_write(const struct protocol *p, struct buffer *to)
{
	static const char *const count[] = { "clips", "crop", "crops", "frames",
		"step", "stride", NULL };
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	for (size_t i = 0; i < p->n; i++) {
		const char *name = p->item[i].name, *value = p->item[i].value;
		int64_t n;

		/* File k of a fusion has "k.clips". */
		if (protocol_has(count, name + strspn(name, "0123456789.")) &&
		    text_int(value, INT64_MIN, INT64_MAX, &n) == 0)
			json_put_int(&w, name, n);
		else
			json_put_bytes(&w, name, value);
	}
	json_close(&w);
	buffer_printf(to, "# %s\n", w.out.data);
	buffer_free(&w.out);
}

/* Add the items of a JSON object. */
static int
protocol_read_json(struct protocol *p, const char *what, const char *text)
{
	struct json *o = json_parse(what, text, strlen(text));
	const struct json *v;
	const char *name;
	int64_t n;
	int bad = o == NULL;

	for (void *at = NULL; !bad &&
	    (v = json_next(o, &at, &name)) != NULL;) {
		if (json_to_int(v, INT64_MIN, INT64_MAX, &n) == 0)
			protocol_add(p, name, "%" PRId64, n);
		else if (json_to_text(v) != NULL && strlen(name) < 100)
			protocol_take(p, xstrdup(name),
			    xstrdup(json_to_text(v)));
		else
			bad = fail("%s: %s is not an item of a protocol", what,
			    text_quote(name));
	}
	json_free(o);
	return bad ? -1 : 0;
}

int
protocol_read(struct protocol *p, const char *what, const char *line)
{
	const char *name = line + 2;
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-");
	char *value;

	if (*name == '{')
		return protocol_read_json(p, what, name);
	if (n == 0 || n >= 100 || name[n] != ' ')
		return 0;
	value = xstrdup(name + n + 1);
	if (table_unescape(value) != 0) {
		free(value);
		return fail("%s: unknown escape", what);
	}
	protocol_take(p, xstrndup(name, n), value);
	return 0;
}

void
protocol_difference(const struct protocol *a, const struct protocol *b,
    struct buffer *to)
{
	/* Which network or dataset was used, and not how. */
	static const char *const identity[] = { "checkpoint", "checkpoint-hash",
		"data", "data-hash", "list-hash", "model", "step", NULL };

	for (size_t i = 0; i < a->n; i++) {
		const char *name = a->item[i].name, *value = a->item[i].value;
		const char *other = protocol_get(b, name);

		if (other != NULL && strcmp(value, other) != 0 &&
		    !protocol_has(identity, name))
			buffer_printf(to, "%s%s %s", to->n > 0 ? ", " : "",
			    name, value);
	}
}

/* Return 1 if all of ${p}[n] have the same value in the item ${name}. */
static int
protocol_agree(const struct protocol *const *p, size_t n, const char *name)
{
	const char *first = protocol_get(p[0], name);

	for (size_t k = 0; k < n; k++) {
		const char *value = protocol_get(p[k], name);

		if (first == NULL || value == NULL || strcmp(first, value) != 0)
			return 0;
	}
	return 1;
}

void
protocol_join(const struct protocol *const *p, size_t n, struct protocol *to)
{
	for (size_t i = 0; i < p[0]->n; i++)
		if (protocol_agree(p, n, p[0]->item[i].name))
			protocol_take(to, xstrdup(p[0]->item[i].name),
			    xstrdup(p[0]->item[i].value));
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < p[k]->n; i++)
			if (!protocol_agree(p, n, p[k]->item[i].name))
				protocol_take(to, xprintf("%zu.%s", k + 1,
				    p[k]->item[i].name),
				    xstrdup(p[k]->item[i].value));
}
