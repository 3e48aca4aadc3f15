/*
 * PySlowFast's list of the frames of Charades: a row with classes for each
 * frame.  The rows of a video follow each other.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote

/* The misspelling is PySlowFast's. */
int
charades_frames_detect(struct list_reading *r)
{
	if (!text_starts(r->head_line, "original_vido_id"))
		return 0;
	list_columns_drop(r);
	return 1;
}

/*
 * Frame ${at} of the row's video shows class ${text}.  Extend the interval of
 * this class that ends at the frame before, or begin a new one.
 */
static void
charades_frames_label(struct list_row *row, const char *text, double at)
{
	for (int k = row->nlabels; k-- > 0;) {
		struct list_label *s = &row->label[k];

		if (s->to >= at - 1 && strcmp(s->text, text) == 0) {
			s->to = at;
			return;
		}
	}
	list_row_interval(row, text, LIST_FRAMES, at, at);
}

/* Append a row for the video ${id} with a frame ${path}. */
static struct list_row *
charades_frames_video(struct list_reading *r, const char *id, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash != NULL ? xstrndup(path, (size_t)(slash - path)) :
	    xstrdup(".");
	struct list_row *row = list_append(r->l, list_place(r, folder), r->name,
	    r->line);

	free(folder);
	row->has_set = 1;
	r->l->coded = LIST_CODES;
	if (strcmp(path_base(row->path), id) == 0)
		return row;
	fail("%s: line %d: path %s of video %s (wanted frames in a folder of "
	    "its name)", r->name, r->line, Q(path), Q(id));
	return NULL;
}

static int
charades_frames_line(struct list_reading *r, char *line)
{
	int n = list_cut_fields(line, ' ', &r->cell) == 0 ? r->cell.n : 0;
	struct list_row *row = r->l->n > 0 ? &r->l->row[r->l->n - 1] : NULL;
	char **field = r->cell.s, *label;
	int64_t frame, class;

	if (n != 5 || text_int(field[2], 0, 1000000, &frame) != 0)
		return list_broken(r, n > 0 ? field[0] : "");
	if (row == NULL || row->file != r->name ||
	    strcmp(path_base(row->path), field[0]) != 0) {
		row = charades_frames_video(r, field[0], field[3]);
		if (row == NULL)
			return -1;
		row->part.unit = LIST_FRAMES;
		row->part.begin = row->part.end = (double)frame;
		row->part_in_key = frame > 0;
	}
	if ((double)frame != row->part.end)
		return fail("%s: line %d: frame %lld of %s (wanted %.0f, the "
		    "next one)", r->name, r->line, (long long)frame,
		    Q(field[0]), row->part.end);
	row->part.end++;
	for (char *s = field[4]; *s != '\0'; s = label) {
		label = s + strcspn(s, ",");
		if (*label != '\0')
			*label++ = '\0';
		if (text_int(s, 0, LIST_CODES - 1, &class) != 0)
			return fail("%s: line %d: label %s (wanted 0 to %d)",
			    r->name, r->line, Q(s), LIST_CODES - 1);
		charades_frames_label(row, s, (double)frame -
		    row->part.begin);
	}
	return 0;
}

int
charades_frames_read(struct list_reading *r)
{
	char *line;
	int result = 0;

	while (result == 0 && (line = list_next_line(r)) != NULL)
		result = charades_frames_line(r, line);
	return result;
}
