/* A folder of frames, their number and a label, as TSM lists them. */
#include "ingest/list_format.h"

int
tsm_detect(struct list_reading *r)
{
	const struct list_numbers *n = &r->numbers;

	return n->files == 0 && n->min == 2 && n->max == 2;
}

int
tsm_read(struct list_reading *r)
{
	return list_numbers_read(r, 0, 1, 0);
}
