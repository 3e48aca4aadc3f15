#ifndef TRAIN_RUN_EXPORT_H
#define TRAIN_RUN_EXPORT_H

/* Export weights under the tensor names of another program. */

#include "net/net.h"
#include "weights/key_map.h"
#include "weights/safetensors.h"

/* A tensor of the exported file. */
struct exported {
	char *name;			/* in the other program */
	int p;				/* index of our parameter; -1: the
					 * num_batches_tracked of a norm */
	int ndim;
	int64_t dim[5];			/* shape in the other program */
	int first;			/* rotation of the input channels: our
					 * last ${first} channels come first in
					 * the other program */
	int folded;			/* index of a bias to subtract; -1:
					 * none */
};

struct export { struct exported *tensor; size_t tensors, cap; };

/*
 * export_new(g, n, e):
 * Map the parameters of ${g} to tensors of naming ${n}, in the order of the
 * graph.  Return 0, or -1 after a message if a parameter has no name there or
 * another shape, or if that program has no such network.  After 0 the caller
 * calls export_free; ${e} does not refer to ${g} or ${n}.
 */
int export_new(const struct graph *g, const struct key_map *n,
    struct export *e);
void export_free(struct export *e);

/*
 * export_write(e, net, steps, meta, metas, path):
 * Write the parameters of ${net} to safetensors file ${path} as fp32, with
 * ${metas} pairs of metadata.  Each num_batches_tracked is ${steps}.
 * Return 0, or -1 after a message.
 */
int export_write(const struct export *e, const struct net *net,
    uint64_t steps, const struct meta *meta, size_t metas, const char *path);

/* The beginning of an exported file (base/options.h), after the length of its
 * header.  A checkpoint differs. */
#define EXPORT_BEGINS "????????{\"__metadata__\":{\"format\":\"pt\",\"vt.build"

/*
 * export_run(run, path, names, ema):
 * Write the weights of ${run}, a run directory or a checkpoint, to the
 * safetensors file ${path}, under the tensor names of program ${names}.  With
 * ${ema} write their moving average.  Return 0, or an exit status after a
 * message.
 */
int export_run(const char *run, const char *path, const char *names, int ema);

#endif
