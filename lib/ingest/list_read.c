/*
 * Read annotation lists: open their files, and parse the rows of path-label,
 * CSV, Kinetics, HACS and UCF101.
 */
#include <glob.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_layout.h"

#define Q text_quote

int
list_broken(const struct list_reading *r, const char *found)
{
	return fail("%s: line %d: %s (wanted %s)", r->name, r->line, Q(found),
	    list_kind[r->y.format].wanted);
}

int
list_take(struct list_reading *r, const char *subset)
{
	const char *want = r->how->subset;

	if (want == NULL || (subset != NULL && strcmp(subset, want) == 0))
		return 1;
	r->skipped++;
	return 0;
}

/*
 * Cut the last word and the blanks before it off ${line}, and return it.
 * Return NULL if there is only one word.  Words are cut from the end because a
 * path may contain blanks.
 */
static char *
list_cut_last_word(char *line)
{
	char *end = line + strlen(line), *word;

	while (end > line && strchr(" \t", end[-1]) != NULL)
		*--end = '\0';
	for (word = end; word > line && strchr(" \t", word[-1]) == NULL;)
		word--;
	if (word == line)
		return NULL;
	for (end = word; end > line && strchr(" \t", end[-1]) != NULL;)
		*--end = '\0';
	return word;
}

/*
 * Interpret ${text} between path and label.  If the format was guessed, a
 * number may also be one of several labels.  Store it as the frame count, which
 * extraction then checks against the video.  Ignore it if the user named the
 * format.
 */
static int
list_take_middle(struct list_reading *r, const char *text, const char *label,
    int64_t *frames)
{
	*frames = 0;
	if (r->how->format != LIST_AUTO ||
	    text_int(text, 0, INT64_MAX, frames) != 0) {
		r->ignored = r->ignored > 0 ? r->ignored : r->line;
		return 0;
	}
	r->counted = r->counted > 0 ? r->counted : r->line;
	if (*frames > 0)
		return 0;
	return fail("%s: line %d: 0 frames before the label %s (wanted the "
	    "frames of the video; --annotations-format=mmaction2 for several "
	    "labels, or path-label to ignore the number)", r->name, r->line,
	    Q(label));
}

/*
 * Check ${label} of a list without a header whose format was guessed: a number
 * with decimals is a time.
 */
static int
list_check_label(const struct list_reading *r, const char *label)
{
	double time;

	if (r->how->format != LIST_AUTO || label == NULL ||
	    list_whole(label) > 0 || text_real(label, 0, 1e6, &time) != 0)
		return 0;
	return fail("%s: line %d: label %s (wanted an integer or a name; for "
	    "times, a first line that names the fields, such as "
	    "path,time_start,time_end)", r->name, r->line, Q(label));
}

/* Parse "PATH", "PATH LABEL" or "PATH FRAMES LABEL". */
static int
list_blank_row(struct list_reading *r, char *line)
{
	char *label = list_cut_last_word(line), *word = strrchr(line, ' ');
	struct list_row *row;
	int64_t frames = 0;

	/*
	 * A number after a file name is a field of its own.  After a name
	 * without an extension it may belong to the path.
	 */
	if (label != NULL && word != NULL && strchr(line, '.') != NULL &&
	    strchr(line, '.') < word && text_int(word + 1, 0, INT64_MAX,
	    &frames) == 0 && list_take_middle(r, list_cut_last_word(line),
	    label, &frames) != 0)
		return -1;
	if (list_check_label(r, label) != 0)
		return -1;
	row = list_find_path(r, line);
	row->label = label != NULL ? xstrdup(label) : NULL;
	row->part.frames = frames;
	row->label_missing = label == NULL;
	return 0;
}

/* Parse a row without a header: path and label, or path, frames and label. */
static int
list_fields_row(struct list_reading *r, char *line)
{
	struct list_row *row;
	char **s;
	int n;
	int64_t frames = 0;

	if (list_cut_fields(line, r->y.sep, &r->cell) != 0)
		return fail("%s: line %d: a quote without its end (wanted each "
		    "row on one line)", r->name, r->line);
	s = r->cell.s;
	n = r->cell.n;
	if (n > 3 || *s[0] == '\0')
		return fail("%s: line %d: %s (wanted path and label, or path, "
		    "frames and label)", r->name, r->line, n > 3 ?
		    "more than 3 fields" : "no path");
	if (n == 3 && list_take_middle(r, s[1], s[2], &frames) != 0)
		return -1;
	if (n > 1 && list_check_label(r, s[n - 1]) != 0)
		return -1;
	row = list_find_path(r, s[0]);
	row->label = n > 1 && *s[n - 1] != '\0' ? xstrdup(s[n - 1]) : NULL;
	row->label_missing = row->label == NULL;
	row->part.frames = frames;
	return 0;
}

/*
 * Set ${*label} to the label of the row, NULL if it has none.  Return 1 if the
 * row is wanted, 0 if not, -1 after a message.
 */
static int
list_take_label(struct list_reading *r, char **label)
{
	const char *vote = list_cell(r, COLUMN_VOTE);
	double shows = 1;

	*label = list_cell(r, COLUMN_LABEL);
	if (**label == '\0')
		*label = NULL;
	else if (list_is_json(*label))
		return fail("%s: line %d: %s is JSON (wanted a name or a "
		    "number): vt-extract(1), Other formats, shows how to "
		    "convert it", r->name, r->line, list_column_name(r,
		    COLUMN_LABEL));
	if (r->y.at[COLUMN_SPLIT] >= 0 &&
	    !list_take(r, list_cell(r, COLUMN_SPLIT)))
		return 0;
	if (r->y.at[COLUMN_VOTE] >= 0 && (text_real(vote, -1, 1, &shows) != 0 ||
	    fabs(shows) != 1))
		return fail("%s: line %d: label %s (wanted 1 for a video of "
		    "its class, -1 for one that is not)", r->name, r->line,
		    Q(vote));
	r->against += shows < 0;
	return shows > 0;
}

/* Parse a row of a list with a header: CSV, Kinetics or HACS. */
static int
list_header_row(struct list_reading *r, char *line)
{
	enum list_column named = r->y.format == LIST_CSV ? COLUMN_PATH :
	    COLUMN_ID;
	struct list_part part = { 0 };
	struct list_row *row;
	char *label, *path;
	int result = list_columns_row(r, line);

	if (result != 0)
		return result < 0 ? -1 : 0;
	path = list_cell(r, named);
	if (*path == '\0')
		return fail("%s: line %d: no %s", r->name, r->line,
		    list_column_name(r, named));
	if (list_times_part(r, &part) != 0)
		return -1;
	if ((result = list_take_label(r, &label)) <= 0)
		return result;
	if (r->y.format == LIST_KINETICS) {
		row = list_find_kinetics(r, label, path, &part);
	} else {
		row = r->y.format == LIST_HACS ? list_find_hacs(r, label,
		    path) : list_find_path(r, path);
		row->part = part;
		/* A row with a first frame is one of several of a video, so the
		 * frames enter its key. */
		if (part.count == 0 || *list_cell(r, COLUMN_BEGIN_FRAME) !=
		'\0')
			row->suffix = list_part_suffix(&part);
	}
	row->label = label != NULL ? xstrdup(label) : NULL;
	return list_cells(r, row);
}

/* Test lists contain no class numbers, so take the class from the folder. */
static int
list_ucf101_row(struct list_reading *r, char *line)
{
	char *label;

	if (!list_is_ucf101(line))
		return list_broken(r, line);
	label = list_cut_last_word(line);
	list_append(r->l, list_place(r, line), label != NULL ? xstrdup(label) :
	    xstrndup(line, strcspn(line, "/")), r->name, r->line)->base = 1;
	return 0;
}

static int
list_read_row(struct list_reading *r, char *line)
{
	switch (r->y.format) {
	case LIST_CSV:
	case LIST_KINETICS:
	case LIST_HACS:
		return list_header_row(r, line);
	case LIST_UCF101:
		return list_ucf101_row(r, line);
	case LIST_HMDB51:
		return list_hmdb51_row(r, line);
	case LIST_SSV1:
		return list_ssv1_row(r, line);
	case LIST_CHARADES:
		return list_charades_row(r, line);
	case LIST_CHARADES_FRAMES:
		return list_charades_frame(r, line);
	case LIST_MMACTION2:
	case LIST_MMACTION2_FRAMES:
	case LIST_MMACTION2_OFFSET:
	case LIST_PYSLOWFAST:
	case LIST_TSM:
		return list_numbered_row(r, line);
	default:
		return r->y.sep == ' ' ? list_blank_row(r, line) :
		    list_fields_row(r, line);
	}
}

static int
list_read_lines(struct list_reading *r, char *text)
{
	struct list_lines lines = { 0 };
	int result = list_cut_lines(&lines, r->name, text);

	if (result == 0)
		result = list_choose_layout(&lines, r);
	if (result == 0 && r->y.header)
		result = list_columns_check(r, &lines);
	for (size_t i = (size_t)r->y.header; i < lines.n && result == 0; i++) {
		r->line = lines.number[i];
		result = list_read_row(r, lines.s[i]);
	}
	free(lines.s);
	free(lines.number);
	return result;
}

/* Check that the file has the columns of --subset and --group. */
static int
list_check_columns(const struct list_reading *r)
{
	const struct list_how *how = r->how;
	const struct list_layout *y = &r->y;

	r->l->strict |= y->format != how->format ||
	    (how->format != LIST_PATH_LABEL && how->format != LIST_CSV);
	if (how->subset != NULL && y->format != LIST_HMDB51 &&
	    !(y->header && y->at[COLUMN_SPLIT] >= 0))
		return fail("%s: %s has no subsets (--subset=%s)", r->name,
		    list_kind[y->format].title, Q(how->subset));
	if (how->group != NULL && !(y->header && y->at[COLUMN_GROUP] >= 0))
		return fail("%s: %s without a column %s (wanted a list whose "
		    "header has it, for --group)", r->name,
		    list_kind[y->format].title, Q(how->group));
	return 0;
}

/* Warn if the list has columns, but its rows, from row ${first}, no label. */
static void
list_warn_unlabeled(const struct list_reading *r, size_t first)
{
	struct buffer b = { 0 };
	int labeled = r->how->by_folder || r->head.n == 0 || !r->y.header;

	for (size_t i = first; i < r->l->n && !labeled; i++)
		labeled = r->l->row[i].label != NULL || r->l->row[i].has_set;
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
	enum list_format requested = r->how->format;
	struct buffer b = { 0 };
	size_t first = r->l->n;
	int result = -1;

	r->name = list_name(r->l, r->path);
	r->y = (struct list_layout){ 0 };
	if (list_foreign_read(r->path, r->name, "lines of text", &b) != 0)
		goto out;
	if (requested == LIST_SSV2 || list_is_json(b.data))
		result = list_json(r, b.data, b.n);
	else if (!list_foreign(r->name, b.data))
		result = list_read_lines(r, b.data);
	if (result == 0)
		result = list_check_columns(r);
	if (result == 0)
		list_warn_unlabeled(r, first);
out:
	buffer_free(&b);
	free(r->head_text);
	r->head_text = NULL;
	return result;
}

static int
list_by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Count the distinct labels of row ${first} and the rows after it. */
static size_t
list_count_classes(const struct list *l, size_t first)
{
	const char **text = NULL;
	size_t n = 0, cap = 0, different = 0;

	for (size_t i = first; i < l->n; i++) {
		const struct list_row *r = &l->row[i];

		for (int k = r->label != NULL ? -1 : 0; k < r->nset; k++) {
			text = array_reserve(text, n, &cap, sizeof(*text));
			text[n++] = k < 0 ? r->label : r->set[k].text;
		}
	}
	if (n > 0)
		qsort(text, n, sizeof(*text), list_by_bytes);
	for (size_t i = 0; i < n; i++)
		different += i == 0 || strcmp(text[i], text[i - 1]) != 0;
	free(text);
	return different;
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
	free(r.head.s);
	free(r.cell.s);
	if (result != 0)
		return -1;
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
	    list_kind[r.y.format].title, files, n, n == 1 ? "" : "s", classes,
	    classes == 1 ? "" : "es", middle);
	return 0;
}
