/*
 * Moments in Time: path, label, and the votes for and against it.  The label is
 * the first folder of the path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ingest/list_format.h"

/* Cut ${line} into ${f}.  Return 1 if it has the form of the list. */
static int
moments_cut(char *line, struct list_fields *f)
{
	int64_t votes;
	size_t n;

	if (list_cut_fields(line, ',', f) != 0 || f->n != 4)
		return 0;
	n = strlen(f->s[1]);
	return n > 0 && strncmp(f->s[0], f->s[1], n) == 0 && f->s[0][n] == '/'
	    && text_int(f->s[2], 0, INT32_MAX, &votes) == 0 &&
	    text_int(f->s[3], 0, INT32_MAX, &votes) == 0;
}

static int
moments_is(const char *line)
{
	struct list_fields f = { 0 };
	char *copy = xstrdup(line);
	int is = moments_cut(copy, &f);

	free(f.s);
	free(copy);
	return is;
}

int
moments_detect(struct list_reading *r)
{
	return list_all_lines(&r->lines, moments_is);
}

int
moments_read(struct list_reading *r)
{
	for (char *line; (line = list_next_line(r)) != NULL;) {
		if (!moments_is(line))
			return list_broken(r, line);
		moments_cut(line, &r->cell);
		list_row_label(list_find_path(r, r->cell.s[0]), r->cell.s[1]);
	}
	return 0;
}
