/* The gaps between the parts of a video, as parts of a class of their own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/list_format.h"

/* The shortest gap.  Both have a frame at any usual rate. */
#define SECONDS 1
#define FRAMES 16

/* Compare the rows of two indices for qsort_r: by video and begin. */
static int
list_background_compare(const void *a, const void *b, void *rows)
{
	const struct list_row *s = (struct list_row *)rows + *(const size_t *)a;
	const struct list_row *t = (struct list_row *)rows + *(const size_t *)b;
	int order = strcmp(s->path, t->path);

	return order != 0 ? order : (s->part.begin > t->part.begin) -
	    (s->part.begin < t->part.begin);
}

static char *
list_background_copy(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

/* Append the gap of ${label} from ${end} to the part of row ${i}. */
static void
list_background_add(struct list *l, size_t i, double end, const char *label)
{
	struct list_row *to = list_append(l, xstrdup(l->row[i].path),
	    l->row[i].file, l->row[i].line);
	const struct list_row *of = &l->row[i];

	to->item = of->item;
	to->name = list_background_copy(of->name);
	to->tried = list_background_copy(of->tried);
	to->group = list_background_copy(of->group);
	to->split = list_background_copy(of->split);
	to->has_set = of->has_set;
	to->part = of->part;
	to->part.begin = end;
	to->part.end = of->part.begin;
	to->part_in_key = 1;
	list_row_label(to, label);
}

void
list_background(struct list *l, size_t first, const char *label)
{
	const size_t n = l->n - first;
	size_t *order = xcalloc(n, sizeof(*order));
	double end = HUGE_VAL;		/* of the parts before */

	for (size_t i = 0; i < n; i++)
		order[i] = first + i;
	qsort_r(order, n, sizeof(*order), list_background_compare, l->row);
	for (size_t i = 0; i < n; i++) {
		const struct list_row *row = &l->row[order[i]];
		const struct list_row *last = &l->row[order[i - (i > 0)]];
		const struct list_part part = row->part;

		if (i == 0 || strcmp(row->path, last->path) != 0)
			end = 0;
		else if (part.unit != last->part.unit)
			end = HUGE_VAL;
		else if (part.begin - end >= (part.unit == LIST_FRAMES ?
		    FRAMES : SECONDS))
			list_background_add(l, order[i], end, label);
		end = fmax(end, part.unit == LIST_ALWAYS || part.end == 0 ?
		    HUGE_VAL : part.end);
	}
	free(order);
}
