#ifndef EVAL_PREDICT_H
#define EVAL_PREDICT_H

/*
 * Predict the most likely classes of clips from video files or from a stream.
 * Each line is printed as soon as it is known.
 */

#include "eval/clips.h"
#include "eval/output.h"

/* A run of predictions: its inputs, and its counts. */
struct predict_run {
	const struct model *model;
	const struct view_options *views;
	struct clips *clips;
	struct output *output;
	int top;			/* maximum number of classes on a
					 * line */
	int json;			/* 1: JSON lines, 0: a table */
	void (*progress)(uint64_t done);	/* called after each clip; NULL:
						 * none */
	uint64_t done, failed;		/* result: clips with and without
					 * prediction */
};

/*
 * predict_all(a):
 * Predict and print every clip of a->clips.  A clip that cannot be decoded gets
 * an error message, and the others follow.
 * Return 0, or an exit status after a message: EXIT_SKIPPED if some clips have
 * no prediction, EXIT_FAILED if none has one or the output fails, EXIT_DIVERGED
 * if a score is not finite, EXIT_DAMAGE if the stream is damaged.
 */
int predict_all(struct predict_run *a);

#endif
