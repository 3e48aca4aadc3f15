#ifndef TRAIN_WEIGHTS_MATCH_H
#define TRAIN_WEIGHTS_MATCH_H

/*
 * The match of a weight file and a network: which tensor becomes which
 * parameter, and what remains on either side.
 */

#include "graph/graph.h"
#include "net/net.h"
#include "train/weights/adapt.h"

/* The load status of a parameter. */
enum load_status {
	LOAD_INITIALIZED,		/* no tensor: initialized from --seed */
	LOAD_COPIED,		/* copied from the file */
	LOAD_CONVERTED		/* converted from another shape */
};

/* why a parameter has no tensor, and a tensor no parameter */
#define MATCH_ABSENT "not in the file"
#define MATCH_UNKNOWN "the network has nothing of this name"

/* A parameter, and the tensor that gives its values. */
struct matched {
	enum load_status status;
	size_t tensor;			/* index, unless LOAD_INITIALIZED */
	struct adapt adapt;
	char *why;			/* "": no remark */
};

/* The result of match_new. */
struct match {
	/* Both must outlive the match. */
	const struct graph *graph;
	const struct weights_file *weights;
	char *names;			/* key mapping of the file: "tsm";
					 * "vt" for files of vt */
	struct matched *param;		/* [graph->nparam] */
	char **left;			/* [weights->tensors] why a tensor is
					 * unused; NULL: used */
	unsigned char *misplaced;	/* [weights->tensors] 1: unused, but of
					 * the backbone's convolutions or norms
					 */
	size_t elements, of;		/* values of the backbone: loaded;
					 * all */
};

/*
 * match_new(g, w, classes):
 * Infer the key mapping of the names in ${w}, and match its tensors to ${g}.
 * The classifier is loaded if its shape fits and its classes are ${classes},
 * one a line.  Classes are compared only if the file lists them, as those of vt
 * do, and ${classes} is not NULL.
 * Return the match, which match_free frees, or NULL after a message.
 */
struct match *match_new(const struct graph *g, const struct weights_file *w,
    const char *classes);
void match_free(struct match *m);

/*
 * match_load(m, n): write the values to net ${n}, which has the same graph.
 * Parameters without a tensor do not change.
 */
void match_load(const struct match *m, struct net *n);

/* match_load_whole(m, n): As match_load, but set parameters without a tensor
 * to 0. */
void match_load_whole(const struct match *m, struct net *n);

/*
 * match_outputs(g, w):
 * Return the number of outputs of the classifier of ${g} in ${w}, whatever that
 * of ${g} is; 0 if ${w} has none; -1 after a message.
 */
int64_t match_outputs(const struct graph *g, const struct weights_file *w);

/* match_report(m, path): print a summary as notes; ${path} is the file. */
void match_report(const struct match *m, const char *path);

/*
 * match_table(m, b): append the match to ${b} as a table for the run directory
 * (vt-weights(5)).
 */
void match_table(const struct match *m, struct buffer *b);

/*
 * match_enough(m): return 1 if at least half of the backbone's values are
 * loaded.
 */
int match_enough(const struct match *m);

/*
 * match_misfits(m, b):
 * Append to ${b} a list of what does not fit: misplaced tensors, and parameters
 * that the file does not have although it has the convolution before this norm,
 * or the norm behind this convolution.  The list is cut after a few.  Return
 * how many do not fit.
 */
size_t match_misfits(const struct match *m, struct buffer *b);

/*
 * match_fitting(w, classes, b):
 * Append to ${b} the names of the installed networks for ${classes} classes
 * that all of ${w} fits, separated by ", ": those whose export has the names of
 * ${w}; if there are none, all that it fits.  Append nothing if none fits.
 */
void match_fitting(const struct weights_file *w, int classes, struct buffer *b);

/*
 * match_add_name(b, n, name, why):
 * Append ${name} and, unless it is empty, ${why} to the list ${b} of ${*n}
 * names, and count it.  Append nothing if the list is long.
 *
 * match_end_names(b, n):
 * Append how many of the ${n} names are not in the list ${b}, if any.
 */
void match_add_name(struct buffer *b, size_t *n, const char *name,
    const char *why);
void match_end_names(struct buffer *b, size_t n);

#endif
