#ifndef GRAPH_READER_H
#define GRAPH_READER_H

/*
 * What the parts of the reader of .net files share: read.c (lines), block.c,
 * build.c (operators), attribute.c.
 */

#include "base/names.h"
#include "graph/graph.h"

#define WORDS 24		/* attributes on a line */
#define LINE 1024		/* bytes in a line, with its blocks' $keys filled in */

/* The lines between "def" and "end", in the text, and the $keys in them. */
struct block {
	const char **line;
	size_t lines, cap;
	int keys;
	struct { const char *text; size_t n; } key[WORDS];
};

struct reader {
	struct graph *g;
	const char *path;
	int line;
	int classes;

	/* build.c */
	struct names *names;		/* of operators, by their numbers */
	struct names *streams, *targets;	/* as graph->needs has them */
	int *channels;			/* of each op's output */
	size_t op_cap, param_cap, channel_cap, stream_cap, target_cap;
	size_t head_cap;

	/* block.c */
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

/* reader_type(name): the kind of operator called so, or -1. */
int reader_type(const char *name);

/*
 * reader_line(r, line, depth):
 * Take one line, of the file or, ${depth} blocks deep, of a block; -1 after a
 * message.
 */
int reader_line(struct reader *r, const char *line, int depth);

/* reader_op(r, kind, w): the line is an operator: append it; -1 after a
 * message. */
int reader_op(struct reader *r, enum op_kind kind, const struct words *w);

/*
 * reader_append(r, op, cin): put ${op} at the end of the graph, with the
 * parameters it owns for ${cin} channels; -1 after a message.
 */
int reader_append(struct reader *r, struct op *op, int cin);

/*
 * reader_stream(r, op, name), reader_target(r, op, name): the input or loss
 * ${op} reads the stream or target of that name; reader_target makes the scores
 * that the loss is taken of a head of the graph.  -1 after a message.
 */
int reader_stream(struct reader *r, struct op *op, const char *name);
int reader_target(struct reader *r, struct op *op, const char *name);

/* reader_finish(r): the whole must be a network; append the loss that it does
 * not name. */
int reader_finish(struct reader *r);

/* What the line of an operator says that is not in its struct op. */
struct line {
	int padded;			/* p= is there */
	int means, sds;			/* values of mean=, std= */
	const char *stream, *target;
};

#define NAME_RULE "up to 63 letters, digits, '_', '.' and '-'"

int name_fits(const char *s);

/* attribute_set(r, op, w, i, l): set attribute ${i} of ${w}, which ${op} has;
 * -1 after a message. */
int attribute_set(struct reader *r, struct op *op, const struct words *w, int i,
    struct line *l);

/*
 * block_begin(r, name): "def NAME": what follows up to "end" is a block; NULL
 * after a message.  block_line(r, b, line): one line of it, without its
 * comment, since a '$' in that asks for nothing; the text must stay.
 */
struct block *block_begin(struct reader *r, char *name);
int block_line(struct reader *r, struct block *b, char *line);
const char *block_name(const struct reader *r, const struct block *b);

/* block_expand(r, b, w, depth): the line ${w} uses the block: take its lines. */
int block_expand(struct reader *r, const struct block *b, const struct words *w,
    int depth);

/* block_free(r): all blocks and their names. */
void block_free(struct reader *r);

#endif
