#ifndef EVAL_CLIPS_H
#define EVAL_CLIPS_H

/*
 * Video files or a stream of frames, and the network that is to see them, made
 * ready side by side.
 */

#include "eval/recognise.h"

struct clips {
	/* Of the caller. */
	const char *const *video;	/* [videos] paths; NULL: ${stream} */
	size_t videos;
	const char *stream;		/* a file, or "-" */
	struct extract_options how;	/* what is refused; the rest is set here */
	size_t memory;			/* of encoded frames, then in a file */
	int decoders;			/* threads that decode videos */
	int threads;			/* and that compute */
	enum precision precision;
	/* Filled in. */
	struct spool_budget budget;
	struct incoming *incoming;
	struct recogniser *recogniser;
};

/*
 * clips_open(c, m, v): ${m} has been read but not started; ${v} stays the
 * caller's.  0, or an exit status after a message; clips_close in any case.
 */
int clips_open(struct clips *c, struct model *m, const struct view_options *v);
void clips_close(struct clips *c);	/* leaves an empty one */

#endif
