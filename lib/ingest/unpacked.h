#ifndef INGEST_UNPACKED_H
#define INGEST_UNPACKED_H

/*
 * Training on videos that are not packed: a list of videos, or a folder of
 * classes with video files and folders of frames.
 *
 * Every video is decoded once at the start, as vt-extract does, to verify it
 * and to count its frames.  The facts are kept in a table, so that a later
 * start only compares the hash of each file.  A clip then decodes its video,
 * and compresses the frames that it shows as vt-extract would store them.  So
 * its frames have the same bytes as in the packed set.
 */

#include <stddef.h>

#include "base/number.h"
#include "shard/classes.h"
#include "shard/dataset.h"

struct unpacked_options {
	const char *path;		/* a list, or a folder of classes */
	const char *root;		/* base of relative paths in a list;
					 * NULL: the current directory */
	struct fraction fps;		/* stored rate; 0/0: every frame */
	int short_side;			/* of the frames; 0: source size */
	int skip;			/* 1: leave out refused videos */
	const struct class_list *classes;	/* NULL: those that occur */
	const char *whose;		/* source of ${classes}, for messages */
};

/* The properties of a verified video.  Ranks exchange them as bytes. */
struct unpacked_fact {
	uint64_t hash, bytes;		/* of the file, or of all frames of a
					 * folder; hash XXH3-64 */
	double seconds;			/* to decode it */
	int32_t frames, width, height, num, den;	/* as stored */
	uint32_t flags;			/* SHARD_* */
	int32_t state;			/* UNPACKED_* */
	int32_t padding;
};

enum { UNPACKED_UNKNOWN, UNPACKED_KEPT, UNPACKED_SKIPPED };

struct unpacked;

/* unpacked_is(path): Return 1 if ${path} is a list or a folder of folders, and
 * not a packed set. */
int unpacked_is(const char *path);

/*
 * unpacked_new(o, status):
 * List the videos with keys and labels.  Return NULL after a message, with the
 * exit status in ${*status}.  End with unpacked_dataset or unpacked_free.
 * unpacked_free(NULL) does nothing.
 */
struct unpacked *unpacked_new(const struct unpacked_options *o, int *status);
void unpacked_free(struct unpacked *u);

/* unpacked_videos(u): Return the number of listed videos. */
size_t unpacked_videos(const struct unpacked *u);

/* unpacked_facts(u): Return the facts of all videos, in the order of the list,
 * to be read and set.  Valid as long as ${u}. */
struct unpacked_fact *unpacked_facts(struct unpacked *u);

/*
 * unpacked_remember(u, name, text, accept):
 * Use the table ${text} that unpacked_table wrote at an earlier start of the
 * run.  ${name} is its file, for messages.  Kept videos in it must not have
 * changed; with ${accept}, those that have are verified again.  Refused videos
 * that have changed are verified again, too.  A table of other settings is
 * ignored.  Return 0, or -1 after a message.
 */
int unpacked_remember(struct unpacked *u, const char *name, const char *text,
    int accept);

/*
 * unpacked_verify(u, from, to, threads):
 * Verify videos ${from} to ${to} - 1 on ${threads} threads, and set their
 * facts.  Return 0, or an exit status after a message that names the video:
 * EXIT_FAILED if one is refused and must not be skipped, EXIT_USAGE if one has
 * changed.  Return EXIT_AGAIN without a message after a signal.
 */
int unpacked_verify(struct unpacked *u, size_t from, size_t to, int threads);

/* unpacked_table(u): Return the facts as a table.  The caller frees it. */
char *unpacked_table(const struct unpacked *u);

/*
 * unpacked_dataset(u):
 * Return the dataset of all videos that are kept, whose facts must be known.
 * The identity is the XXH3-128 of the settings, the classes, and the key, hash
 * and labels of each video.  The dataset owns ${u}.
 * Return NULL after a message; ${u} is freed.
 */
struct dataset *unpacked_dataset(struct unpacked *u);

#endif
