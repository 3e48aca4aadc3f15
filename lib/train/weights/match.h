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
	const struct wgrad *weights;
	char *names;			/* key mapping of the file: "tsm";
					 * "vt" for files of vt */
	struct matched *param;		/* [graph->nparam] */
	char **left;			/* [weights->tensors] why a tensor is
					 * unused; NULL: used */
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
struct match *match_new(const struct graph *g, const struct wgrad *w,
    const char *classes);
void match_free(struct match *m);

/*
 * match_load(m, n): write the values to net ${n}, which has the same graph.
 * Parameters without a tensor do not change.
 */
void match_load(const struct match *m, struct net *n);

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

#endif
