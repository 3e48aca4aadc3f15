#ifndef TRAIN_WEIGHTS_MATCH_H
#define TRAIN_WEIGHTS_MATCH_H

/*
 * A file of weights and a network: which tensor becomes which parameter, and
 * what is left over on either side.
 */

#include "graph/graph.h"
#include "net/net.h"
#include "train/weights/adapt.h"

enum fate {
	FATE_NEW,		/* no tensor: as --seed makes it */
	FATE_LOADED,		/* as it is in the file */
	FATE_RESHAPED		/* its values, for another shape */
};

struct matched {
	enum fate fate;
	size_t tensor;			/* unless it is new */
	struct adapt adapt;
	char *why;			/* "": nothing to say */
};

struct match {
	const struct graph *graph;
	const struct weights *weights;
	char *names;			/* "tsm"; "vt"; those of the file */
	struct matched *param;		/* [graph->nparam] */
	char **left;			/* [weights->tensors]: why it is left
					 * out; NULL: it is used */
	size_t elements, of;		/* of the backbone: from the file, all */
};

/*
 * match_new(g, w, classes): recognise the names in ${w} and match what it has
 * to ${g}.  The classifier is taken if its shape is right and its classes are
 * the ${classes}, one a line, where the file says them, as those of vt do.
 * NULL after a message.
 */
struct match *match_new(const struct graph *g, const struct weights *w,
    const char *classes);
void match_free(struct match *m);

/* match_load(m, n): the values into net ${n} of the same graph; what is new
 * stays as it is. */
void match_load(const struct match *m, struct net *n);

/* match_say(m, path): a summary for people, of file ${path}. */
void match_say(const struct match *m, const char *path);

/* match_table(m, b): all of it as a table, for the run's directory
 * (vt-weights(5)). */
void match_table(const struct match *m, struct buffer *b);

/* match_enough(m): 1 if at least half of the backbone's elements are there. */
int match_enough(const struct match *m);

#endif
