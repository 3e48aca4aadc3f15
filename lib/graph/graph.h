#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

/*
 * A network as data: operators in execution order, and their parameters.  It
 * has channels and kernels, but no batch, clip length or frame size; a plan
 * adds these (net/plan.h).  It is read from a .net file, vt-model(5).
 */

#include "base/feed.h"
#include "graph/op.h"

/* Scores, [classes] for each clip, and their loss. */
struct head {
	int scores, loss;		/* indices of operators */
	int classes;
};

struct graph {
	char *name;			/* file name without .net */
	int nop;
	struct op *op;
	int open_loss;			/* 1: the file has no loss; one was
					 * appended */
	int heads;
	/*
	 * In the order of the losses.  The scores of the first are the
	 * network's.
	 */
	struct head *head;
	struct input_spec needs;
	int nparam;
	struct param *param;
	size_t elements;		/* of the flat buffer of parameters */
};

/* Limits of a .net file. */
enum {
	GRAPH_TEXT = 1 << 20,		/* bytes */
	GRAPH_OPS = 16384
};
#define GRAPH_VALUES ((size_t)1 << 31)	/* in the flat buffer of parameters */

/* Alignment of parameters in the flat buffer, in elements. */
#define PARAM_ALIGN 16

/*
 * graph_read(path, classes):
 * Read a .net file.  "classes" in it stands for ${classes}, the number of
 * classes of target "class".  Return NULL after a message with file and line.
 * The time is bounded by the limits above, also if blocks use blocks.  The
 * caller frees the graph by graph_free.
 *
 * graph_parse(name, text, classes):
 * Do the same for the content ${text} of a .net file; ${name} names it in
 * messages.
 *
 * graph_free(g):
 * Free ${g}.  Do nothing if it is NULL.
 */
struct graph *graph_read(const char *path, int classes);
struct graph *graph_parse(const char *name, const char *text, int classes);
void graph_free(struct graph *g);

/*
 * graph_uncomment(text):
 * Return a copy of the text of a .net file in which comments and the blanks
 * before them are missing.  Lines keep their numbers; a line that has only a
 * comment is empty.  The caller frees the copy.
 */
char *graph_uncomment(const char *text);

/*
 * graph_shapes(g, input, out, macs):
 * Infer the output shape of each operator into ${out}[g->nop] from the shapes
 * of the streams, ${input}[g->needs.streams].  Count the multiply-adds of a
 * forward pass in ${*macs}, unless ${macs} is NULL.  Return 0, or -1 after a
 * message if an operator does not fit its inputs or has an output of more than
 * DIMS_MAX values.
 */
int graph_shapes(const struct graph *g, const struct dims *input,
    struct dims *out, double *macs);

/*
 * graph_inputs(g, n, t, side):
 * Return the shapes of the streams for ${n} clips of ${t} frames of ${side} by
 * ${side} pixels, [g->needs.streams].  The caller frees them.
 */
struct dims *graph_inputs(const struct graph *g, int n, int t, int side);

/*
 * graph_macs(g, input):
 * Return the multiply-adds that graph_shapes counts, or -1 after its message.
 */
double graph_macs(const struct graph *g, const struct dims *input);

/*
 * graph_between(g):
 * Let each normalization that is not fixed also track the variance between the
 * means of its groups (train/optim/running.h).  Append a parameter
 * NAME.running_between to its others.  Call it before any plan is made.
 */
void graph_between(struct graph *g);

/*
 * graph_parameters(g):
 * Return the number of trained values, without running statistics.
 */
size_t graph_parameters(const struct graph *g);

#endif
