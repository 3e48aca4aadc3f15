#ifndef TRAIN_WEIGHTS_ADAPT_H
#define TRAIN_WEIGHTS_ADAPT_H

/*
 * The values of a parameter from a tensor of a file, whose shape may be that of
 * a related network.
 */

#include "graph/graph.h"
#include "weights/key_map.h"
#include "weights/weights.h"

/*
 * Sizes along output and input channels, time, height and width; 1 where there
 * is no such axis.
 */
struct extent { int64_t out, in, t, h, w; };

/* How a tensor becomes a parameter. */
struct adapt {
	struct extent from, to;
	int colors;			/* 1: average the three input colors */
	int first;			/* input channels that are first in the
					 * file and last in the network */
	const char *how;		/* "" if copied; else a description */
};

/*
 * adapt_new(g, p, t, r, a):
 * Set ${a} to the way in which tensor ${t} becomes parameter ${p} of ${g}.
 * ${r} is the row of the key mapping that named it, NULL if none.  Return 0, or
 * -1 without a message if the shapes do not fit.  Apart from a copy, these are
 * possible:
 *
 * - A kernel of one frame is repeated over the frames of the network's kernel
 *   and divided by their number, so that a static clip gives the same output
 *   (Carreira and Zisserman 2017, section 2.1).
 * - The first layer's kernel is averaged over its three colors and repeated
 *   for the input's channels (Wang et al. 2016, section 3.2).
 * - Channels that a concatenation adds are set to zero.
 */
int adapt_new(const struct graph *g, const struct param *p,
    const struct weight *t, const struct rename *r, struct adapt *a);

/*
 * adapt_values(a, x, to): convert ${x}, of the file's shape, to ${to}, of the
 * parameter's shape.
 */
void adapt_values(const struct adapt *a, const float *x, float *to);

/*
 * graph_key_map(g): return the functions by which a key mapping queries ${g},
 * which must outlive the result.
 */
struct key_map_network graph_key_map(const struct graph *g);

/*
 * graph_rotated_channels(g, r, op): return how many input channels of operator
 * ${op} are first in the file and last in the network, by row ${r}; 0 if ${r}
 * is NULL or does not rotate them.
 */
int graph_rotated_channels(const struct graph *g, const struct rename *r,
    int op);

#endif
