#ifndef TRAIN_LOOP_PLANNED_H
#define TRAIN_LOOP_PLANNED_H

/* A dataset without data, to plan a run before its data exist. */

#include <stdint.h>

#include "shard/dataset.h"

/* The size of such a dataset. */
struct planned {
	int64_t samples;		/* 0: none is wanted */
	int64_t classes;
};

#define PLANNED_SAMPLES (1 << 24)	/* maximum; 144 bytes each */

/*
 * planned_dataset(p, path):
 * Return a dataset of p->samples videos of 300 frames of 340x256 pixels, the
 * size that the published recipes train on.  Sample i has label i mod
 * p->classes.  It has RGB frames and optical flow.  Messages call it ${path}.
 * A read of its frames fails with a message.  The caller frees it with
 * dataset_free.
 */
struct dataset *planned_dataset(const struct planned *p, const char *path);

/*
 * planned_videos(text, path):
 * As planned_dataset, but with RGB frames alone, and with the samples and the
 * classes in ${text}: a line with the short side of the frames in pixels (0:
 * unknown), a line for each sample, with label (-2 for a set of labels), key,
 * video and group (or nothing) between tabs, an empty line, and a line for each
 * class.
 */
struct dataset *planned_videos(const char *text, const char *path);

#endif
