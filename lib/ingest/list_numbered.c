/*
 * Rows of the lists that training programs read: a path, then integers.  The
 * last integers are labels.  The number of the first frame and the number of
 * frames may precede them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_layout.h"

#define Q text_quote

/*
 * Which integers precede the labels (offset and frames: 0 or 1), the minimum
 * number of labels, and whether several are allowed.
 */
struct list_numbered_fields { int offset, frames, skipped, least, several; };

static struct list_numbered_fields
list_numbered_numbers_of(enum list_format f)
{
	switch (f) {
	case LIST_MMACTION2:
		return (struct list_numbered_fields){ .least = 1,
		    .several = 1 };
	case LIST_MMACTION2_FRAMES:
		return (struct list_numbered_fields){ .frames = 1, .least = 1,
		    .several = 1 };
	case LIST_MMACTION2_OFFSET:
		return (struct list_numbered_fields){ 1, 1, 0, 1, 1 };
	case LIST_TSM:
		return (struct list_numbered_fields){ .frames = 1, .least = 1 };
	default:
		return (struct list_numbered_fields){ 0 };
	}
}

/*
 * Parse "PATH", "PATH LABEL" or "PATH WORD LABEL".  Without a label, use label
 * 0.
 */
static int
list_numbered_pyslowfast_row(struct list_reading *r, char *line)
{
	char **field;
	int n = list_cut_fields(line, ' ', &r->cell) == 0 ? r->cell.n : 0;
	int64_t class = 0;

	field = r->cell.s;
	if (n < 1 || n > 3 || *field[0] == '\0' ||
	    (n > 1 && text_int(field[n - 1], 0, INT32_MAX, &class) != 0))
		return fail("%s: line %d: %d fields, the first %s (wanted %s)",
		    r->name, r->line, n, n > 0 ? Q(field[0]) : "",
		    list_kind[LIST_PYSLOWFAST].wanted);
	list_append(r->l, list_place(r, field[0]), xstrdup(n > 1 ?
	    field[n - 1] : "0"), r->name, r->line);
	return 0;
}

/*
 * Set the part of the folder.  With an offset, several rows may share a folder,
 * so derive the key from the folder and the frames.
 */
static void
list_numbered_take_frames(struct list_row *row,
    const struct list_numbered_fields *want, const int64_t *number)
{
	int at = 0;

	if (want->offset)
		row->part.first = number[at++];
	if (want->frames)
		row->part.count = number[at];
	if (want->offset)
		row->suffix = list_part_suffix(&row->part);
}

int
list_numbered_row(struct list_reading *r, char *line)
{
	struct list_numbered_fields want =
	    list_numbered_numbers_of(r->y.format);
	char **word, *whole;
	int n, before = want.offset + want.frames, bad;
	int64_t number[2] = { 0, 0 };
	struct list_row *row;

	if (r->y.format == LIST_PYSLOWFAST)
		return list_numbered_pyslowfast_row(r, line);
	whole = xstrdup(line);
	list_cut_words(line, &r->cell);
	word = r->cell.s;
	n = r->cell.n;
	bad = n < before + want.least || (!want.several && n != before + 1);
	/* The number of frames is at least 1, an offset at least 0. */
	for (int i = 0; i < before && !bad; i++)
		bad = text_int(word[i], i == before - 1, 1000000,
		    &number[i]) != 0;
	if (bad)
		list_broken(r, whole);
	free(whole);
	if (bad)
		return -1;
	row = list_append(r->l, list_place(r, line), want.several ? NULL :
	    xstrdup(word[before]), r->name, r->line);
	list_numbered_take_frames(row, &want, number);
	for (int i = before; want.several && i < n; i++)
		list_row_label(row, word[i], LIST_ALWAYS, 0, 0);
	return 0;
}
