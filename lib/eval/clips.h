#ifndef EVAL_CLIPS_H
#define EVAL_CLIPS_H

/*
 * A source of clips, and the network that scores them.  Both are prepared at
 * the same time.
 */

#include "eval/scorer.h"

struct clips {
	/* Set by the caller. */
	const char *const *video;	/* [videos] paths; NULL: read
					 * ${stream} */
	size_t videos;
	const char *stream;		/* path of a stream, or "-" */
	struct extract_options how;	/* in: limits on damage, pixels and
					 * frames; the rest is overwritten */
	size_t memory;			/* bytes of encoded frames in memory;
					 * further frames go to a file */
	int decoders;			/* threads that decode videos */
	int threads;			/* threads that compute */
	enum precision precision;
	/* Set by clips_open. */
	struct spool_budget budget;
	struct clip_source *source;
	struct scorer *scorer;
};

/*
 * clips_open(c, m, v):
 * Open the source, start the network ${m}, which must have been read but not
 * started, and create the scorer.  ${v} must outlive ${c}.
 * The source opens first, and videos are decoded on its own threads, while the
 * weights are loaded onto the device and algorithms are chosen.
 * Return 0, or an exit status after a message.  Call clips_close in both cases.
 */
int clips_open(struct clips *c, struct model *m, const struct view_options *v);

/*
 * clips_close(c):
 * Stop all threads, free everything that clips_open set, and leave ${c} empty.
 */
void clips_close(struct clips *c);

#endif
