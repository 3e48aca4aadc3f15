/* Convert the labels of lists to class numbers. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote

/* A label in a list, and where to store its number. */
struct list_number_item {
	char *text;
	const struct list_row *row;
	int *to;
};
struct list_number_items { struct list_number_item *item; size_t n, cap; };

/* Fill ${c} with the distinct labels, in byte order. */
static int
list_number_infer(const struct list_number_items *t, struct class_list *c)
{
	const char **text = xcalloc(t->n + 1, sizeof(*text));
	size_t n;

	for (size_t i = 0; i < t->n; i++)
		text[i] = t->item[i].text;
	n = list_distinct(text, t->n);
	for (size_t i = 0; i < n; i++)
		class_add(c, text[i]);
	free(text);
	return class_check("classes", c, NULL);
}

/* Compare pointers to names. */
static int
list_number_by_name(const void *a, const void *b)
{
	return strcmp(**(char **const *)a, **(char **const *)b);
}

/* Report a label that is not among the classes of ${file}. */
static int
list_number_unknown(const struct list_number_item *k,
    const struct class_list *c, const char *file)
{
	struct buffer some = { 0 };

	for (size_t i = 0; i < c->n && i < 3; i++)
		buffer_printf(&some, "%s%s", i > 0 ? ", " : "",
		    Q(c->name[i]));
	fail("%s%s: class %s is not among the %zu class%s of %s (wanted %s%s: "
	    "--classes)", list_at(k->row), Q(k->row->path), Q(k->text), c->n,
	    c->n == 1 ? "" : "es", Q(file), some.data, c->n > 3 ? ", ..." : "");
	buffer_free(&some);
	return -1;
}

static int
list_number_look_up(const struct list_number_items *t, struct class_list *c,
    const char *file)
{
	char ***name = xcalloc(c->n, sizeof(*name));
	int result = 0;

	for (size_t i = 0; i < c->n; i++)
		name[i] = &c->name[i];
	qsort(name, c->n, sizeof(*name), list_number_by_name);
	for (size_t i = 0; i < t->n && result == 0; i++) {
		struct list_number_item *k = &t->item[i];
		char **text = &k->text, ***found = bsearch(&text, name, c->n,
		    sizeof(*name), list_number_by_name);

		if (found == NULL)
			result = list_number_unknown(k, c, file);
		else
			*k->to = (int)(*found - c->name);
	}
	free(name);
	return result;
}

/* Return 1 if the labels are 1 to ${n}, counted from 1. */
static int
list_number_from_1(const struct list_number_items *t, int64_t n)
{
	int64_t v, largest = 0;

	for (size_t i = 0; i < t->n; i++) {
		t->item[i].text[list_whole(t->item[i].text)] = '\0';
		if (text_int(t->item[i].text, 1, n, &v) != 0)
			return 0;
		largest = v > largest ? v : largest;
	}
	return largest == n;
}

static int
list_number_read_all(const struct list_number_items *t,
    const struct class_list *c)
{
	int64_t max = c->n > 0 ? (int64_t)c->n - 1 : INT_MAX, v;

	for (size_t i = 0; i < t->n; i++) {
		const struct list_number_item *k = &t->item[i];
		int base = k->row->base;

		k->text[list_whole(k->text)] = '\0';
		if (text_int(k->text, base, base + max, &v) != 0)
			return fail("%s%s: label %s (wanted %d to %lld)%s",
			    list_at(k->row), Q(k->row->path), Q(k->text), base,
			    (long long)(base + max), base == 0 &&
			    list_number_from_1(t, max + 1) ? ": labels count "
			    "from 0, and all of these from 1; subtract 1, or "
			    "write the names" : "");
		*k->to = (int)(v - base);
	}
	return 0;
}

size_t
list_whole(const char *text)
{
	size_t sign = *text == '-', n = strspn(text + sign, "0123456789") +
	    sign;
	const char *rest = text + n;

	rest += *rest == '.' ? 1 + strspn(rest + 1, "0") : 0;
	return n > sign && *rest == '\0' ? n : 0;
}

/*
 * Return 1 if the label consists of digits.  A number that is too large is
 * still not a name.  The name of a folder is never a number.
 */
static int
list_is_number(const struct list_number_item *k)
{
	return !k->row->by_folder && list_whole(k->text) > 0;
}

/*
 * Return 1 if all labels are numbers, 0 if they are names.  If they are mixed
 * and ${strict} is set, return -1 after a message about the first label of the
 * rarer kind.
 */
static int
list_number_all_numbers(const struct list_number_items *t, int strict)
{
	size_t n = 0;
	int odd;

	for (size_t i = 0; i < t->n; i++)
		n += (size_t)list_is_number(&t->item[i]);
	if (n == t->n || n == 0 || !strict)
		return n == t->n;
	/* With one of each kind, the later one is odd. */
	odd = 2 * n == t->n ? !list_is_number(&t->item[0]) : n < t->n - n;
	for (size_t i = 0; i < t->n; i++) {
		const struct list_number_item *k = &t->item[i];

		if (list_is_number(k) == odd)
			return fail("%s%s: label %s among %s (wanted only "
			    "numbers or only names; "
			    "--annotations-format=path-label treats numbers as "
			    "names)", list_at(k->row), Q(k->row->path),
			    Q(k->text), odd ? "names" : "numbers");
	}
	return -1;
}

/*
 * Refuse a line without a label if its format requires one or if other lines of
 * the list have one.
 */
static int
list_number_check_bare(const struct list *l)
{
	const struct list_row *bare = NULL;
	int labeled = 0;

	for (size_t i = 0; i <= l->n; i++) {
		const struct list_row *r = i < l->n ? &l->row[i] : NULL;

		if (bare != NULL && (labeled || bare->label_missing))
			return fail("%s%s: no label (wanted one in each "
			    "line%s)", list_at(bare), Q(bare->path),
			    strcmp(program_name(), "vt-extract") != 0 ? "" :
			    "; -T takes paths alone, and --label-from=dir "
			    "labels by folder");
		if (i == l->n)
			break;
		/* The rows of a list are consecutive: begin the next list. */
		if (i > 0 && r->file != r[-1].file) {
			bare = NULL;
			labeled = 0;
		}
		labeled |= r->file != NULL && !r->by_folder &&
		    r->nlabels > 0 && !r->has_set;
		if (bare == NULL && r->file != NULL && !list_row_labeled(r))
			bare = r;
	}
	return 0;
}

static void
list_number_add_item(struct list_number_items *t, char *text,
    const struct list_row *row, int *to)
{
	t->item = array_reserve(t->item, t->n, &t->cap, sizeof(*t->item));
	t->item[t->n++] = (struct list_number_item){ text, row, to };
}

/* Add the labels of a row to ${t}. */
static void
list_number_gather(struct list_row *r, struct list_number_items *t)
{
	struct label_interval *labels = NULL;

	if (r->has_set)
		labels = xcalloc((size_t)r->nlabels + 1, sizeof(*labels));
	r->sample.label = -1;
	r->sample.labels = labels;
	for (int k = 0; k < r->nlabels; k++)
		if (r->label[k].column == 0)
			list_number_add_item(t, r->label[k].text, r,
			    r->has_set ? &labels[r->sample.nlabels++].class :
			    &r->sample.label);
}

/* Add all classes of a dataset that has codes, whichever of them occur. */
static void
list_number_add_codes(int n, struct class_list *c)
{
	for (int i = 0; i < n; i++) {
		char code[16];

		snprintf(code, sizeof(code), "c%03d", i);
		class_add(c, code);
	}
}

int
list_number(struct list *l, struct class_list *classes, const char *file)
{
	struct list_number_items t = { 0 };
	int by_number, result = -1;

	if (list_number_check_bare(l) != 0)
		return -1;
	for (size_t i = 0; i < l->n; i++)
		list_number_gather(&l->row[i], &t);
	by_number = list_number_all_numbers(&t, l->strict);
	if (by_number > 0 && l->coded > 0 && classes->n == 0)
		list_number_add_codes(l->coded, classes);
	if (by_number > 0)
		result = list_number_read_all(&t, classes);
	else if (by_number == 0 && (classes->n > 0 ||
	    list_number_infer(&t, classes) == 0))
		result = list_number_look_up(&t, classes, file);
	if (result == 0)
		class_warn_alike(classes);
	free(t.item);
	return result;
}
