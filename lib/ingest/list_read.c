/*
 * Read annotation lists: open their files, and parse the rows of path-label, CSV,
 * Kinetics and UCF101.
 */
#include <glob.h>
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
#define SECONDS 1e6		/* longer than any video */

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
	return fail("%s: line %d: 0 frames before the label %s (wanted the frames "
	    "of the video; --annotations-format=mmaction2 for several labels, or "
	    "path-label to ignore the number)", r->name, r->line, Q(label));
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
	row = list_append(r->l, list_place(r, line), label != NULL ?
	    xstrdup(label) : NULL, r->name, r->line);
	row->part.frames = frames;
	row->label_missing = label == NULL;
	return 0;
}

/*
 * Set ${p} from the two times of a row; NULL: absent.  Return 0, or -1 after a
 * message.
 */
static int
list_read_part(const struct list_reading *r, const char *start, const char *end,
    struct list_part *p)
{
	if (start != NULL && *start != '\0' &&
	    text_real(start, 0, SECONDS, &p->start) != 0)
		return fail("%s: line %d: time_start %s (wanted seconds from 0)",
		    r->name, r->line, Q(start));
	if (end != NULL && *end != '\0' &&
	    (text_real(end, 0, SECONDS, &p->end) != 0 || p->end <= p->start))
		return fail("%s: line %d: time_end %s (wanted seconds after "
		    "time_start, %g)", r->name, r->line, Q(end), p->start);
	return 0;
}

static int
list_separated_row(struct list_reading *r, char *line)
{
	const struct list_layout *y = &r->y;
	char *field[LIST_FIELDS];
	int n = list_cut_fields(line, y->sep, field);
	int path = y->header ? y->path : 0;
	int label = y->header ? y->label : n - 1;
	struct list_part part = { 0 };
	struct list_row *row;

	if (!y->header && n > 3)
		return fail("%s: line %d: %d fields (wanted path and label, or "
		    "path, frames and label)", r->name, r->line, n);
	if (path >= n || label >= n || *field[path] == '\0')
		return fail("%s: line %d: no path%s", r->name, r->line,
		    path < n && *field[path] != '\0' ? " and label" : "");
	if (y->header && (list_read_part(r, y->start >= 0 && y->start < n ?
	    field[y->start] : NULL, y->end >= 0 && y->end < n ?
	    field[y->end] : NULL, &part) != 0))
		return -1;
	if (y->header && y->split >= 0 &&
	    !list_take(r, y->split < n ? field[y->split] : NULL))
		return 0;
	if (!y->header && n == 3 &&
	    list_take_middle(r, field[1], field[label], &part.frames) != 0)
		return -1;
	row = list_append(r->l, list_place(r, field[path]), label >= 0 &&
	    label != path && *field[label] != '\0' ? xstrdup(field[label]) :
	    NULL, r->name, r->line);
	row->label_missing = !y->header && row->label == NULL;
	row->part = part;
	row->suffix = list_part_suffix(&part);
	return list_cells(r, row, field, n);
}

static int
list_kinetics_row(struct list_reading *r, char *line)
{
	const struct list_layout *y = &r->y;
	char *field[LIST_FIELDS], *label = NULL;
	int n = list_cut_fields(line, y->sep, field);
	struct list_part part = { 0 };
	struct list_row *row;

	if (y->id >= n || y->start >= n || y->end >= n ||
	    *field[y->id] == '\0')
		return fail("%s: line %d: not a row of Kinetics (wanted label,"
		    "youtube_id,time_start,time_end)", r->name, r->line);
	if (list_read_part(r, field[y->start], field[y->end], &part) != 0)
		return -1;
	if (y->split >= 0 && !list_take(r, y->split < n ? field[y->split] :
	    NULL))
		return 0;
	if (y->label >= 0 && y->label < n && *field[y->label] != '\0')
		label = field[y->label];
	row = list_find_kinetics(r, label, field[y->id], &part);
	row->label = label != NULL ? xstrdup(label) : NULL;
	return list_cells(r, row, field, n);
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
	case LIST_KINETICS:
		return list_kinetics_row(r, line);
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
		    list_separated_row(r, line);
	}
}

static int
list_read_lines(struct list_reading *r, char *text)
{
	struct list_lines lines = { 0 };
	int result = list_cut_lines(&lines, r->name, text);

	if (result == 0)
		result = list_choose_layout(&lines, r);
	for (size_t i = (size_t)r->y.header; i < lines.n && result == 0; i++) {
		r->line = lines.number[i];
		result = list_read_row(r, lines.s[i]);
	}
	free(lines.s);
	free(lines.number);
	return result;
}

/*
 * Return 1 if ${text} is an array of objects, the first of which begins with
 * "id".
 */
static int
list_is_ssv2(const char *text)
{
	static const char *const begins[] = { "[", "{", "\"id\"", ":" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		text += strspn(text, " \t\r\n");
		if (!text_starts(text, begins[i]))
			return 0;
		text += strlen(begins[i]);
	}
	return 1;
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
	    !(y->header && y->split >= 0))
		return fail("%s: %s has no subsets (--subset=%s)", r->name,
		    list_kind[y->format].title, Q(how->subset));
	if (how->group != NULL && !(y->header && y->group >= 0))
		return fail("%s: %s without a column %s (wanted a list whose "
		    "header has it, for --group)", r->name,
		    list_kind[y->format].title, Q(how->group));
	return 0;
}

static int
list_read_file(struct list_reading *r)
{
	enum list_format requested = r->how->format;
	struct buffer b = { 0 };
	int result = -1;

	r->name = list_name(r->l, r->path);
	r->y = (struct list_layout){ 0 };
	if (file_read_text(r->path, &b) != 0)
		goto out;
	if (requested == LIST_SSV2 || (requested == LIST_AUTO &&
	    list_is_ssv2(b.data)))
		result = list_ssv2(r, b.data, b.n);
	else if (!list_no_json(r->name, b.data))
		result = list_read_lines(r, b.data);
	if (result == 0)
		result = list_check_columns(r);
out:
	buffer_free(&b);
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
			return fail("%s: no file matches this pattern", Q(file));
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
	if (result != 0)
		return -1;
	n = l->n - first;
	if (n == 0 && r.skipped > 0)
		return fail("%s: no row of the subset %s, of %d rows", Q(file),
		    Q(how->subset), r.skipped);
	classes = list_count_classes(l, first);
	if (r.y.format == LIST_CSV && r.y.label < 0 && r.y.set < 0)
		snprintf(middle, sizeof(middle), ": no column label, class or "
		    "label_set");
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
