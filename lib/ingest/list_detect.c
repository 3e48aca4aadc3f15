/* Detect the format of a list. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote
#define HEADER_LINES 20		/* in which a header is looked for */

const struct list_format list_formats[] = {
#define LIST_FORMAT(id, name, by, holds, title, wanted) \
	{ name, title, wanted, by, holds, id##_detect, id##_read },
#include "ingest/lists/formats.def"
	{ 0 }
};

const char list_format_choices[] = "auto"
#define LIST_FORMAT(id, name, by, holds, title, wanted) "|" name
#include "ingest/lists/formats.def"
;

int
list_detect_by(struct list_reading *r, enum list_stage stage)
{
	int found = 0;

	for (const struct list_format *f = list_formats; f->name != NULL &&
	    found == 0; f++)
		if (f->by == stage && (found = f->detect(r)) > 0)
			r->format = f;
	return found < 0 ? -1 : 0;
}

/* Return a separator that occurs in every line, or a blank if there is none. */
static char
list_find_separator(const struct list_lines *l)
{
	static const char seps[] = "\t,;";

	for (const char *s = seps; *s != '\0'; s++) {
		size_t i = 0;

		while (i < l->n && strchr(l->s[i], *s) != NULL)
			i++;
		if (i == l->n)
			return *s;
	}
	return ' ';
}

/*
 * Refuse lines with more after a path than numbers, or a label, or a number and
 * a label.  A path may contain blanks: then it exists, or no word before its
 * last one looks like a file.
 */
static int
list_check_words(struct list_reading *r)
{
	const struct list_lines *l = &r->lines;
	int result = 0;

	for (size_t i = 0; i < l->n && result == 0; i++) {
		char *copy = xstrdup(l->s[i]), *file = NULL, *path;
		int after = 0, names = 0;

		if (list_cut_fields(copy, ' ', &r->cell) != 0)
			r->cell.n = 0;
		for (int k = 0; k < r->cell.n; k++) {
			char *s = r->cell.s[k];
			int is_file = list_is_file(s);

			file = is_file ? s : file;
			after = is_file ? 0 : after + 1;
			/* The last word may be a name: it is the label. */
			names = is_file ? 0 : names + (k < r->cell.n - 1 &&
			    s[strspn(s, "0123456789")] != '\0');
		}
		if (file != NULL && (names > 0 || (after > 2 &&
		    list_whole(r->cell.s[r->cell.n - 1]) == 0))) {
			size_t n = strlen(l->s[i]);
			char *cut;

			while (strchr(" \t", l->s[i][n - 1]) == NULL)
				n--;
			cut = xstrndup(l->s[i], n - 1);
			path = list_place(r, cut);
			free(cut);
			if (access(path, F_OK) != 0)
				result = fail("%s: line %d: %d words after %s "
				    "(wanted a label, or a number of frames "
				    "and a label; for times, a first line "
				    "such as \"path label time_start "
				    "time_end\")", r->name, l->number[i], after,
				    Q(file));
			free(path);
		}
		free(copy);
	}
	return result;
}

/*
 * Check a list without a known header that is separated by r->sep: its lines
 * have equally many fields, at most three, and the first one is not a header
 * of other names.
 */
static int
list_check_separated(struct list_reading *r)
{
	const struct list_lines *l = &r->lines;
	int fields = 0, first = -1, others = -1;	/* fields; the path */

	for (size_t i = 0; i < l->n; i++) {
		char *copy = xstrdup(l->s[i]);
		int at = -1;

		if (list_cut_fields(copy, r->sep, &r->cell) != 0)
			r->cell.n = 0;
		for (int k = r->cell.n - 1; k >= 0; k--)
			at = list_is_file(r->cell.s[k]) ? k : at;
		free(copy);
		if (i == 0) {
			first = at;
			fields = r->cell.n;
		}
		others = i == 1 || at == others ? at : -1;
		if (r->cell.n == fields || r->cell.n == 0)
			continue;
		return fail("%s: line %d: %d fields, but %d in line %d (wanted "
		    "equally many; several labels with blanks between them, as "
		    "tr , ' ' makes them, are --annotations-format=mmaction2)",
		    r->name, l->number[i], r->cell.n, fields, l->number[0]);
	}
	if (first < 0 && others >= 0)
		return fail("%s: line 1: %s: a header without a name that vt "
		    "reads (wanted one of %s)", r->name, Q(l->s[0]),
		    list_columns_names(COLUMN_PATH));
	if (first > 0 && (l->n == 1 || others == first))
		return fail("%s: line 1: the path is field %d (wanted it "
		    "first, or a line above that names the fields, such as "
		    "label,path)", r->name, first + 1);
	if (fields > 3)
		return fail("%s: line %d: %d fields without a header that vt "
		    "knows (wanted path and label, which cut -d, -f1,2 keeps; "
		    "or names such as path,label,time_start,time_end in "
		    "line 1)", r->name, l->number[0], fields);
	return 0;
}

/*
 * Read lines as the user says.  A header by columns must fit: that of HACS has
 * the columns of Kinetics, too.
 */
static int
list_detect_named(struct list_reading *r, const struct list_format *named)
{
	int header = r->lines.n > 0 ? list_columns_read(r, r->lines.s[0]) : 0;
	int fits = header > 0 && (r->format == named || named->detect(r) > 0);

	r->format = named;
	if (named->by == LIST_BY_COLUMNS && !fits)
		return fail("%s: line 1: no header of %s (wanted %s)", r->name,
		    named->title, named->wanted);
	r->next = named->by == LIST_BY_COLUMNS;
	if (r->next == 0) {
		list_columns_drop(r);
		r->sep = list_find_separator(&r->lines);
	}
	return 0;
}

static int
list_detect_header(struct list_reading *r)
{
	const struct list_lines *l = &r->lines;
	int header = l->n > 0 ? list_columns_read(r, l->s[0]) : 0;

	r->next = header > 0;
	if (header > 0)
		return 0;
	if (header < 0)
		return fail("%s: line 1: %s: a header without the videos "
		    "(wanted a column %s)", r->name, Q(l->s[0]),
		    list_columns_names(COLUMN_PATH));
	for (size_t i = 1; i < l->n && i < HEADER_LINES; i++)
		if (list_columns_read(r, l->s[i]) != 0)
			return fail("%s: line %d: a header (wanted it in "
			    "line 1, without lines above it)", r->name,
			    l->number[i]);
	return 0;
}

static int
list_detect_lines(struct list_reading *r)
{
	const struct list_lines *l = &r->lines;

	if (list_detect_header(r) != 0)
		return -1;
	if (r->format != NULL)
		return 0;
	if (list_detect_by(r, LIST_BY_LINES) != 0)
		return -1;
	if (r->format != NULL)
		return 0;
	if (list_foreign_lines(r))
		return -1;
	if (l->n > 0 && text_starts(l->s[0], "# "))
		return fail("%s: line 1: a comment (wanted lines of videos and "
		    "labels, without those that begin with #)", r->name);
	r->sep = list_find_separator(l);
	if ((r->sep == ' ' ? list_check_words(r) : list_check_separated(r)))
		return -1;
	if (r->sep == ' ')
		list_numbers_count(r);
	return list_detect_by(r, LIST_BY_NUMBERS);
}

int
list_detect(struct list_reading *r)
{
	const struct list_format *named = r->how->format > 0 ?
	    &list_formats[r->how->format - 1] : NULL;

	if (list_is_json(r->text.data) && (r->json = json_parse(r->name,
	    r->text.data, r->text.n)) == NULL)
		return -1;
	if (named != NULL && named->by == LIST_BY_TEXT)
		r->format = named;
	else if (named == NULL && list_detect_by(r, LIST_BY_TEXT) != 0)
		return -1;
	if (r->format != NULL)
		return 0;
	if (list_foreign(r->name, r->text.data) ||
	    list_cut_lines(&r->lines, r->name, r->text.data) != 0)
		return -1;
	return named != NULL ? list_detect_named(r, named) :
	    list_detect_lines(r);
}
