#ifndef INGEST_FOLDER_H
#define INGEST_FOLDER_H

/*
 * A folder of frames, one file each, as datasets are often handed on: names are
 * a prefix, a number and .jpg, .jpeg or .png (img_00001.jpg, 000001.jpg,
 * AB12C-000001.jpg), the numbers without a gap.
 */

#include <stddef.h>

struct folder {
	size_t n;
	struct folder_frame { char *name; long long number; } *frame;
	int png;
};

/*
 * folder_open(path, f):
 * Fill ${f} with the frames of ${path} by number.  Where there are several
 * prefixes, as with optical flow beside the frames, those of img_, image_ or
 * frame_ count.  -1 after a message: nothing in it, a number that is missing or
 * there twice, several prefixes.
 */
int folder_open(const char *path, struct folder *f);
void folder_close(struct folder *f);

#endif
