#ifndef INGEST_VIDEO_SET_RUN_H
#define INGEST_VIDEO_SET_RUN_H

/* The representation of struct video_set, for video_set*.c. */

#include "base/hash.h"
#include "ingest/extract.h"
#include "ingest/video_set.h"

/* A file or a folder of frames, and what became of it. */
struct video_fact {
	int64_t bytes, time;		/* of all files; ns since 1970, of the
					 * newest; -1: gone */
	uint64_t hash;			/* XXH3-64, if ${hashed} */
	int hashed, done;		/* done: in the unfinished set */
	char *refusal;			/* NULL: not refused */
};

struct video_set {
	struct video_set_options o;
	struct list list;
	struct class_list classes;	/* of the labels; none: numbers */
	struct class_list names;	/* ${classes}, or names of numbers */
	struct extract_options how;
	struct spool_budget budget;
	char *settings;			/* of extraction and classes */
	int validates;			/* 1: the list has rows of train and
					 * val */
	struct video_fact *fact;	/* [list.n] */
};

/* video_set_look(row, f): Set size and time of ${f} to those of the file or the
 * frames of ${row}. */
void video_set_look(const struct list_row *row, struct video_fact *f);

/* video_set_label(row): Return the labels and the part of ${row} as text.  The
 * caller frees it. */
char *video_set_label(const struct list_row *row);

/* video_set_write(v, dir): Commit the table of ${v} to ${dir}.  Return 0, or -1
 * after a message. */
int video_set_write(const struct video_set *v, const char *dir);

#endif
