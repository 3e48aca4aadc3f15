/*
 * EPIC-KITCHENS: narration_id, video_id, start_timestamp, stop_timestamp and
 * verb_class, the label.  Its numbers of frames are those of frames that were
 * extracted again at 50 or 59.94 a second, so the timestamps count.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/list_format.h"

int
epic_kitchens_detect(struct list_reading *r)
{
	int *at = r->at, label = list_named_at(r, "verb_class");

	if (label < 0 || at[COLUMN_ID] < 0 || !list_has_times(r) ||
	    strcmp(r->head.s[0], "narration_id") != 0)
		return 0;
	at[COLUMN_LABEL] = label;
	at[COLUMN_BEGIN_FRAME] = at[COLUMN_END_FRAME] = -1;
	return 1;
}

static struct list_row *
epic_kitchens_find(struct list_reading *r, const char *id, const char *label,
    const struct list_part *part)
{
	char *file = xprintf("%s.MP4", id), *path = list_try(r, file);
	struct list_row *row = list_found(r, path != NULL ? path :
	    list_try_endings(r, id), file);

	(void)label;
	free(file);
	list_select(r, row, part);
	return row;
}

int
epic_kitchens_read(struct list_reading *r)
{
	return list_cells_read(r, COLUMN_ID, epic_kitchens_find);
}
