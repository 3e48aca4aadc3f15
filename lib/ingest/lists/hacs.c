/*
 * HACS Clips: classname,youtube_id,subset,start,end,label, where label is 1, or
 * -1 for a video that is not of the class, whose row is left out.  The videos
 * are CLASS/v_ID.mp4, of which only the interval is used.
 */
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

static struct list_row *
hacs_find(struct list_reading *r, const char *id, const char *label,
    const struct list_part *part)
{
	struct list_row *row = list_find_class(r, id, label != NULL ? label :
	    ".", 1);

	list_select(r, row, part);
	return row;
}

int
hacs_read(struct list_reading *r)
{
	return list_cells_read(r, COLUMN_ID, hacs_find);
}
