#ifndef CMD_OPTIONS_EXTRACT_ESTIMATE_OPTION_H
#define CMD_OPTIONS_EXTRACT_ESTIMATE_OPTION_H

/* Option --estimate of vt-extract; vt-extract(1) explains it. */

#include "base/options.h"
#include "ingest/extract_estimate.h"

#define ESTIMATE_OPTION(to) \
	{ 0, "estimate", OPTION_TEXT, to, "N", \
	    "estimate bytes and hours from N videos (200)", NULL, 0, 0, \
	    OPTION_OPTIONAL | OPTION_COMMON }

/*
 * extract_estimate_videos(text):
 * Return the number of videos that ${text}, the value of the option, names: 200
 * if it is empty, 0 if it is NULL.  End the program after a message if it is
 * not a number of at least 2.
 */
size_t extract_estimate_videos(const char *text);

/*
 * extract_estimate_print(r, n):
 * Print the estimate from ${n} videos of r->list as a table, and a note.
 * Return 0, or -1 after a message, or if a signal arrived.
 */
int extract_estimate_print(const struct extract_run *r, size_t n);

#endif
