#ifndef GRAPH_READER_H
#define GRAPH_READER_H

/* What the parts of the reader of .net files share: read.c, build.c. */

#include "base/names.h"
#include "graph/graph.h"

#define WORDS 24		/* attributes on a line */
#define LINE 1024		/* bytes in a line, with its blocks' $keys filled in */

struct block;

struct reader {
	struct graph *g;
	const char *path;
	int line;
	int classes;

	/* build.c */
	struct names *names;		/* of operators, by their numbers */
	int *channels;			/* of each op's output */
	size_t op_cap, param_cap, channel_cap;

	/* read.c */
	struct names *block_names;
	struct block *block;		/* by the numbers of their names */
	size_t block_cap;
	size_t expanded;		/* bytes of the lines of blocks so far */
};

/* A line, cut into words; attributes are cut at their '='. */
struct words {
	int n;
	const char *op, *name;
	const char *key[WORDS], *value[WORDS];
	char text[LINE];
};

/* reader_op(r, kind, w): the line is an operator: append it; -1 after a
 * message. */
int reader_op(struct reader *r, enum op_kind kind, const struct words *w);

/* reader_finish(r): the whole must be a network; append its loss. */
int reader_finish(struct reader *r);

#endif
