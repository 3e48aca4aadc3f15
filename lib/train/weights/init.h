#ifndef TRAIN_WEIGHTS_INIT_H
#define TRAIN_WEIGHTS_INIT_H

/* Initial weights of a run, from a file. */

#include "base/hash.h"
#include "train/weights/match.h"

/* The file, its tensors, and their match to the network. */
struct init {
	const char *path;
	struct weights_file weights;
	struct match *match;
	char *text;			/* for checkpoints: "HASH NAMES FILE" */
};

/*
 * init_open(in, g, path, classes, partial):
 * Read the file at ${path}, match it to ${g} and print a summary.  ${classes}
 * is as in match_new.  ${g} and ${path} must outlive ${in}, which init_close
 * frees.
 * Return 0, or an exit status after a message: EXIT_FAILED if the file cannot
 * be read, EXIT_DAMAGE if it is damaged, EXIT_USAGE if it is intact but cannot
 * be used.  It contains NaN or infinity, for example.  Without ${partial}, it
 * also fails if less than half of the backbone is loaded, or if convolutions or
 * norms do not fit (match_misfits).  ${in} needs no init_close then.
 */
int init_open(struct init *in, const struct graph *g, const char *path,
    const char *classes, int partial);
void init_close(struct init *in);

/*
 * init_same(path, text): return 1 if the file at ${path} is the one from which
 * a run began, or 0 after a message.  ${text} is init->text from the run's
 * checkpoints, NULL if the run did not begin from a file.  If the file does not
 * exist any longer, compare only its name.
 */
int init_same(const char *path, const char *text);

#endif
