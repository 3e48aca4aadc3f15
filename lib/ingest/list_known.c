/*
 * Readers for the rows of HMDB51, Something-Something v1 and Charades.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_layout.h"

#define Q text_quote

/*
 * Names may contain blanks, so parse from the end: the last character of a row
 * is its use.
 */
int
list_hmdb51_row(struct list_reading *r, char *line)
{
	static const char *const use[] = { NULL, "train", "test" };
	char *class = list_hmdb51_class(r->path), *path;
	size_t n = strlen(line);
	int which, result = -1;

	if (class == NULL) {
		fail("%s: not named like a list of HMDB51 (wanted "
		    "CLASS_test_split1.txt)", r->name);
		goto out;
	}
	if (r->how->subset == NULL && !r->how->all) {
		fail("%s: a list of HMDB51 has training and testing (wanted "
		    "--subset=train or --subset=test)", r->name);
		goto out;
	}
	while (n > 0 && line[n - 1] == ' ')
		n--;
	if (n < 3 || line[n - 2] != ' ' || line[n - 1] < '0' ||
	    line[n - 1] > '2') {
		list_broken(r, line);
		goto out;
	}
	result = 0;
	which = line[n - 1] - '0';
	for (n--; n > 0 && line[n - 1] == ' ';)
		n--;
	line[n] = '\0';
	/* use[0] is NULL, which no subset matches: the row is skipped. */
	if (!list_take(r, use[which]))
		goto out;
	path = xprintf("%s/%s", class, line);
	list_append(r->l, list_place(r, path), class, r->name, r->line);
	class = NULL;
	free(path);
out:
	free(class);
	return result;
}

int
list_ssv1_row(struct list_reading *r, char *line)
{
	size_t n = strspn(line, "0123456789");
	const char *label = NULL;
	char *id;

	if (n == 0 || (line[n] != '\0' && (line[n] != ';' ||
	    line[n + 1] == '\0')))
		return list_broken(r, line);
	if (line[n] == ';')
		label = line + n + 1 + strspn(line + n + 1, " ");
	id = xstrndup(line, n);
	list_find(r, id, 1)->label = label != NULL ? xstrdup(label) : NULL;
	free(id);
	return 0;
}

/* Parse "c012 3.10 9.80" and add label "12" with this interval. */
static int
list_charades_action(const struct list_reading *r, struct list_row *row,
    const char *text)
{
	char code[8], from[24], to[24], number[16];
	double start, end;
	int64_t class;
	int n = 0;

	if (sscanf(text, " %7s %23s %23s %n", code, from, to, &n) != 3 ||
	    text[n] != '\0' || code[0] != 'c' ||
	    text_int(code + 1, 0, LIST_CODES - 1, &class) != 0 ||
	    text_real(from, 0, 1e6, &start) != 0 ||
	    text_real(to, 0, 1e6, &end) != 0 || end < start)
		return fail("%s: line %d: action %s (wanted c000 to c%d, then "
		    "start and end in seconds)", r->name, r->line, Q(text),
		    LIST_CODES - 1);
	snprintf(number, sizeof(number), "%d", (int)class);
	list_row_label(row, number, LIST_SECONDS, start, end);
	return 0;
}

int
list_charades_row(struct list_reading *r, char *line)
{
	int result = list_columns_row(r, line);
	const char *id = list_cell(r, COLUMN_ID);
	struct list_row *row;
	char *next;

	if (result != 0)
		return result < 0 ? -1 : 0;
	if (*id == '\0')
		return fail("%s: line %d: no id", r->name, r->line);
	row = list_find(r, id, 0);
	if (list_cells(r, row) != 0)
		return -1;
	row->has_set = 1;
	r->l->coded = LIST_CODES;
	for (char *a = list_cell(r, COLUMN_ACTIONS); *a != '\0'; a = next) {
		next = a + strcspn(a, ";");
		if (*next != '\0')
			*next++ = '\0';
		if (list_charades_action(r, row, a) != 0)
			return -1;
	}
	return 0;
}

/*
 * Frame ${at} of the row's video shows class ${text}.  Extend the interval of
 * this class that ends at the frame before, or begin a new one.
 */
static void
list_frame_label(struct list_row *row, const char *text, double at)
{
	for (int k = row->nset; k-- > 0;) {
		struct list_label *s = &row->set[k];

		if (s->to >= at - 1 && strcmp(s->text, text) == 0) {
			s->to = at;
			return;
		}
	}
	list_row_label(row, text, LIST_FRAMES, at, at);
}

/* Each row is a frame.  The rows of a video must follow each other. */
int
list_charades_frame(struct list_reading *r, char *line)
{
	char *label, **field;
	int n = list_cut_fields(line, ' ', &r->cell) == 0 ? r->cell.n : 0;
	struct list_row *row = r->l->n > 0 ? &r->l->row[r->l->n - 1] : NULL;
	int64_t frame, class;

	field = r->cell.s;
	if (n != 5 || text_int(field[2], 0, 1000000, &frame) != 0)
		return list_broken(r, n > 0 ? field[0] : "");
	if (row == NULL || row->file != r->name ||
	    strcmp(path_base(row->path), field[0]) != 0) {
		char *slash = strrchr(field[3], '/');
		char *folder = slash != NULL ? xstrndup(field[3],
		    (size_t)(slash - field[3])) : xstrdup(".");

		row = list_append(r->l, list_place(r, folder), NULL, r->name,
		    r->line);
		row->has_set = 1;
		row->part.first = frame;
		r->l->coded = LIST_CODES;
		free(folder);
		if (strcmp(path_base(row->path), field[0]) != 0)
			return fail("%s: line %d: path %s of video %s (wanted "
			    "frames in a folder of its name)", r->name, r->line,
			    Q(field[3]), Q(field[0]));
	}
	if (frame != row->part.first + row->part.count)
		return fail("%s: line %d: frame %lld of %s (wanted %lld, the "
		    "next one)", r->name, r->line, (long long)frame,
		    Q(field[0]), (long long)(row->part.first +
		    row->part.count));
	row->part.count++;
	for (char *s = field[4]; *s != '\0'; s = label) {
		label = s + strcspn(s, ",");
		if (*label != '\0')
			*label++ = '\0';
		if (text_int(s, 0, LIST_CODES - 1, &class) != 0)
			return fail("%s: line %d: label %s (wanted 0 to %d)",
			    r->name, r->line, Q(s), LIST_CODES - 1);
		list_frame_label(row, s, (double)(frame - row->part.first));
	}
	return 0;
}
