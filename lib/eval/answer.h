#ifndef EVAL_ANSWER_H
#define EVAL_ANSWER_H

/*
 * The likeliest classes of clips that come from video files or from a stream,
 * a line each as soon as it is known.
 */

#include "eval/clips.h"
#include "eval/output.h"

struct answer {
	const struct model *model;
	const struct view_options *views;
	struct clips *clips;
	struct output *output;
	int top;			/* classes a line, at most */
	int json;
	void (*progress)(uint64_t done);	/* after each; NULL: none */
	uint64_t done, failed;		/* filled in: with and without answer */
};

/*
 * answer_all(a):
 * Recognise and print until there are no more.  A clip that cannot be shown to
 * the network is an error on standard error, and the others go on.  0; or an
 * exit status: EXIT_SKIPPED if some have no answer, EXIT_FAILED if none has.
 */
int answer_all(struct answer *a);

/*
 * answer_line(a, clip, scores, to): what stands for a clip: ${scores} are
 * those of all classes, before the softmax.  Of classes that score the same the
 * first comes first.
 */
void answer_line(const struct answer *a, const struct extraction *clip,
    const double *scores, struct buffer *to);

#endif
