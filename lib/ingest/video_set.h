#ifndef INGEST_VIDEO_SET_H
#define INGEST_VIDEO_SET_H

/*
 * A packed set made of videos that are not packed: a list, or a folder of
 * classes with video files and folders of frames.  The set is the one that
 * vt-extract and vt-pack make.
 *
 * DIR.part is the set until it is whole; then it is renamed to DIR.  The table
 * videos.tsv in it has a row for each video: what was asked for, the size and
 * time of the file, and, in a whole set, its hash and why it was refused.  A
 * later start compares the list with it.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "ingest/extract_estimate.h"
#include "shard/classes.h"

#define VIDEO_SET_TABLE "videos.tsv"

struct video_set_options {
	const char *path;		/* a list, or a folder of classes */
	const char *subset;		/* keep these rows of a list that has
					 * rows of subset train; NULL: keep
					 * all */
	const char *group;		/* column of the list that names groups;
					 * NULL: none */
	const char *root;		/* base of relative paths in a list;
					 * NULL: the current directory */
	struct fraction fps;		/* stored rate; 0/0: every frame */
	int short_side;			/* of the frames; 0: source size */
	int skip;			/* 1: leave out refused videos */
	uint64_t shard_size;		/* bytes, as of vt-pack --shard-size */
	const struct class_list *classes;	/* NULL: those that occur */
	const char *whose;		/* source of ${classes}, for messages */
};

struct video_set;

/* How a directory relates to a list. */
enum video_set_state {
	VIDEO_SET_BAD,			/* cannot be read */
	VIDEO_SET_NONE,			/* has none */
	VIDEO_SET_PART,			/* the set, not finished */
	VIDEO_SET_WHOLE,		/* the set */
	VIDEO_SET_OTHER			/* another set */
};

/* video_set_is(path): Return 1 if ${path} is a list or a folder of folders, and
 * not a packed set. */
int video_set_is(const char *path);

/*
 * video_set_new(o, status):
 * List the videos with keys and labels.  Return NULL after a message, with the
 * exit status in ${*status}.  The texts of ${o} must outlive the result, which
 * video_set_free frees; NULL does nothing there.
 */
struct video_set *video_set_new(const struct video_set_options *o, int *status);
void video_set_free(struct video_set *v);

/*
 * video_set_list(v), video_set_classes(v):
 * Return the rows, and the names of their classes.  Valid as long as ${v}.
 */
const struct list *video_set_list(const struct video_set *v);
const struct class_list *video_set_classes(const struct video_set *v);

/* video_set_validates(v): Return 1 if the list has rows of the subsets train
 * and val. */
int video_set_validates(const struct video_set *v);

/* video_set_name(v): Return the hash of settings, classes and rows as text, the
 * name of the set in a cache.  The caller frees it. */
char *video_set_name(const struct video_set *v);

/*
 * video_set_compare(v, dir, why):
 * Compare the list with the table in ${dir}.  A file whose size or time differs
 * is hashed.  A file that is gone does not matter to a whole set.  If the
 * result is VIDEO_SET_OTHER, the first difference is added to ${why}; if it is
 * VIDEO_SET_BAD, a message is printed.
 */
enum video_set_state video_set_compare(struct video_set *v, const char *dir,
    struct error *why);

/*
 * video_set_estimate(v, dir, threads, e):
 * Estimate what packing to ${dir} still takes from a sample of the videos that
 * are not in the unfinished set there.  Return 0, or -1 after a message or a
 * signal.
 */
int video_set_estimate(struct video_set *v, const char *dir, int threads,
    struct extract_estimate *e);

/*
 * video_set_pack(v, dir, threads):
 * Pack the videos to ${dir}, by ${threads} worker processes, and replace what
 * is there.  Continue after the last whole shard of an earlier call.  Return 0,
 * EXIT_AGAIN after a signal, or another exit status after a message.
 */
int video_set_pack(struct video_set *v, const char *dir, int threads);

/*
 * video_set_skipped(dir):
 * Return the number of refused videos in the table of ${dir}, or -1 after a
 * message.
 */
int video_set_skipped(const char *dir);

#endif
