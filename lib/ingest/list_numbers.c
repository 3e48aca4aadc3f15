/*
 * Lists that training programs read: a path, then integers.  The last integers
 * are labels.  The number of the first frame and the number of frames may
 * precede them.
 */
#include <limits.h>
#include <stdlib.h>

#include "base/text.h"
#include "ingest/list_format.h"

void
list_numbers_count(struct list_reading *r)
{
	const struct list_lines *l = &r->lines;
	struct list_numbers c = { .min = INT_MAX };

	for (size_t i = 0; i < l->n; i++) {
		char *copy = xstrdup(l->s[i]), **s;
		int n;

		list_cut_numbers(copy, &r->cell);
		n = r->cell.n;
		s = r->cell.s;
		if (n < c.min)
			c.few = l->number[i];
		if (n > c.max)
			c.many = l->number[i];
		c.min = n < c.min ? n : c.min;
		c.max = n > c.max ? n : c.max;
		c.files += list_is_file(copy);
		c.parts += n == 3 && atoll(s[1]) < atoll(s[2]);
		free(copy);
	}
	if (l->n > 0 && (c.files == 0 || c.files == (int)l->n))
		r->numbers = c;
}

static int
list_numbers_row(struct list_reading *r, char *line, int offset, int frames,
    int several)
{
	char **word, *whole = xstrdup(line);
	int n, before = offset + frames, bad;
	int64_t number[2] = { 0, 0 };
	struct list_row *row;

	list_cut_numbers(line, &r->cell);
	word = r->cell.s;
	n = r->cell.n;
	bad = n <= before || (!several && n != before + 1);
	/* The number of frames is at least 1, an offset at least 0. */
	for (int i = 0; i < before && !bad; i++)
		bad = text_int(word[i], i == before - 1, 1000000,
		    &number[i]) != 0;
	if (bad)
		list_broken(r, whole);
	free(whole);
	if (bad)
		return -1;
	row = list_append(r->l, list_place(r, line), r->name, r->line);
	row->part.unit = frames ? LIST_FRAMES : LIST_ALWAYS;
	row->part.begin = offset ? (double)number[0] : 0;
	row->part.end = row->part.begin + (double)number[offset];
	/* With an offset, several rows may share a folder, so the frames enter
	 * the key. */
	row->part_in_key = offset;
	for (int i = before; i < n; i++)
		if (several)
			list_row_interval(row, word[i], LIST_ALWAYS, 0, 0);
		else
			list_row_label(row, word[i]);
	return 0;
}

int
list_numbers_read(struct list_reading *r, int offset, int frames, int several)
{
	char *line;
	int result = 0;

	while (result == 0 && (line = list_next_line(r)) != NULL)
		result = list_numbers_row(r, line, offset, frames, several);
	return result;
}
