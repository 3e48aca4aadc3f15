#ifndef TRAIN_WEIGHTS_INIT_H
#define TRAIN_WEIGHTS_INIT_H

/* Initial weights of a run, from a file. */

#include "base/hash.h"
#include "train/weights/match.h"

/* How much of a network the file must have. */
enum {
	INIT_MOST,		/* half of the backbone, and no tensor of its
				 * convolutions and norms that does not fit */
	INIT_PARTIAL,		/* any part */
	INIT_WHOLE		/* all of it, and as INIT_MOST; only biases of
				 * convolutions may be absent, which some
				 * programs omit before norms */
};

/* The file, its tensors, and their match to the network. */
struct init {
	const char *path;
	struct weights_file weights;
	struct match *match;
	char *text;			/* for checkpoints: "HASH NAMES FILE" */
};

/*
 * init_open(in, g, path, classes, part):
 * Read the file at ${path}, match it to ${g} and print a summary.  ${classes}
 * is as in match_new.  ${g} and ${path} must outlive ${in}, which init_close
 * frees.
 * Return 0, or an exit status after a message: EXIT_FAILED if the file cannot
 * be read, EXIT_DAMAGE if it is damaged, EXIT_USAGE if it is intact but cannot
 * be used.  It contains NaN or infinity, for example, or less of the network
 * than ${part}, INIT_MOST to INIT_WHOLE, wants.  ${in} then needs no
 * init_close.
 */
int init_open(struct init *in, const struct graph *g, const char *path,
    const char *classes, int part);

/*
 * init_read(in, path), init_match(in, g, classes, part):
 * The two steps of init_open: read the file, then match it.
 */
int init_read(struct init *in, const char *path);
int init_match(struct init *in, const struct graph *g, const char *classes,
    int part);
void init_close(struct init *in);

/*
 * init_same(path, text): return 1 if the file at ${path} is the one from which
 * a run began, or 0 after a message.  ${text} is init->text from the run's
 * checkpoints, NULL if the run did not begin from a file.  If the file does not
 * exist any longer, compare only its name.
 */
int init_same(const char *path, const char *text);

#endif
