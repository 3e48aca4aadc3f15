/*
 * Keys of samples: the path of a video relative to the root, then a suffix for
 * a part of it, then its label if another sample shows the same frames.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"
#include "ingest/relative.h"
#include "shard/key.h"

#define Q text_quote

/*
 * Only the path relative to the root enters a set.  The bytes of a set then do
 * not depend on the spelling of the path or on the machine.
 */
static char *
list_keys_source_of(const char *path, const char *root)
{
	char *below = relative_path(path, root != NULL ? root : ".");

	if (below != NULL || root == NULL)
		return below != NULL ? below : xstrdup(path_base(path));
	return fail_null("%s: not below %s", Q(path), Q(root));
}

/* Return the length of the source without the extension, which a folder does
 * not have. */
static int
list_keys_stem(const struct list_row *r)
{
	const char *source = r->sample.source, *name = path_base(source);
	const char *dot = strrchr(name, '.');

	return dot == NULL || dot == name || file_is_dir(r->path) ?
	    (int)strlen(source) : (int)(dot - source);
}

/* Return the key of ${n} bytes of the source and ${suffix}, or NULL after a
 * message. */
static char *
list_keys_of(const struct list_row *r, int n, const char *suffix)
{
	/* key_from_path omits what follows the last dot. */
	char *path = xprintf("%.*s%s.", n, r->sample.source, suffix);
	char key[KEY_MAX + 1];
	int bad = key_from_path(path, key);

	free(path);
	return bad ? NULL : xstrdup(key);
}

char *
list_part_suffix(const struct list_row *row)
{
	const struct list_part *p = &row->part;
	int whole = p->begin == (int)p->begin && p->end == (int)p->end;
	double unit = whole ? 1 : 1e3;

	if (!row->part_in_key || p->unit == LIST_ALWAYS)
		return xstrdup("");
	if (p->unit == LIST_FRAMES)
		return xprintf("_f%06.0f_f%06.0f", p->begin, p->end);
	return xprintf("_%06.0f_%06.0f%s", p->begin * unit, p->end * unit,
	    whole ? "" : "ms");
}

static int
list_keys_make(struct list_row *r, const char *root)
{
	char *suffix;
	int n;

	r->sample.source = list_keys_source_of(r->path, root);
	if (r->sample.source == NULL)
		return -1;
	r->sample.group = r->group;
	n = list_keys_stem(r);
	if ((r->unit = list_keys_of(r, n, "")) == NULL)
		return -1;
	suffix = list_part_suffix(r);
	r->sample.key = list_keys_of(r, n, suffix);
	free(suffix);
	return r->sample.key != NULL ? 0 : -1;
}

/* Compare the labels of two rows, as written in their lists. */
static int
list_keys_by_labels(const struct list_row *a, const struct list_row *b)
{
	int order = 0;

	for (int k = 0; order == 0 && k < a->nlabels && k < b->nlabels; k++) {
		const struct list_label *s = &a->label[k], *t = &b->label[k];

		order = s->column != t->column ? s->column - t->column :
		    strcmp(s->text, t->text);
		if (order == 0)
			order = s->from != t->from ?
			    1 - 2 * (s->from < t->from) :
			    (s->to > t->to) - (s->to < t->to);
	}
	return order != 0 ? order : a->nlabels - b->nlabels;
}

static int
list_keys_compare(const void *a, const void *b, void *rows)
{
	const struct list_row *row = rows;
	int i = *(const int *)a, j = *(const int *)b;
	int order = strcmp(row[i].sample.key, row[j].sample.key);

	if (order == 0)
		order = list_keys_by_labels(&row[i], &row[j]);
	return order != 0 ? order : i - j;
}

/* Write the place of ${a} in a list to ${buf}, for a message about ${b}. */
static void
list_keys_place(const struct list_row *a, const struct list_row *b, char *buf,
    size_t n)
{
	int same = a->file != NULL && b->file != NULL &&
	    strcmp(a->file, b->file) == 0;

	if (a->file == NULL)
		snprintf(buf, n, "an operand");
	else
		snprintf(buf, n, "%s %d%s%s", a->item > 0 ? "item" : "line",
		    a->item > 0 ? a->item : a->line, same ? "" : " of ",
		    same ? "" : a->file);
}

/* The lowest row of one kind that the passes found, as text, and how many. */
struct list_keys_found { char *text; int row; size_t n; };

struct list_keys {
	struct list *l;
	const char *root;
	int last;			/* 1: keys have their labels */
	struct list_keys_found equal, labels;
};

/*
 * Count row ${j} in ${f}.  ${format} has a line, a path and the place of ${i}.
 */
static void
list_keys_find(const struct list_keys *k, struct list_keys_found *f, int i,
    int j, const char *format)
{
	const struct list_row *b = &k->l->row[j];
	char place[300];

	if (f->n++ > 0 && j > f->row)
		return;
	list_keys_place(&k->l->row[i], b, place, sizeof(place));
	free(f->text);
	f->text = xprintf("%s%s%s%s", list_at(b), Q(b->path), format, place);
	f->row = j;
}

/* Return 1 if the rows are the same part of the same video. */
static int
list_keys_same_part(const struct list_keys *k, const struct list_row *a,
    const struct list_row *b)
{
	const struct list_part *p = &a->part, *q = &b->part;

	/* Without a root, a source may be a file name alone. */
	return (strcmp(a->path, b->path) == 0 || (k->root != NULL &&
	    strcmp(a->sample.source, b->sample.source) == 0)) &&
	    p->unit == q->unit && p->begin == q->begin && p->end == q->end;
}

static int
list_keys_clash(const struct list_keys *k, const struct list_row *a,
    const struct list_row *b)
{
	char place[300];

	list_keys_place(a, b, place, sizeof(place));
	return fail("%s%s%s%s and %s have the same key, %s%s", list_at(b),
	    Q(a->path), a->file != NULL ? " of " : "", a->file != NULL ? place :
	    "", Q(b->path), b->sample.key, k->root == NULL ?
	    " (with --root=DIR, keys hold the folders below DIR)" : "");
}

/* Give ${r} the key that ends with its labels. */
static int
list_keys_add_labels(struct list_row *r)
{
	char *suffix = list_part_suffix(r);
	struct buffer b = { 0 };

	buffer_text(&b, suffix);
	free(suffix);
	for (int i = 0; i < r->nlabels; i++) {
		const struct list_label *s = &r->label[i];

		buffer_printf(&b, "_%s", s->text);
		if (s->unit != LIST_ALWAYS)
			buffer_printf(&b, "@%g-%g", s->from, s->to);
	}
	free((void *)r->sample.key);
	r->sample.key = list_keys_of(r, list_keys_stem(r), b.data);
	buffer_free(&b);
	return r->sample.key != NULL ? 0 : -1;
}

/*
 * Settle the rows ${at}[n] of one key, which are sorted by their labels.  A row
 * that is equal to an earlier one loses its key.  Rows that differ in
 * their labels alone get new keys.  Return 0, or -1 after a message.
 */
static int
list_keys_settle(struct list_keys *k, const int *at, size_t n)
{
	struct list_row *row = k->l->row;
	size_t labels = 0;

	for (size_t m = 1; m < n; m++) {
		int i = at[m - 1] < at[m] ? at[m - 1] : at[m];
		int j = at[m - 1] + at[m] - i;

		if (k->last || !list_keys_same_part(k, &row[i], &row[j]))
			return list_keys_clash(k, &row[i], &row[j]);
		if (list_keys_by_labels(&row[i], &row[j]) != 0) {
			list_keys_find(k, &k->labels, i, j,
			    " has another label than ");
			labels++;
		} else {
			list_keys_find(k, &k->equal, i, j, " again, equal to ");
		}
	}
	for (size_t m = 0; m < n; m++) {
		struct list_row *r = &row[at[m]];

		if (m > 0 && list_keys_by_labels(r, &row[at[m - 1]]) == 0) {
			free((void *)r->sample.key);
			r->sample.key = NULL;
		} else if (labels > 0 && list_keys_add_labels(r) != 0) {
			return -1;
		}
	}
	return 0;
}

/* Settle all rows, and remove those that lost their key. */
static int
list_keys_settle_all(struct list_keys *k)
{
	struct list *l = k->l;
	int *order = xcalloc(l->n, sizeof(*order)), result = 0;
	size_t next, n = 0;

	for (size_t i = 0; i < l->n; i++)
		order[i] = (int)i;
	/* Sorted, equal keys are adjacent; ties stay in list order. */
	qsort_r(order, l->n, sizeof(*order), list_keys_compare, l->row);
	for (size_t i = 0; i < l->n && result == 0; i = next) {
		const char *key = l->row[order[i]].sample.key;

		for (next = i + 1; next < l->n && strcmp(key,
		    l->row[order[next]].sample.key) == 0;)
			next++;
		if (next - i > 1)
			result = list_keys_settle(k, order + i, next - i);
	}
	free(order);
	for (size_t i = 0; i < l->n && result == 0; i++)
		if (l->row[i].sample.key != NULL) {
			struct list_row r = l->row[n];

			l->row[n++] = l->row[i];
			l->row[i] = r;
		}
	if (result == 0)
		list_cut(l, n);
	return result;
}

int
list_keys(struct list *l, const char *root, int skip)
{
	struct list_keys k = { .l = l, .root = root };
	char more[60];
	int result = 0;

	for (size_t i = 0; i < l->n && result == 0; i++)
		result = list_keys_make(&l->row[i], root);
	if (result == 0)
		result = list_keys_settle_all(&k);
	/* A key with its label may be that of another video. */
	k.last = 1;
	if (result == 0 && k.labels.n > 0)
		result = list_keys_settle_all(&k);
	if (result == 0 && k.equal.n > 0 && !skip)
		result = fail("%s (wanted each row once): vt-extract "
		    "--on-error=skip leaves it out", k.equal.text);
	if (result == 0 && k.equal.n > 0)
		warning("%s; %zu equal row%s skipped", k.equal.text, k.equal.n,
		    k.equal.n == 1 ? " is" : "s are");
	if (result == 0 && k.labels.n > 0) {
		snprintf(more, sizeof(more), ", as for %zu more row%s",
		    k.labels.n - 1, k.labels.n == 2 ? "" : "s");
		warning("%s: two samples, whose keys end with their labels%s",
		    k.labels.text, k.labels.n > 1 ? more : "");
	}
	free(k.equal.text);
	free(k.labels.text);
	return result;
}
