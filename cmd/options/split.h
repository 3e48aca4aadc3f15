#ifndef CMD_OPTIONS_SPLIT_H
#define CMD_OPTIONS_SPLIT_H

/* Options of vt-extract that divide a list; vt-extract(1) explains them. */

#include "base/options.h"
#include "ingest/list_split.h"

struct split_options {
	const char *split, *group;	/* NULL: not given */
	int64_t seed;
	int stratify, print;
};

#define SPLIT_OPTIONS(o) \
	{ 0, "split", OPTION_TEXT, &(o)->split, "A:B:C", \
	    "divide the videos: train:val:test or train:test", NULL, 0, 0, \
	    OPTION_COMMON }, \
	{ 0, "group", OPTION_TEXT, &(o)->group, "COLUMN", \
	    "let rows with one value of COLUMN be one recording", NULL, 0, \
	    0, 0 }, \
	{ 0, "stratify", OPTION_FLAG, &(o)->stratify, NULL, \
	    "give each class the proportions of --split", NULL, 0, 0, 0 }, \
	{ 0, "split-seed", OPTION_INT, &(o)->seed, "N", \
	    "set the seed of --split (%)", NULL, 0, 0, 0 }, \
	{ 0, "print-list", OPTION_FLAG, &(o)->print, NULL, \
	    "print the list of videos as CSV, and stop", NULL, 0, 0, 0 }

/*
 * split_resolve(o, subset, to):
 * Check the options and set ${*to}.  End the program after a message if they
 * do not fit together, or if ${subset}, which may be NULL, is not a subset of
 * the split.
 */
void split_resolve(const struct split_options *o, const char *subset,
    struct list_split *to);

/*
 * split_list(o, s, subset, l):
 * Divide the list ${l} as ${s} says and keep the rows of ${subset}, or all if
 * it is NULL.  Without --split, only check that the rows have groups if they
 * must.  Return 0, or -1 after a message.
 */
int split_list(const struct split_options *o, const struct list_split *s,
    const char *subset, struct list *l);

/*
 * split_print(o, root, l):
 * Print ${l} (ingest/list_write.h).  Return 0, or -1 after a message.
 */
int split_print(const struct split_options *o, const char *root,
    const struct list *l);

#endif
