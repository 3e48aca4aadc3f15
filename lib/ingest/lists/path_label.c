/*
 * A path and a label, separated by blanks, tabs, commas or semicolons.  With
 * three fields, the middle one is the number of frames.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote

/* The format of all lists that no other format fits. */
int
path_label_detect(struct list_reading *r)
{
	(void)r;
	return 1;
}

/*
 * Interpret ${text} between path and label.  If the format was guessed, a
 * number may also be one of several labels.  Store it as the frame count, which
 * extraction then checks against the video.  Ignore it if the user named the
 * format.
 */
static int
path_label_take_middle(struct list_reading *r, const char *text,
    const char *label, int64_t *frames)
{
	*frames = 0;
	if (r->how->format > 0 || text_int(text, 0, INT64_MAX, frames) != 0) {
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
 * Append the row of ${path}.  ${middle} and ${label} are NULL if the line has
 * none.  If the format was guessed, a label with decimals is a time.
 */
static int
path_label_row(struct list_reading *r, const char *path, const char *middle,
    const char *label)
{
	struct list_row *row;
	int64_t frames = 0;
	double time;

	if (middle != NULL &&
	    path_label_take_middle(r, middle, label, &frames) != 0)
		return -1;
	if (r->how->format == 0 && label != NULL && list_whole(label) == 0 &&
	    text_real(label, 0, LIST_TIME_MAX, &time) == 0)
		return fail("%s: line %d: label %s (wanted an integer or a "
		    "name; for times, a first line that names the fields, such "
		    "as path,time_start,time_end)", r->name, r->line, Q(label));
	row = list_find_path(r, path);
	row->part.frames = frames;
	row->label_missing = label == NULL || *label == '\0';
	if (!row->label_missing)
		list_row_label(row, label);
	return 0;
}

/* Parse "PATH", "PATH LABEL" or "PATH FRAMES LABEL". */
static int
path_label_words(struct list_reading *r, char *line)
{
	char *label = list_cut_last_word(line), *word = strrchr(line, ' ');
	const char *dot = strchr(line, '.'), *middle = NULL;
	int64_t frames;

	/*
	 * A number after a file name is a field of its own.  After a name
	 * without an extension it may belong to the path.
	 */
	if (label != NULL && word != NULL && dot != NULL && dot < word &&
	    text_int(word + 1, 0, INT64_MAX, &frames) == 0)
		middle = list_cut_last_word(line);
	return path_label_row(r, line, middle, label);
}

static int
path_label_fields(struct list_reading *r, char *line)
{
	char **s;
	int n;

	if (list_cut_cells(r, line) != 0)
		return -1;
	s = r->cell.s;
	n = r->cell.n;
	if (n > 3 || *s[0] == '\0')
		return fail("%s: line %d: %s (wanted path and label, or path, "
		    "frames and label)", r->name, r->line, n > 3 ?
		    "more than 3 fields" : "no path");
	return path_label_row(r, s[0], n == 3 ? s[1] : NULL, n > 1 ? s[n - 1] :
	    NULL);
}

int
path_label_read(struct list_reading *r)
{
	char *line;
	int result = 0;

	while (result == 0 && (line = list_next_line(r)) != NULL)
		result = r->sep == ' ' ? path_label_words(r, line) :
		    path_label_fields(r, line);
	return result;
}
