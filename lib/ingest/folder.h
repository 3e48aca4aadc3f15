#ifndef INGEST_FOLDER_H
#define INGEST_FOLDER_H

/*
 * A folder of frames, one file each; many datasets come in this form.  A name
 * is a prefix, a number, and .jpg, .jpeg or .png: img_00001.jpg, 000001.jpg,
 * AB12C-000001.jpg.  Numbers must have no gaps.
 */

#include <stddef.h>

struct folder {
	size_t n;
	/* The frames, sorted by number. */
	struct folder_frame { char *name; long long number; } *frame;
	int png;			/* 1: PNG, 0: JPEG */
};

/*
 * folder_open(path, f):
 * List the frames of folder ${path} in ${f}, sorted by number.  If there are
 * several prefixes, as with optical flow next to RGB, take only img_, image_ or
 * frame_.
 * Return 0, or -1 after a message: no frames, a missing or repeated number, or
 * several prefixes of which none is one of these.  The caller frees ${f} with
 * folder_close; after a failure it is empty.
 */
int folder_open(const char *path, struct folder *f);

/* folder_close(f): Free the list and leave ${f} empty. */
void folder_close(struct folder *f);

#endif
