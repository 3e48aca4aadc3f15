/* The protocol of an evaluation as lines of a score file. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Append a line.  Take ${name} and ${value}. */
static void
protocol_take(struct protocol *p, char *name, char *value)
{
	p->item = array_reserve(p->item, p->n, &p->cap, sizeof(*p->item));
	p->item[p->n++] = (struct protocol_item){ name, value };
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

void
protocol_write(const struct protocol *p, struct buffer *to)
{
	for (size_t i = 0; i < p->n; i++) {
		char *value = table_escape(p->item[i].value);

		buffer_printf(to, "# %s %s\n", p->item[i].name, value);
		free(value);
	}
}

int
protocol_read(struct protocol *p, const char *line)
{
	const char *name = line + 2;
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-");
	char *value;

	if (n == 0 || name[n] != ' ')
		return 0;
	value = xstrdup(name + n + 1);
	if (table_unescape(value) != 0) {
		free(value);
		return -1;
	}
	protocol_take(p, xstrndup(name, n), value);
	return 0;
}

/* Return 1 if the line ${name} says which network or dataset was used, and not
 * how. */
static int
protocol_is_identity(const char *name)
{
	static const char *const identity[] = { "checkpoint", "checkpoint-hash",
		"data", "data-hash", "list-hash", "model", "step", NULL };

	for (const char *const *i = identity; *i != NULL; i++)
		if (strcmp(name, *i) == 0)
			return 1;
	return 0;
}

void
protocol_difference(const struct protocol *a, const struct protocol *b,
    struct buffer *to)
{
	for (size_t i = 0; i < a->n; i++) {
		const char *name = a->item[i].name, *value = a->item[i].value;
		const char *other = protocol_get(b, name);

		if (other != NULL && strcmp(value, other) != 0 &&
		    !protocol_is_identity(name))
			buffer_printf(to, "%s%s %s (%s)", to->n > 0 ? ", " : "",
			    name, value, other);
	}
}

/* Return 1 if all of ${p}[n] have the same value in the line ${name}. */
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
