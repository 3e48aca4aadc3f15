/* Lists of class names: parsing, checks, comparison. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "shard/classes.h"

#define Q text_quote

void
class_add(struct class_list *c, const char *name)
{
	c->name = array_reserve(c->name, c->n, &c->cap, sizeof(*c->name));
	c->name[c->n++] = xstrdup(name);
}

void
class_add_numbers(struct class_list *c, size_t n)
{
	char number[24];

	while (c->n < n) {
		snprintf(number, sizeof(number), "%zu", c->n);
		class_add(c, number);
	}
}

void
class_list_free(struct class_list *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->name[i]);
	free(c->name);
	*c = (struct class_list){ 0 };
}

int
class_find(const struct class_list *c, const char *name)
{
	int64_t i;

	for (size_t k = 0; k < c->n; k++)
		if (strcmp(c->name[k], name) == 0)
			return (int)k;
	return c->n > 0 && text_int(name, 0, (int64_t)c->n - 1, &i) == 0 ?
	    (int)i : -1;
}

const char *
class_name(const struct class_list *c, int class, char number[16])
{
	if ((size_t)class < c->n)
		return c->name[class];
	snprintf(number, 16, "%d", class);
	return number;
}

static int
classes_by_name(const void *a, const void *b)
{
	const char *const *const *x = a, *const *const *y = b;

	return strcmp(**x, **y);
}

int
class_check(const char *what, const struct class_list *c, struct error *why)
{
	/* Sort pointers into c->name, so that a duplicate's numbers are
	 * known. */
	char ***sorted = xcalloc(c->n, sizeof(*sorted));
	int result = 0;

	for (size_t i = 0; i < c->n; i++) {
		const char *s = c->name[i];

		sorted[i] = &c->name[i];
		if (*s == '\0' || !text_is_utf8(s))
			result = error_set(why, "%s: class %zu: %s (wanted a "
			    "name in UTF-8)", what, i, *s == '\0' ? "empty" :
			    Q(s));
		for (; *s != '\0' && result == 0; s += text_utf8(s))
			if (text_displayable(s) == 0)
				result = error_set(why, "%s: class %zu: %s "
				    "holds a control character", what, i,
				    Q(c->name[i]));
		if (result != 0)
			goto out;
	}
	qsort(sorted, c->n, sizeof(*sorted), classes_by_name);
	for (size_t i = 1; i < c->n && result == 0; i++)
		if (strcmp(*sorted[i - 1], *sorted[i]) == 0)
			result = error_set(why, "%s: class %s is listed twice, "
			    "as %td and %td", what, Q(*sorted[i]),
			    sorted[i - 1] - c->name, sorted[i] - c->name);
out:
	free(sorted);
	return result;
}

#define ALIKE_MAX 4		/* pairs of names that are printed */

/* A class and its key (text_fold). */
struct class_key { char *key; size_t class; };

static int
classes_by_key(const void *a, const void *b)
{
	const struct class_key *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order != 0 ? order : (x->class > y->class) -
	    (x->class < y->class);
}

/* Return ${name} as it looks and as its bytes.  The caller frees it. */
static char *
class_bytes(const char *name)
{
	struct buffer b = { 0 };

	buffer_printf(&b, "%s (\"", Q(name));
	for (const char *s = name; *s != '\0'; s++)
		buffer_printf(&b, text_utf8(s) == 1 ? "%c" :
		    "\\x%02x", (unsigned char)*s);
	buffer_text(&b, "\")");
	return b.data;
}

void
class_warn_alike(const struct class_list *c)
{
	struct class_key *k = xcalloc(c->n, sizeof(*k));
	size_t pairs = 0;

	for (size_t i = 0; i < c->n; i++)
		k[i] = (struct class_key){ text_fold(c->name[i]), i };
	qsort(k, c->n, sizeof(*k), classes_by_key);
	for (size_t i = 1; i < c->n; i++) {
		if (strcmp(k[i - 1].key, k[i].key) != 0 || pairs++ >= ALIKE_MAX)
			continue;
		char *a = class_bytes(c->name[k[i - 1].class]);
		char *b = class_bytes(c->name[k[i].class]);

		warning("classes %zu and %zu look the same: %s and %s",
		    k[i - 1].class, k[i].class, a, b);
		free(a);
		free(b);
	}
	if (pairs > ALIKE_MAX)
		warning("%zu pairs of classes look the same", pairs);
	for (size_t i = 0; i < c->n; i++)
		free(k[i].key);
	free(k);
}

void
class_text(const struct class_list *c, struct buffer *b)
{
	buffer_add(b, "", 0);
	for (size_t i = 0; i < c->n; i++)
		buffer_printf(b, "%s\n", c->name[i]);
}

void
class_write(struct json_writer *w, const struct class_list *c)
{
	json_open(w, "classes", '[');
	for (size_t i = 0; c != NULL && i < c->n; i++)
		json_put_text(w, NULL, c->name[i]);
	json_close(w);
}

void
class_parse(const char *text, struct class_list *c)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		char *line = xstrndup(text, n);

		text_chomp(line);	/* class_check rejects others as
					 * control characters */
		class_add(c, line);
		free(line);
		text += n + (text[n] == '\n');
	}
}

int
class_read(const char *path, struct class_list *c)
{
	struct buffer b = { 0 };
	int result = file_read_text(path, &b);

	if (result == 0)
		result = class_read_lines(path, b.data, c);
	buffer_free(&b);
	return result;
}

/* Other lists of names, such as a checkpoint's, keep blanks at the ends. */
int
class_read_lines(const char *path, const char *text, struct class_list *c)
{
	while (text_starts(text, "# ")) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	class_parse(text, c);
	for (size_t i = 0; i < c->n; i++) {
		char *name = text_trim(c->name[i]);

		memmove(c->name[i], name, strlen(name) + 1);
	}
	while (c->n > 0 && *c->name[c->n - 1] == '\0')
		free(c->name[--c->n]);
	if (c->n == 0)
		return fail("%s: empty (wanted class names, one a line)",
		    Q(path));
	return class_check(Q(path), c, NULL);
}

/* Equal names with other numbers count as a difference, because labels are
 * numbers. */
int
class_compare(const char *path, const struct class_list *have,
    const char *whose, const struct class_list *want, const char *classes)
{
	size_t i = 0;

	while (i < have->n && i < want->n &&
	    strcmp(have->name[i], want->name[i]) == 0)
		i++;
	if (i == have->n && i == want->n)
		return 0;
	if (i == have->n)
		return fail("%s: %zu class%s (%s has %zu, the next is %s): "
		    "extract it with --classes=%s", Q(path), i, i == 1 ? "" :
		    "es", whose, want->n, Q(want->name[i]), classes);
	if (i == want->n)
		return fail("%s: class %zu is %s (%s has %zu class%s): extract "
		    "it with --classes=%s", Q(path), i, Q(have->name[i]), whose,
		    i, i == 1 ? "" : "es", classes);
	return fail("%s: class %zu is %s (%s has %s): extract it with "
	    "--classes=%s", Q(path), i, Q(have->name[i]), whose,
	    Q(want->name[i]), classes);
}
