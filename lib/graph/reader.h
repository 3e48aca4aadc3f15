#ifndef GRAPH_READER_H
#define GRAPH_READER_H

/*
 * Shared by the parts of the .net reader: read.c (lines), block.c, build.c
 * (operators), heads.c (streams, heads).  attribute.h has their attributes.
 */

#include "base/names.h"
#include "graph/graph.h"

#define WORDS 24		/* attributes on a line */
#define LINE 1024		/* bytes in a line, with $keys substituted */

/*
 * A block: the lines between "def" and "end", pointers into the text, and their
 * $keys.
 */
struct net_block {
	const char **line;
	size_t lines, cap;
	int keys;
	struct { const char *text; size_t n; } key[WORDS];
};

/* State of reading one file. */
struct reader {
	struct graph *g;
	const char *path;
	int line;
	int classes;

	/* build.c */
	struct names *names;		/* of operators, by index */
	struct names *streams, *targets;	/* of graph->needs */
	int *channels;			/* output channels of each op */
	size_t op_cap, param_cap, channel_cap, stream_cap, target_cap;
	size_t head_cap;

	/* block.c */
	struct names *block_names;
	struct net_block *block;	/* by the index of its name */
	size_t block_cap;
	size_t expanded;		/* bytes of expanded lines so far */
};

/* A line, split into words; attributes are split at their '='. */
struct words {
	int n;
	const char *op, *name;
	const char *key[WORDS], *value[WORDS];
	char text[LINE];
};

/* reader_type(name): return the kind of operator ${name}, or -1. */
int reader_type(const char *name);

/*
 * reader_line(r, line, depth):
 * Read one line of the file, or of a block at nesting depth ${depth}.  Return
 * 0, or -1 after a message.
 */
int reader_line(struct reader *r, const char *line, int depth);

/*
 * reader_op(r, kind, w):
 * Append the operator of line ${w} to the graph.  Return 0, or -1 after a
 * message.
 */
int reader_op(struct reader *r, enum op_kind kind, const struct words *w);

/*
 * reader_append(r, op, cin):
 * Append ${op} to the graph, with the parameters it has for ${cin} input
 * channels.  Return 0, or -1 after a message.
 */
int reader_append(struct reader *r, struct op *op, int cin);

/*
 * reader_stream(r, op, name):
 * Connect the input ${op} to the stream ${name}.  Return 0, or -1 after a
 * message.
 *
 * reader_target(r, op, name):
 * Connect the loss ${op} to the target ${name}, and make its scores a head of
 * the graph.  Return 0, or -1 after a message.
 */
int reader_stream(struct reader *r, struct op *op, const char *name);
int reader_target(struct reader *r, struct op *op, const char *name);

/*
 * reader_finish(r):
 * Check that the graph is a complete network.  Append a loss if the file has
 * none.  Return 0, or -1 after a message.
 */
int reader_finish(struct reader *r);

/*
 * block_begin(r, name):
 * Begin the block that "def NAME" defines, ${name} being the text behind def.
 * Return NULL after a message.  ${r} owns the block.
 *
 * block_line(r, b, line):
 * Add a line to the block, after removing its comment, in which a '$' has no
 * meaning.  ${line} must outlive ${r}.  Return 0, or -1 after a message.
 *
 * block_name(r, b):
 * Return the name of the block.
 */
struct net_block *block_begin(struct reader *r, char *name);
int block_line(struct reader *r, struct net_block *b, char *line);
const char *block_name(const struct reader *r, const struct net_block *b);

/*
 * block_expand(r, b, w, depth):
 * Read the lines of block ${b} with the $keys of line ${w}.  Return 0, or -1
 * after a message.
 */
int block_expand(struct reader *r, const struct net_block *b,
    const struct words *w, int depth);

/* block_free(r): free all blocks and their names. */
void block_free(struct reader *r);

#endif
