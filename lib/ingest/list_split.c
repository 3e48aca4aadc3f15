/* Divide a list into subsets by hashes of videos or groups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "base/text.h"
#include "ingest/list_split.h"

/* ---- proportions and names ---- */

int
list_split_parse(const char *text, struct list_split *s)
{
	char *copy = xstrdup(text), *next = copy;
	int divisor = 0, bad = 0;

	s->n = 0;
	for (char *p = copy; next != NULL && !bad; p = next) {
		int64_t v = 0;

		next = strchr(p, ':');
		if (next != NULL)
			*next++ = '\0';
		bad = s->n == LIST_SPLIT_PARTS ||
		    text_int(p, 1, LIST_SPLIT_MAX, &v) != 0;
		if (!bad)
			s->part[s->n++] = (int)v;
		divisor = (int)common_divisor(v, divisor);
	}
	free(copy);
	if (bad || s->n < 2)
		return -1;
	for (int i = 0; i < s->n; i++)
		s->part[i] /= divisor;
	return 0;
}

const char *
list_split_name(const struct list_split *s, int i)
{
	static const char *const name[] = { "train", "val", "test" };

	return i == s->n - 1 ? "test" : name[i];
}

const char *
list_split_names(const struct list_split *s)
{
	return s->n == 2 ? "train or test" : "train, val or test";
}

static int
list_split_total(const struct list_split *s)
{
	int total = 0;

	for (int i = 0; i < s->n; i++)
		total += s->part[i];
	return total;
}

/* Return the subset that has ${at}, from 0 to the total of the proportions. */
static int
list_split_at(const struct list_split *s, double at)
{
	int i = 0;

	for (int end = s->part[0]; at >= end && i < s->n - 1; end += s->part[i])
		i++;
	return i;
}

/* ---- the subset of a unit ---- */

/* Hash the seed, a blank and ${text}, so that "xxhsum -H3" gives it too. */
static uint64_t
list_split_hash(const struct list_split *s, const char *text)
{
	char *all = xprintf("%llu %s", (unsigned long long)s->seed, text);
	uint64_t h = hash64(all, strlen(all));

	free(all);
	return h;
}

static const char *
list_split_unit(const struct list_row *r)
{
	return r->group != NULL ? r->group : r->unit;
}

/* Compare the text of a class, not its number, which changes with new names. */
static const char *
list_split_class(const struct list_row *r)
{
	return r->nlabels > 0 ? r->label[0].text : "";
}

static int
list_split_by_unit(const void *a, const void *b, void *rows)
{
	const struct list_row *row = rows;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int order = strcmp(list_split_unit(&row[i]), list_split_unit(&row[j]));

	return order != 0 ? order : (i > j) - (i < j);
}

static int
list_split_by_class(const void *a, const void *b, void *rows)
{
	const struct list_row *row = rows;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int order = strcmp(list_split_class(&row[i]),
	    list_split_class(&row[j]));

	return order != 0 ? order : (i > j) - (i < j);
}

static void
list_split_set(struct list_row *r, const char *name)
{
	free(r->split);
	r->split = xstrdup(name);
}

/*
 * Set the subsets of the ${n} units, whose first rows are ${first}, by blocks.
 * A block has as many slots as the sum of the proportions, in an order that
 * depends on seed, class and block.
 */
static void
list_split_blocks(struct list *l, const struct list_split *s, size_t *first,
    size_t n)
{
	uint32_t total = (uint32_t)list_split_total(s), at = 0, block = 0;
	uint32_t *order = xcalloc(total, sizeof(*order));
	const char *class = NULL;
	uint64_t seed = 0;

	qsort_r(first, n, sizeof(*first), list_split_by_class, l->row);
	for (size_t i = 0; i < n; i++) {
		struct list_row *r = &l->row[first[i]];

		if (class == NULL || strcmp(class, list_split_class(r)) != 0) {
			class = list_split_class(r);
			seed = list_split_hash(s, class);
			at = block = 0;
		}
		if (at % total == 0)
			rng_shuffle(seed, block++, total, order);
		list_split_set(r, list_split_name(s, list_split_at(s,
		    order[at++ % total])));
	}
	free(order);
}

static int
list_split_by_video(const void *a, const void *b, void *rows)
{
	const struct list_row *row = rows;
	const struct list_row *x = &row[*(const size_t *)a];
	const struct list_row *y = &row[*(const size_t *)b];
	int order = strcmp(x->unit, y->unit);

	return order != 0 ? order : strcmp(x->split, y->split);
}

/* Count each video once in a subset.  ${order} has all rows in any order. */
static void
list_split_note(const struct list *l, const struct list_split *s, size_t *order)
{
	size_t n[LIST_SPLIT_PARTS] = { 0 }, videos = 0, divided = 0;
	char rows[40] = "";
	struct buffer b = { 0 };

	qsort_r(order, l->n, sizeof(*order), list_split_by_video, l->row);
	for (size_t i = 0; i < l->n; i++) {
		const struct list_row *r = &l->row[order[i]];
		const struct list_row *p = i > 0 ? &l->row[order[i - 1]] : NULL;
		int same = p != NULL && strcmp(p->unit, r->unit) == 0, k = 0;

		if (same && strcmp(p->split, r->split) == 0)
			continue;
		while (strcmp(r->split, list_split_name(s, k)) != 0)
			k++;
		n[k]++;
		videos += !same;
		divided += same;
	}
	for (int k = 0; k < s->n; k++)
		buffer_printf(&b, "%s%s: %zu", k > 0 ? ", " : "",
		    list_split_name(s, k), n[k]);
	if (videos < l->n)
		snprintf(rows, sizeof(rows), " (%zu rows)", l->n);
	note("%zu videos%s divided: %s", videos, rows, b.data);
	if (divided > 0)
		warning("%zu video%s in two subsets: the rows of one video "
		    "have several groups (wanted one for all)", divided,
		    divided == 1 ? " is" : "s are");
	buffer_free(&b);
}

void
list_split(struct list *l, const struct list_split *s)
{
	size_t *order = xcalloc(l->n, sizeof(*order));
	size_t *first = xcalloc(l->n, sizeof(*first)), n = 0;
	struct list_row *unit = NULL;

	/* Sorted, the rows of a unit are adjacent, its first row in front. */
	for (size_t i = 0; i < l->n; i++)
		order[i] = i;
	qsort_r(order, l->n, sizeof(*order), list_split_by_unit, l->row);
	for (size_t i = 0; i < l->n; i++)
		if (i == 0 || strcmp(list_split_unit(&l->row[order[i]]),
		    list_split_unit(&l->row[order[i - 1]])) != 0)
			first[n++] = order[i];
	for (size_t i = 0; i < n && !s->stratify; i++) {
		struct list_row *r = &l->row[first[i]];
		double u = (double)(list_split_hash(s, list_split_unit(r)) >>
		    11) * 0x1p-53;

		list_split_set(r, list_split_name(s, list_split_at(s, u *
		    list_split_total(s))));
	}
	if (s->stratify)
		list_split_blocks(l, s, first, n);
	for (size_t i = 0; i < l->n; i++) {
		struct list_row *r = &l->row[order[i]];

		if (unit == NULL || strcmp(list_split_unit(unit),
		    list_split_unit(r)) != 0)
			unit = r;
		if (r != unit)
			list_split_set(r, unit->split);
	}
	list_split_note(l, s, order);
	free(order);
	free(first);
}

int
list_keep(struct list *l, const char *subset)
{
	size_t removed = list_keep_subset(l, 0, subset);

	return l->n > 0 ? 0 : fail("no video in subset %s, of %zu (wanted a "
	    "longer list or another --split)", subset, removed);
}
