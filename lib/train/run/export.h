#ifndef TRAIN_RUN_EXPORT_H
#define TRAIN_RUN_EXPORT_H

/* Weights under the names of other programs, as a file for them. */

#include "net/net.h"
#include "weights/naming.h"
#include "weights/safetensors.h"

/*
 * A parameter under another name: which of ours it is, and its shape there;
 * or, with ${p} < 0, the counter of batches of a norm.
 */
struct exported {
	char *name;
	int p;
	int ndim;
	int64_t dim[5];
	int first;			/* input channels that come first there */
	int folded;			/* the bias that is taken off; -1: none */
};

struct export { struct exported *tensor; size_t tensors, cap; };

/*
 * export_new(g, n, e): look up the names that ${n} gives the parameters of
 * ${g}, in the order of the graph.  Return 0, or -1 after a message if a
 * parameter has no name there or has another shape, or if that program has no
 * such network.
 */
int export_new(const struct graph *g, const struct naming *n,
    struct export *e);
void export_free(struct export *e);

/*
 * export_write(e, net, steps, meta, metas, path): the values of ${net} as a
 * safetensors file; counters say ${steps}.  -1 after a message.
 */
int export_write(const struct export *e, const struct net *net,
    uint64_t steps, const struct meta *meta, size_t metas, const char *path);

#endif
