#ifndef INGEST_NEEDED_H
#define INGEST_NEEDED_H

/*
 * Select the frames to store where not all are needed.  The selection depends
 * on the number of frames, which is certain only after the last one is decoded.
 * So the first pass stores each frame that is needed if the headers are right
 * within a few frames.  If they are not, the video is decoded a second time.
 */

#include "ingest/extract.h"

struct needed {
	char *wanted;			/* [n]: 1 if frame k is needed */
	size_t n;
	int all;			/* 1: store every frame */
	int *item;			/* [frames]: index of the stored item,
					 * or -1 */
	size_t frames, cap;
};

/*
 * needed_begin(n, o, x, total, fps):
 * Start the selection for video ${x}, which should have about ${total} frames
 * (0: unknown) at ${fps} per second.  The caller frees ${n} with needed_free.
 */
void needed_begin(struct needed *n, const struct extract_options *o,
    const struct extraction *x, double total, struct fraction fps);
/*
 * needed_reserve(n, frames):
 * Reserve memory for ${frames} frames.  There may be more.
 */
void needed_reserve(struct needed *n, size_t frames);

/* needed_free(n): Free the selection and leave it empty. */
void needed_free(struct needed *n);

/* needed_has(n): Return 1 if the next frame must be stored, otherwise 0. */
int needed_has(const struct needed *n);

/*
 * needed_add(n, item):
 * Count the next frame.  ${item} is its index among the stored items, or -1 if
 * it was not stored.
 */
void needed_add(struct needed *n, int item);

/*
 * needed_done(n, o, x):
 * Finish after all frames were counted.  Return 1 if every needed frame is
 * stored, and move the indices to x->frame_item.  Return 0 if all frames must
 * be decoded again; then the second pass succeeds.
 */
int needed_done(struct needed *n, const struct extract_options *o,
    struct extraction *x);

#endif
