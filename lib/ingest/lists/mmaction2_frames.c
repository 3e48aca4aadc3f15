/* MMAction2: a folder of frames, their number, and at least one label. */
#include "ingest/list_format.h"

int
mmaction2_frames_detect(struct list_reading *r)
{
	return r->numbers.files == 0 && r->numbers.min >= 2;
}

int
mmaction2_frames_read(struct list_reading *r)
{
	return list_numbers_read(r, 0, 1, 1);
}
