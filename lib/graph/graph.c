/* Shapes, multiply-adds and sizes of a graph. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "graph/attribute.h"
#include "graph/graph.h"

void
graph_free(struct graph *g)
{
	if (g == NULL)
		return;
	for (int i = 0; i < g->nop; i++)
		attribute_free(&g->op[i]);
	free(g->name);
	free(g->op);
	free(g->head);
	free(g->needs.stream);
	free(g->needs.target);
	free(g->param);
	free(g);
}

int
graph_shapes(const struct graph *g, const struct dims *input, struct dims *out,
    double *macs)
{
	char text[64];

	if (macs != NULL)
		*macs = 0;
	for (int i = 0; i < g->nop; i++) {
		const struct op *op = &g->op[i];
		struct dims in[OP_INPUTS];

		if (op->kind == OP_INPUT) {
			/* The .net file sets the channels of a stream. */
			out[i] = input[op->input.stream];
			out[i].c = op->out;
			continue;
		}
		for (int j = 0; j < op->nin; j++)
			in[j] = out[op->in[j]];
		if (op_types[op->kind].infer(op, in, &out[i]) != 0)
			return -1;
		if (!dims_fit(&out[i]))
			return fail("%s: an output of %s (wanted at most 2^40 "
			    "values)", op->name, dims_text(&out[i], text));
		if (macs != NULL && op_types[op->kind].macs != NULL)
			*macs += op_types[op->kind].macs(op, &in[0], &out[i]);
	}
	return 0;
}

struct dims *
graph_inputs(const struct graph *g, int n, int t, int side)
{
	struct dims *input = xcalloc((size_t)g->needs.streams, sizeof(*input));

	input_spec_shapes(&g->needs, n, t, side, input);
	return input;
}

double
graph_macs(const struct graph *g, const struct dims *input)
{
	struct dims *out = xcalloc((size_t)g->nop, sizeof(*out));
	double macs;

	if (graph_shapes(g, input, out, &macs) != 0)
		macs = -1;
	free(out);
	return macs;
}

void
graph_between(struct graph *g)
{
	struct param *old = g->param, *to;
	int n = g->nparam;

	to = g->param = xcalloc((size_t)(n + g->nop), sizeof(*to));
	g->nparam = 0;
	g->elements = 0;
	/* Keep the parameters in the order of their operators. */
	for (int i = 0; i < g->nop; i++) {
		struct op *op = &g->op[i];
		struct param *first = to + g->nparam;

		for (int k = 0; k < op->nparam; k++)
			first[k] = old[op->param + k];
		op->param = g->nparam;
		if (op->kind == OP_BN && !op->bn.fixed) {
			/* It has the shape of running_var, and begins at 0. */
			first[op->nparam] = first[op->nparam - 1];
			first[op->nparam].kind = PARAM_BETWEEN;
			first[op->nparam].fill = 0;
			snprintf(first[op->nparam].name, sizeof(first->name),
			    "%s.running_between", op->name);
			op->nparam++;
		}
		g->nparam += op->nparam;
	}
	for (int k = 0; k < g->nparam; k++) {
		/* The offsets of all later parameters move. */
		to[k].offset = g->elements;
		g->elements += round_up(to[k].count, PARAM_ALIGN);
	}
	free(old);
}

size_t
graph_parameters(const struct graph *g)
{
	size_t n = 0;

	for (int i = 0; i < g->nparam; i++)
		/* Kinds from PARAM_MEAN are tracked, not trained. */
		if (g->param[i].kind < PARAM_MEAN)
			n += g->param[i].count;
	return n;
}
