/*
 * Kinetics: label, youtube_id, time_start and time_end.  The videos are clips
 * ID_SSSSSS_EEEEEE.mp4, or whole videos ID.mp4, of which the interval is used.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/list_format.h"

/* A user who names the format states that its times are seconds. */
int
kinetics_detect(struct list_reading *r)
{
	if (r->at[COLUMN_ID] < 0 || !list_has_times(r))
		return 0;
	if (r->how->format > 0)
		list_times_are_seconds(r);
	return 1;
}

/*
 * Sets are kept flat, or in folders named by label, with '_' for ' ' or
 * unchanged.  Return the path of the clip ${file} if it exists, otherwise NULL.
 */
static char *
kinetics_try(struct list_reading *r, const char *file, const char *label)
{
	char *path = list_try(r, file), *below;

	for (int way = 0; way < 2 && label != NULL && path == NULL; way++) {
		if (way == 1 && strchr(label, ' ') == NULL)
			break;
		below = xprintf("%s/%s", label, file);
		for (char *s = below; way == 0 && *s != '/'; s++)
			if (*s == ' ')
				*s = '_';
		path = list_try(r, below);
		free(below);
	}
	return path;
}

/*
 * The name of a clip has whole seconds.  Without a clip, take a part of the
 * whole video.  If that is missing too, record the flat name.
 */
static struct list_row *
kinetics_find(struct list_reading *r, const char *id, const char *label,
    const struct list_part *part)
{
	int whole = part->unit != LIST_FRAMES && part->begin ==
	    (int)part->begin && part->end == (int)part->end;
	char *file = whole ? xprintf("%s_%06.0f_%06.0f.mp4", id, part->begin,
	    part->end) : xprintf("%s.mp4", id);
	char *path = whole ? kinetics_try(r, file, label) : NULL;
	int cut = path != NULL;
	struct list_row *row;

	if (!cut)
		path = list_try_endings(r, id);
	row = list_found(r, path, file);
	if (!cut && (path != NULL || !whole))
		list_select(r, row, part);
	free(file);
	return row;
}

int
kinetics_read(struct list_reading *r)
{
	return list_cells_read(r, COLUMN_ID, kinetics_find);
}
