#ifndef INGEST_NEEDED_H
#define INGEST_NEEDED_H

/*
 * Which frames of a video are stored, where not all are needed.  Which these are
 * depends on how many frames there are, and that is certain only when all have
 * been decoded: so those are stored that are needed if the file's headers are
 * right, or nearly so, and where they are not the video is decoded once more.
 */

#include "ingest/extract.h"

struct needed {
	char *wanted;			/* [n] */
	size_t n;
	int all;			/* every frame is stored */
	int *place;			/* [frames]: which item, -1: none */
	size_t frames, cap;
};

/* needed_begin(n, o, x, total, fps): of a video ${x} that should have about
 * ${total} frames, ${fps} a second; 0: nobody knows. */
void needed_begin(struct needed *n, const struct extract_options *o,
    const struct extraction *x, double total, struct fraction fps);
/* needed_room(n, frames): for so many at once; there may be more. */
void needed_room(struct needed *n, size_t frames);
void needed_free(struct needed *n);

/* needed_has(n): 1 if the next frame is to be stored; needed_add(n, item): it
 * has been passed, and is ${item} of those stored, or -1. */
int needed_has(const struct needed *n);
void needed_add(struct needed *n, int item);

/*
 * needed_done(n, o, x): all frames of ${x} have been passed.  1: every one that
 * is needed is stored, and x->place says where; 0: they are to be passed once
 * more, and then it will be 1.
 */
int needed_done(struct needed *n, const struct extract_options *o,
    struct extraction *x);

#endif
