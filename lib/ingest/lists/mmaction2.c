/* MMAction2: a path and at least one label. */
#include "base/fail.h"
#include "ingest/list_format.h"

int
mmaction2_detect(struct list_reading *r)
{
	const struct list_numbers *n = &r->numbers;

	if (n->files > 0 && n->min == 3 && n->parts == (int)r->lines.n)
		return fail("%s: line %d: a file and three numbers, the third "
		    "above the second, in every line (wanted --annotations-"
		    "format=mmaction2 for three labels; for DALI's parts, the "
		    "first line \"path label frame_start frame_end\")",
		    r->name, r->lines.number[0]);
	if (n->files > 0 && n->min == 1 && n->max == 2)
		return fail("%s: line %d: two numbers after the path, but "
		    "one in line %d (wanted --annotations-format=mmaction2 for "
		    "one label or more, or path-label for a number of frames "
		    "and a label)", r->name, n->many, n->few);
	return n->files > 0 && n->min > 0 && n->max > 2;
}

int
mmaction2_read(struct list_reading *r)
{
	return list_numbers_read(r, 0, 0, 1);
}
