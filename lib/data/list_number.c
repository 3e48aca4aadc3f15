/* Labels as lists write them, and the classes they mean. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/list.h"

#define Q text_quote

/* "FILE: line N: " before a message about row ${r}; "" for an operand. */
static const char *
at(const struct list_row *r)
{
	static _Thread_local char text[512];

	text[0] = '\0';
	if (r->file != NULL)
		snprintf(text, sizeof(text), "%s: line %d: ", r->file, r->line);
	return text;
}

/* The name of the folder that ${path} lies in; NULL: none is named. */
static char *
folder(const char *path)
{
	const char *end = strrchr(path, '/'), *start;

	while (end > path && end[-1] == '/')
		end--;
	if (end == NULL || end == path)
		return NULL;
	for (start = end; start > path && start[-1] != '/';)
		start--;
	if ((end - start == 1 && start[0] == '.') ||
	    (end - start == 2 && start[0] == '.' && start[1] == '.'))
		return NULL;
	return xstrndup(start, (size_t)(end - start));
}

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Fill ${c} with the different ones among ${label}[n], sorted. */
static int
derive(char *const *label, size_t n, struct class_list *c)
{
	char **sorted = xcalloc(n, sizeof(*sorted));
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (label[i] != NULL)
			sorted[k++] = label[i];
	qsort(sorted, k, sizeof(*sorted), by_bytes);
	for (size_t i = 0; i < k; i++)
		if (i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0)
			class_add(c, sorted[i]);
	free(sorted);
	return class_check("classes", c);
}

/* ${index} is the order of the names, for bisection. */
static int
find(const struct class_list *c, const int *index, const char *name)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(name, c->name[index[mid]]);

		if (order == 0)
			return index[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return -1;
}

static int
by_name(const void *a, const void *b, void *classes)
{
	const struct class_list *c = classes;

	return strcmp(c->name[*(const int *)a], c->name[*(const int *)b]);
}

static int
look_up(const struct list *l, char *const *text, struct class_list *c,
    int *label)
{
	int *index = xcalloc(c->n, sizeof(*index)), result = -1;

	for (size_t i = 0; i < c->n; i++)
		index[i] = (int)i;
	qsort_r(index, c->n, sizeof(*index), by_name, c);
	for (size_t i = 0; i < l->n; i++) {
		label[i] = -1;
		if (text[i] == NULL)
			continue;
		label[i] = find(c, index, text[i]);
		if (label[i] < 0) {
			fail("%s%s: class %s is not among the %zu classes",
			    at(&l->row[i]), Q(l->row[i].path), Q(text[i]),
			    c->n);
			goto out;
		}
	}
	result = 0;
out:
	free(index);
	return result;
}

static int
numbers(const struct list *l, char *const *text, const struct class_list *c,
    int *label)
{
	int64_t most = c->n > 0 ? (int64_t)c->n - 1 : INT_MAX, v;

	for (size_t i = 0; i < l->n; i++) {
		label[i] = -1;
		if (text[i] == NULL)
			continue;
		if (text_int(text[i], 0, most, &v) != 0)
			return fail("%s%s: label %s (wanted 0 to %lld)",
			    at(&l->row[i]), Q(l->row[i].path), Q(text[i]),
			    (long long)most);
		label[i] = (int)v;
	}
	return 0;
}

/* Of any size: one that is too large is no name either. */
static int
all_numbers(char *const *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *s = text[i];

		if (s == NULL)
			continue;
		s += *s == '-';
		if (*s == '\0' || s[strspn(s, "0123456789")] != '\0')
			return 0;
	}
	return 1;
}

int
list_number(const struct list *l, int by_folder, struct class_list *classes,
    int *label)
{
	char **text = xcalloc(l->n, sizeof(*text));
	int by_number, result = -1;

	for (size_t i = 0; i < l->n; i++)
		if (l->row[i].label != NULL)
			text[i] = xstrdup(l->row[i].label);
	/* Folders that are called by numbers are names all the same. */
	by_number = all_numbers(text, l->n);
	for (size_t i = 0; i < l->n && by_folder; i++) {
		if (text[i] != NULL)
			continue;
		by_number = 0;
		text[i] = folder(l->row[i].path);
		if (text[i] == NULL) {
			fail("%s%s: no folder to name its class by "
			    "(--label-from=dir)", at(&l->row[i]),
			    Q(l->row[i].path));
			goto out;
		}
	}
	if (by_number)
		result = numbers(l, text, classes, label);
	else if (classes->n > 0 || derive(text, l->n, classes) == 0)
		result = look_up(l, text, classes, label);
out:
	for (size_t i = 0; i < l->n; i++)
		free(text[i]);
	free(text);
	return result;
}

/* The name after "12 name" if 12 is ${number}; else NULL. */
static char *
numbered(char *line, int64_t number)
{
	size_t n = strspn(line, "0123456789"), blanks = strspn(line + n, " \t");
	char digits[24];

	snprintf(digits, sizeof(digits), "%lld", (long long)number);
	if (blanks == 0 || strlen(digits) != n || memcmp(line, digits, n) != 0)
		return NULL;
	return line + n + blanks;
}

int
list_classes(const char *path, struct class_list *c)
{
	int from;

	if (class_read(path, c) != 0)
		return -1;
	from = numbered(c->name[0], 0) == NULL;
	for (size_t i = 0; i < c->n; i++)
		if (numbered(c->name[i], (int64_t)i + from) == NULL)
			return 0;
	for (size_t i = 0; i < c->n; i++) {
		char *name = xstrdup(numbered(c->name[i], (int64_t)i + from));

		free(c->name[i]);
		c->name[i] = name;
	}
	return class_check(Q(path), c);
}
