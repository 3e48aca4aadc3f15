#ifndef TRAIN_WEIGHTS_ADAPT_H
#define TRAIN_WEIGHTS_ADAPT_H

/*
 * The values of a parameter out of a tensor of a file, whose shape may be that
 * of a related network.
 */

#include "graph/graph.h"
#include "weights/naming.h"
#include "weights/weights.h"

/* How many values along out, in, t, h and w; 1 where there is no such axis. */
struct extent { int64_t out, in, t, h, w; };

struct adapt {
	struct extent from, to;
	int colours;			/* their mean is taken */
	int first;			/* input channels that come first in the
					 * file and last here */
	const char *how;		/* "": as it is; else in words */
};

/*
 * adapt_new(g, p, t, r, a): how tensor ${t}, by row ${r} of a table (NULL:
 * none), becomes parameter ${p} of ${g}; 0, or -1 without a message if it
 * cannot:
 *
 * - A kernel over one frame is repeated over those of the network, divided by
 *   their number, so that a still clip gives the same (Carreira and Zisserman
 *   2017, section 2.1).
 * - The first layer's kernel is averaged over its three colours and repeated
 *   for as many channels as the input has (Wang et al. 2016, section 3.2).
 * - Channels that a concatenation adds begin with zeros.
 */
int adapt_new(const struct graph *g, const struct param *p,
    const struct weight *t, const struct rename *r, struct adapt *a);

/* adapt_values(a, x, to): ${x}, in the file's shape, into ${to}, in ours. */
void adapt_values(const struct adapt *a, const float *x, float *to);

/* param_extent(p): of a parameter. */
struct extent param_extent(const struct param *p);

/* graph_op(g, name): the operator's number, -1: none; without a message. */
int graph_op(const struct graph *g, const char *name);

/* graph_naming(g): how a table asks for operators. */
struct naming_of graph_naming(const struct graph *g);

/* graph_turned(g, r, op): by row ${r}: how many of the input channels of
 * ${op} come first in the file, and last here; 0: none. */
int graph_turned(const struct graph *g, const struct rename *r, int op);

#endif
