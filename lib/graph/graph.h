#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

/*
 * A network as data: operators in the order they run, and the parameters they
 * own.  It knows channels and kernels but no batch, clip length or frame
 * size; those arrive with a plan (net/plan.h).  It is read from a .net file,
 * vt-model(5).
 */

#include "graph/op.h"

struct graph {
	char *name;			/* file name without .net */
	int classes;
	int nop;
	struct op *op;			/* the last one is the loss, the one
					 * before it gives the scores */
	int nparam;
	struct param *param;
	size_t elements;		/* of the flat buffer of parameters */
};

/* What a .net file may hold; beyond these it is no network for people. */
enum {
	GRAPH_TEXT = 1 << 20,		/* bytes */
	GRAPH_OPS = 16384
};
#define GRAPH_VALUES ((size_t)1 << 31)	/* in the flat buffer of parameters */

/* Parameters begin at multiples of this many elements in the flat buffer. */
#define PARAM_ALIGN 16

/*
 * graph_read(path, classes): read a .net file; "classes" in it stands for
 * ${classes}.  NULL after a message with file and line.  It takes a time that
 * the limits above bound, also where blocks use blocks.
 * graph_parse(name, text, classes): the same from what such a file holds.
 */
struct graph *graph_read(const char *path, int classes);
struct graph *graph_parse(const char *name, const char *text, int classes);
void graph_free(struct graph *g);

/*
 * graph_shapes(g, input, out): the output shape of every op for ${input}, into
 * ${out}[g->nop]; -1 after a message if an op does not fit, or has more than
 * DIMS_MOST values.
 */
int graph_shapes(const struct graph *g, const struct dims *input,
    struct dims *out);

/* graph_macs(g, input): multiply-adds of a forward pass; -1 on failure. */
double graph_macs(const struct graph *g, const struct dims *input);

/* graph_parameters(g): trained values, without running statistics. */
size_t graph_parameters(const struct graph *g);

#endif
