/*
 * CSV: a header line names the columns (list_columns.c), which are separated by
 * commas, tabs, semicolons, bars or blanks.
 */
#include "ingest/list_format.h"

/* An id with a label names a video if no times or actions belong to it. */
int
csv_detect(struct list_reading *r)
{
	int *at = r->at;

	if (at[COLUMN_PATH] >= 0) {
		at[COLUMN_ID] = -1;
		return 1;
	}
	if (at[COLUMN_ID] < 0 || at[COLUMN_ACTIONS] >= 0 || list_has_times(r))
		return 0;
	at[COLUMN_PATH] = at[COLUMN_ID];
	return at[COLUMN_LABEL] >= 0;
}

static struct list_row *
csv_find(struct list_reading *r, const char *path, const char *label,
    const struct list_part *part)
{
	struct list_row *row = list_find_path(r, path);

	(void)label;
	list_select(r, row, part);
	return row;
}

int
csv_read(struct list_reading *r)
{
	return list_cells_read(r, COLUMN_PATH, csv_find);
}
