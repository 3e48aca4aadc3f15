/* Read annotation lists. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote

int
list_broken(const struct list_reading *r, const char *found)
{
	return fail("%s: line %d: %s (wanted %s)", r->name, r->line, Q(found),
	    r->format->wanted);
}

int
list_take(struct list_reading *r, const char *subset)
{
	const char *want = r->how->subset;

	if (want == NULL || r->how->background != NULL ||
	    (subset != NULL && strcmp(subset, want) == 0))
		return 1;
	r->skipped++;
	return 0;
}

/* Check that the file has the columns of --subset and --group. */
static int
list_check_columns(const struct list_reading *r)
{
	const struct list_how *how = r->how;
	const struct list_format *f = r->format;

	r->l->strict |= (how->format == 0 && f->by != LIST_BY_TEXT) ||
	    !(f->holds & LIST_HOLDS_DIGIT_NAMES);
	if (how->subset != NULL && !(f->holds & LIST_HOLDS_SPLIT) &&
	    r->at[COLUMN_SPLIT] < 0)
		return fail("%s: %s has no subsets (--subset=%s)", r->name,
		    f->title, Q(how->subset));
	if (how->group != NULL && r->at[COLUMN_GROUP] < 0)
		return fail("%s: %s without a column %s (wanted a list whose "
		    "header has it, for --group)", r->name, f->title,
		    Q(how->group));
	return 0;
}

/* Warn if the list has columns, but its rows, from row ${first}, no label. */
static void
list_warn_unlabeled(const struct list_reading *r, size_t first)
{
	struct buffer b = { 0 };
	int labeled = r->how->by_folder || r->head.n == 0;

	for (size_t i = first; i < r->l->n && !labeled; i++)
		labeled = list_row_labeled(&r->l->row[i]);
	if (labeled || first == r->l->n)
		return;
	for (int i = 0; i < r->head.n; i++)
		buffer_printf(&b, "%s%s", i > 0 ? ", " : "", Q(r->head.s[i]));
	warning("%s: no labels: its columns are %s (wanted one of %s, "
	    "label_set)", r->name, b.data, list_columns_names(COLUMN_LABEL));
	buffer_free(&b);
}

static int
list_read_file(struct list_reading *r)
{
	size_t first = r->l->n;
	int result = -1;

	r->name = list_name(r->l, r->path);
	r->format = NULL;
	r->next = 0;
	r->numbers = (struct list_numbers){ 0 };
	list_columns_drop(r);
	r->text.n = 0;
	if (list_foreign_read(r->path, r->name, "lines of text", &r->text) == 0
	    && list_detect(r) == 0 && (r->head.n == 0 ||
	    list_columns_check(r) == 0) && r->format->read(r) == 0)
		result = list_check_columns(r);
	if (result == 0)
		list_warn_unlabeled(r, first);
	json_free(r->json);
	r->json = NULL;
	free(r->lines.s);
	free(r->lines.number);
	r->lines = (struct list_lines){ 0 };
	return result;
}

/* Count the distinct labels of row ${first} and the rows after it. */
static size_t
list_count_classes(const struct list *l, size_t first)
{
	const char **text = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = first; i < l->n; i++)
		for (int k = 0; k < l->row[i].nlabels; k++) {
			text = array_reserve(text, n, &cap, sizeof(*text));
			text[n++] = l->row[i].label[k].text;
		}
	n = list_distinct(text, n);
	free(text);
	return n;
}

int
list_read(struct list *l, const char *file, const struct list_how *how)
{
	struct list_reading r = { .l = l, .how = how, .path = file };
	size_t first = l->n, n, classes;
	char files[40] = "", middle[80] = "";
	glob_t found = { 0 };
	int result = 0;

	/* An existing file is never a pattern, whatever its name. */
	if (strpbrk(file, "*?[") != NULL && access(file, F_OK) != 0) {
		if (glob(file, 0, NULL, &found) != 0)
			return fail("%s: no file matches this pattern",
			    Q(file));
		qsort(found.gl_pathv, found.gl_pathc, sizeof(char *),
		    list_by_bytes);
		snprintf(files, sizeof(files), ", %zu files", found.gl_pathc);
		for (size_t i = 0; i < found.gl_pathc && result == 0; i++) {
			r.path = found.gl_pathv[i];
			result = list_read_file(&r);
		}
		globfree(&found);
	} else {
		result = list_read_file(&r);
	}
	buffer_free(&r.tried);
	buffer_free(&r.unused);
	buffer_free(&r.text);
	free(r.head_text);
	free(r.head.s);
	free(r.cell.s);
	if (result != 0)
		return -1;
	if (how->background != NULL)
		list_background(l, first, how->background);
	/* Rows of other subsets bound gaps, too. */
	if (how->background != NULL && how->subset != NULL)
		r.skipped += (int)list_keep_subset(l, first, how->subset);
	n = l->n - first;
	if (n == 0 && r.skipped > 0)
		return fail("%s: no row of the subset %s, of %d rows", Q(file),
		    Q(how->subset), r.skipped);
	classes = list_count_classes(l, first);
	if (r.against > 0)
		snprintf(middle, sizeof(middle), "; label -1: %d row%s left "
		    "out", r.against, r.against == 1 ? "" : "s");
	else if (r.ignored > 0)
		snprintf(middle, sizeof(middle), "; the field between path "
		    "and label (line %d) is ignored", r.ignored);
	else if (r.counted > 0)
		snprintf(middle, sizeof(middle), "; the number before each "
		    "label must be the video's frames");
	note("%s: %s%s, %zu video%s, %zu class%s%s", Q(file),
	    r.format->title, files, n, n == 1 ? "" : "s", classes,
	    classes == 1 ? "" : "es", middle);
	return 0;
}
