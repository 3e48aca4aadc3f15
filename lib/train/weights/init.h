#ifndef TRAIN_WEIGHTS_INIT_H
#define TRAIN_WEIGHTS_INIT_H

/* A run that begins from weights of a file. */

#include "base/hash.h"
#include "train/weights/match.h"

struct init {
	const char *path;
	struct weights weights;
	struct match *match;
	char *text;			/* for checkpoints: "HASH NAMES FILE" */
};

/*
 * init_open(in, g, path, classes, partial): read the file, match it to ${g}
 * and say what became of it.  0; or an exit status after a message: it cannot
 * be read, is damaged, holds NaN or infinity, or without ${partial} has less
 * than half of the backbone.  ${classes}: see match_new.
 */
int init_open(struct init *in, const struct graph *g, const char *path,
    const char *classes, int partial);
void init_close(struct init *in);

/*
 * init_same(path, text): 1 if the file at ${path} is the one that a run began
 * from, whose checkpoints say ${text} of it (NULL: it began from none); 0 after
 * a message.  One that is gone is known by its name.
 */
int init_same(const char *path, const char *text);

#endif
