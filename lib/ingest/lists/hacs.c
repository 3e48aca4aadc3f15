/*
 * HACS Clips: classname,youtube_id,subset,start,end,label, where label is 1, or
 * -1 for a video that is not of the class, whose row is left out.  The videos
 * are CLASS/v_ID.mp4, of which only the interval is used.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ingest/list_format.h"

int
hacs_detect(struct list_reading *r)
{
	int *at = r->at, i = 0;

	if (at[COLUMN_ID] < 0 || !list_has_times(r) || at[COLUMN_LABEL] < 0 ||
	    strcasecmp(r->head.s[at[COLUMN_LABEL]], "label") != 0)
		return 0;
	while (i < r->head.n && strcasecmp(r->head.s[i], "classname") != 0)
		i++;
	if (i == r->head.n)
		return 0;
	at[COLUMN_VOTE] = at[COLUMN_LABEL];
	at[COLUMN_LABEL] = i;
	list_times_are_seconds(r);
	return 1;
}

/*
 * Find LABEL/v_ID.mp4, with blanks or '_' in the label, v_ID.mp4 or ID.mp4, or
 * one with another extension.
 */
static struct list_row *
hacs_find(struct list_reading *r, const char *id, const char *label,
    const struct list_part *part)
{
	char *below[] = {
		xprintf("%s/v_%s", label != NULL ? label : ".", id),
		xprintf("%s/v_%s", label != NULL ? label : ".", id),
		xprintf("v_%s", id), xstrdup(id)
	};
	const size_t n = sizeof(below) / sizeof(*below);
	struct list_row *row;
	char *path = NULL, *missing;

	for (char *s = below[1]; *s != '\0' && *s != '/'; s++)
		*s = *s == ' ' ? '_' : *s;
	for (size_t i = 0; i < n && path == NULL; i++)
		if (i != 1 || strcmp(below[0], below[1]) != 0)
			path = list_try_endings(r, below[i]);
	missing = xprintf("%s.mp4", below[0]);
	row = list_found(r, path, missing);
	list_select(r, row, part);
	for (size_t i = 0; i < n; i++)
		free(below[i]);
	free(missing);
	return row;
}

int
hacs_read(struct list_reading *r)
{
	return list_cells_read(r, COLUMN_ID, hacs_find);
}
