/*
 * MMAction2: a folder of frames, the number of the first frame, from 0, the
 * number of frames, and at least one label.
 */
#include "base/fail.h"
#include "ingest/list_format.h"

int
mmaction2_offset_detect(struct list_reading *r)
{
	const struct list_numbers *n = &r->numbers;

	if (n->files > 0 || n->min != 3 || n->max != 3)
		return 0;
	return fail("%s: line %d: a folder and three numbers, in every line "
	    "(wanted --annotations-format=mmaction2-offset for first frame, "
	    "frames and label, or mmaction2-frames for frames and two labels)",
	    r->name, r->lines.number[0]);
}

int
mmaction2_offset_read(struct list_reading *r)
{
	return list_numbers_read(r, 1, 1, 1);
}
