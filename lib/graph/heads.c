/*
 * Completes a network: the streams it reads, and its heads, the scores of
 * losses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph/attribute.h"
#include "graph/reader.h"

/* Bits of the target kinds that each loss accepts. */
static const unsigned kinds[LOSS_KINDS] = {
	[LOSS_SOFTMAX] = 1 << TARGET_CLASS | 1 << TARGET_SOFT,
	[LOSS_SIGMOID] = 1 << TARGET_CLASS | 1 << TARGET_SET,
};

int
reader_stream(struct reader *r, struct op *op, const char *name)
{
	struct input_spec *needs = &r->g->needs;
	long i = names_find(r->streams, name);

	if (i >= 0 && needs->stream[i].c != op->out)
		return fail("%s:%d: out=%d (an input above reads %d "
		    "channels of the stream %s)", r->path, r->line, op->out,
		    needs->stream[i].c, name);
	if (i < 0) {
		i = names_add(r->streams, name);
		needs->stream = array_reserve(needs->stream, (size_t)i,
		    &r->stream_cap, sizeof(*needs->stream));
		needs->stream[i] = (struct stream_spec){ .c = op->out };
		strcpy(needs->stream[i].name, name);
		needs->streams++;
	}
	op->input.stream = (int)i;
	return 0;
}

int
reader_target(struct reader *r, struct op *op, const char *name)
{
	struct graph *g = r->g;
	struct input_spec *needs = &g->needs;
	int classes = r->channels[op->in[0]];
	long i = names_find(r->targets, name);
	int want = i >= 0 ? needs->target[i].classes :
	    strcmp(name, TARGET_DEFAULT) == 0 ? r->classes : classes;

	if (classes == 0)
		return fail("%s:%d: loss %s: how many scores %s gives "
		    "depends on the shape", r->path, r->line, op->name,
		    g->op[op->in[0]].name);
	if (classes != want)
		return fail("%s:%d: loss %s: %s gives %d scores a clip (wanted "
		    "one for each of %d classes)", r->path, r->line, op->name,
		    g->op[op->in[0]].name, classes, want);
	if (i < 0) {
		i = names_add(r->targets, name);
		needs->target = array_reserve(needs->target, (size_t)i,
		    &r->target_cap, sizeof(*needs->target));
		needs->target[i] = (struct target_spec){ .classes = classes,
			.kinds = kinds[op->loss.kind] };
		strcpy(needs->target[i].name, name);
		needs->targets++;
	}
	needs->target[i].kinds &= kinds[op->loss.kind];
	op->loss.target = (int)i;
	op->loss.head = g->heads;
	g->head = array_reserve(g->head, (size_t)g->heads, &r->head_cap,
	    sizeof(*g->head));
	g->head[g->heads++] = (struct head){ op->in[0], g->nop, classes };
	return 0;
}

/* Append the loss of a file without one; the last operator gives the scores. */
static int
graph_add_loss(struct reader *r)
{
	struct graph *g = r->g;
	struct op loss = { .kind = OP_LOSS, .name = "loss", .nin = 1,
		.in = { g->nop - 1 } };

	attribute_defaults(&loss);
	if (r->channels[g->nop - 1] == 0)
		return fail("%s: how many scores %s gives depends on the shape "
		    "(wanted out=classes)", r->path, g->op[g->nop - 1].name);
	if (r->channels[g->nop - 1] != r->classes)
		return fail("%s: the last operator gives %d scores a clip "
		    "(wanted one for each of %d classes: out=classes)", r->path,
		    r->channels[g->nop - 1], r->classes);
	return reader_target(r, &loss, TARGET_DEFAULT) != 0 ? -1 :
	    reader_append(r, &loss, r->classes);
}

/* An unused operator is a mistake in the file. */
static int
graph_check_used(const struct reader *r)
{
	const struct graph *g = r->g;
	char *used = xcalloc((size_t)g->nop, 1);
	int i;

	for (i = 0; i < g->nop; i++) {
		used[i] = g->op[i].kind == OP_LOSS;
		for (int k = 0; k < g->op[i].nin; k++)
			used[g->op[i].in[k]] = 1;
	}
	for (i = 0; i < g->nop && used[i]; i++)
		;
	free(used);
	return i < g->nop ? fail("%s: no operator uses %s", r->path,
	    g->op[i].name) : 0;
}

/*
 * Mark the classifier of each head: the last linear layer that its scores
 * depend on.
 */
static void
graph_mark_classifiers(struct graph *g)
{
	int *last = xcalloc((size_t)g->nop, sizeof(*last));
	char *marked = xcalloc((size_t)g->nop, 1);

	for (int i = 0; i < g->nop; i++) {
		last[i] = g->op[i].kind == OP_LINEAR ? i : -1;
		for (int k = 0; k < g->op[i].nin; k++)
			if (last[g->op[i].in[k]] > last[i])
				last[i] = last[g->op[i].in[k]];
	}
	for (int i = 0; i < g->heads; i++)
		if (last[g->head[i].scores] >= 0)
			marked[last[g->head[i].scores]] = 1;
	for (int i = 0; i < g->nparam; i++)
		g->param[i].head = marked[g->param[i].op];
	free(last);
	free(marked);
}

int
reader_finish(struct reader *r)
{
	struct graph *g = r->g;

	if (g->nop < 2)
		return fail("%s: no network (wanted an input and an operator)",
		    r->path);
	g->open_loss = g->heads == 0;
	if ((g->open_loss && graph_add_loss(r) != 0) ||
	    graph_check_used(r) != 0)
		return -1;
	graph_mark_classifiers(g);
	return 0;
}
