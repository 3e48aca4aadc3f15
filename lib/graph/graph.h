#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

/*
 * A network as data: operators in the order they run, and the parameters they
 * own.  It knows channels and kernels but no batch, clip length or frame
 * size; those arrive with a plan (net/plan.h).  It is read from a .net file,
 * vt-model(5).
 */

#include "base/feed.h"
#include "graph/op.h"

/* Scores, one for each class and clip, and the loss of them. */
struct head {
	int scores, loss;		/* operators */
	int classes;
};

struct graph {
	char *name;			/* file name without .net */
	int nop;
	struct op *op;
	int open_loss;			/* its text has none: one was added */
	int heads;
	struct head *head;		/* in the order of the losses: the first
					 * one's scores are the network's */
	struct needs needs;
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
 * ${classes}, those of the target "class".  NULL after a message with file and line.  It takes a time that
 * the limits above bound, also where blocks use blocks.
 * graph_parse(name, text, classes): the same from what such a file holds.
 */
struct graph *graph_read(const char *path, int classes);
struct graph *graph_parse(const char *name, const char *text, int classes);
void graph_free(struct graph *g);

/*
 * graph_shapes(g, input, out, macs): infer the output shape of every operator
 * into ${out}[g->nop] from the shapes of the streams, ${input}[g->needs.streams],
 * and count the multiply-adds of a forward pass in ${macs}, unless it is NULL.
 * Return -1 after a message if an operator does not fit its inputs or has an output
 * of more than DIMS_MOST values.
 */
int graph_shapes(const struct graph *g, const struct dims *input,
    struct dims *out, double *macs);

/*
 * graph_inputs(g, n, t, side): such an ${input}, of ${n} clips of ${t} frames of
 * ${side} by ${side}; the caller frees it.
 */
struct dims *graph_inputs(const struct graph *g, int n, int t, int side);

/* graph_macs(g, input): the multiply-adds that graph_shapes counts; -1 after its
 * message. */
double graph_macs(const struct graph *g, const struct dims *input);

/*
 * graph_between(g): each normalisation that is not fixed also tracks the variance
 * between the means of its groups, a parameter NAME.running_between behind its
 * others (train/optim/running.h).  Before any plan is made.
 */
void graph_between(struct graph *g);

/* graph_parameters(g): trained values, without running statistics. */
size_t graph_parameters(const struct graph *g);

#endif
