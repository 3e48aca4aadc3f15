/*
 * Operators of .net files: checks their attributes and inputs, and appends them
 * and their parameters to the graph.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "graph/reader.h"

#define Q text_quote

int
reader_type(const char *name)
{
	for (int k = 0; k < OP_KINDS; k++)
		if (op_types[k].name != NULL &&
		    strcmp(op_types[k].name, name) == 0)
			return k;
	return -1;
}

/* Return 1 if ${op} needs a known number of channels. */
static int
graph_takes_channels(const struct op *op)
{
	return op->kind == OP_CONV || op->kind == OP_BN ||
	    op->kind == OP_LINEAR || op->kind == OP_SHIFT ||
	    (op->kind == OP_SCALE && op->trained && op->per != PER_ONE);
}

/* Return 1 if kernel, stride or padding differs from 1, 1 and 0. */
static int
graph_has_window(const struct op *op)
{
	for (int i = 0; i < 3; i++)
		if (op->k[i] != 1 || op->s[i] != 1 || op->p[i] != 0)
			return 1;
	return 0;
}

/* Check the attributes of ${op} together; each is checked already. */
static int
graph_check_op(struct reader *r, const struct op *op, int cin)
{
	const struct op_type *type = &op_types[op->kind];

	if (op->nin < type->min_in)
		return fail("%s:%d: %s %s: %d inputs (wanted %d: in=NAME)",
		    r->path, r->line, type->name, op->name, op->nin,
		    type->min_in);
	if (strstr(type->attributes, " out ") != NULL && op->out == 0)
		return fail("%s:%d: %s %s: no out=CHANNELS", r->path, r->line,
		    type->name, op->name);
	if (op->kind == OP_LOSS && op->loss == LOSS_SIGMOID && op->smooth > 0)
		return fail("%s:%d: loss %s: smooth is for kind=softmax or "
		    "focal",
		    r->path, r->line, op->name);
	if (cin == 0 && graph_takes_channels(op))
		return fail("%s:%d: %s %s: how many channels %s has depends on "
		    "the shape (wanted a fixed number)", r->path, r->line,
		    type->name, op->name, r->g->op[op->in[0]].name);
	if (op->kind == OP_SOFTMAX && op->axes == 0)
		return fail("%s:%d: softmax %s: no over=AXES", r->path, r->line,
		    op->name);
	if (op->kind == OP_SCALE && isnan(op->by))
		return fail("%s:%d: scale %s: no by=FACTOR", r->path, r->line,
		    op->name);
	if (op->kind == OP_FRAMES && op->step == 0)
		return fail("%s:%d: frames %s: no step=FRAMES", r->path,
		    r->line, op->name);
	if (op->kind == OP_FRAMES && op->first >= op->step)
		return fail("%s:%d: frames %s: first=%d is not smaller than "
		    "step=%d", r->path, r->line, op->name, op->first, op->step);
	if (op->kind == OP_FRAMES && op->spread && op->first > 0)
		return fail("%s:%d: frames %s: spread=1 begins with frame 0 "
		    "(first=%d)", r->path, r->line, op->name, op->first);
	if (op->kind == OP_AVGPOOL && !op->axes == !graph_has_window(op))
		return fail("%s:%d: avgpool %s: %s over=AXES %s a window k, s "
		    "or p", r->path, r->line, op->name, op->axes ? "both" :
		    "neither", op->axes ? "and" : "nor");
	if (op->kind == OP_CONV && (cin % op->groups || op->out % op->groups))
		return fail("%s:%d: conv %s: groups=%d does not divide %d and "
		    "%d channels", r->path, r->line, op->name, op->groups, cin,
		    op->out);
	if (op->kind == OP_SHIFT && cin / op->fold < 1)
		return fail("%s:%d: shift %s: fold=%d of %d channels moves "
		    "none", r->path, r->line, op->name, op->fold, cin);
	for (int i = 0; i < 3; i++)
		if ((op->kind == OP_MAXPOOL || op->kind == OP_AVGPOOL) &&
		    op->p[i] >= op->k[i])
			return fail("%s:%d: %s %s: padding %d is not smaller "
			    "than its window %d", r->path, r->line,
			    type->name, op->name, op->p[i], op->k[i]);
	return 0;
}

/*
 * Expand ${*v}, which has ${n} values, to one value a channel.  One value is
 * used for all channels, and ${by} if there is none.
 */
static int
graph_each_channel(struct reader *r, const struct op *op, const char *key,
    double **v, int n, double by)
{
	if (n > 1 && n != op->out)
		return fail("%s:%d: %s has %d values (wanted 1 or %d, one for "
		    "each channel)", r->path, r->line, key, n, op->out);
	*v = xrealloc(*v, (size_t)op->out, sizeof(**v));
	for (int c = n; c < op->out; c++)
		(*v)[c] = n == 1 ? (*v)[0] : by;
	return 0;
}

static int
graph_check_stack(const struct reader *r, const struct op *op,
    const char *stream)
{
	int unit = stream_unit(stream);

	return unit == 0 || op->out % unit == 0 ? 0 : fail("%s:%d: out=%d "
	    "(wanted a multiple of %d, the channels of a %s of the stream %s)",
	    r->path, r->line, op->out, unit, unit == 2 ? "pair" : "difference",
	    stream);
}

/* Connect inputs to their streams and losses to their targets. */
static int
graph_feed_op(struct reader *r, struct op *op, const struct line *l)
{
	const char *stream = l->stream != NULL ? l->stream : STREAM_DEFAULT;

	if (op->kind == OP_LOSS)
		return reader_target(r, op, l->target != NULL ? l->target :
		    TARGET_DEFAULT);
	if (op->kind != OP_INPUT)
		return 0;
	if (graph_check_stack(r, op, stream) != 0)
		return -1;
	if (op->out > OP_STREAM)
		return fail("%s:%d: out=%d (wanted 1 to %d channels of a "
		    "stream)", r->path, r->line, op->out, OP_STREAM);
	if (graph_each_channel(r, op, "mean", &op->mean, l->means, 0) != 0 ||
	    graph_each_channel(r, op, "std", &op->sd, l->sds, 1) != 0)
		return -1;
	return reader_stream(r, op, stream);
}

int
reader_append(struct reader *r, struct op *op, int cin)
{
	struct graph *g = r->g;
	const struct op_type *type = &op_types[op->kind];
	int index = g->nop, out = op->out != 0 ? op->out : cin;

	if (type->channels != NULL) {
		int in[OP_INPUTS];

		for (int i = 0; i < op->nin; i++)
			in[i] = r->channels[op->in[i]];
		if ((out = type->channels(op, in)) < 0)
			return fail("%s:%d: %s %s: more than %d channels",
			    r->path, r->line, type->name, op->name,
			    OP_CHANNELS);
	}
	if (type->params != NULL) {
		struct param p[OP_PARAMS] = { 0 };

		op->nparam = type->params(op, cin, p);
		op->param = g->nparam;
		for (int i = 0; i < op->nparam; i++) {
			size_t left = GRAPH_VALUES - g->elements;

			p[i].op = index;
			p[i].offset = g->elements;
			/*
			 * ${left} is a multiple of PARAM_ALIGN, so round_up
			 * does not exceed it.
			 */
			if (p[i].count > left)
				return fail("%s:%d: with %s the network has "
				    "more than 2^31 parameters", r->path,
				    r->line, p[i].name);
			g->elements += round_up(p[i].count, PARAM_ALIGN);
			g->param = array_reserve(g->param, (size_t)g->nparam,
			    &r->param_cap, sizeof(*g->param));
			g->param[g->nparam++] = p[i];
		}
	}
	g->op = array_reserve(g->op, (size_t)index, &r->op_cap, sizeof(*g->op));
	r->channels = array_reserve(r->channels, (size_t)index, &r->channel_cap,
	    sizeof(*r->channels));
	g->op[index] = *op;
	r->channels[index] = out;
	g->nop++;
	return 0;
}

/* Read line ${w} into ${op} and append that to the graph. */
static int
graph_read_op(struct reader *r, struct op *op, const struct words *w)
{
	const struct op_type *type = &op_types[op->kind];
	struct line l = { 0 };
	int cin;

	for (int i = 0; i < w->n; i++) {
		char key[80];

		snprintf(key, sizeof(key), " %s ", w->key[i]);
		if (strstr(type->attributes, key) == NULL)
			return fail("%s:%d: %s has no attribute %s (it "
			    "has:%.*s)", r->path, r->line, type->name,
			    Q(w->key[i]), (int)strlen(type->attributes) - 1,
			    type->attributes);
		for (int j = 0; j < i; j++)
			if (strcmp(w->key[i], w->key[j]) == 0)
				return fail("%s:%d: %s is given twice",
				    r->path, r->line, w->key[i]);
		if (attribute_set(r, op, w, i, &l) != 0)
			return -1;
	}
	if (l.focused && !l.focal)
		return fail("%s:%d: loss %s: gamma is for kind=focal", r->path,
		    r->line, op->name);
	/* The default padding keeps the size at stride 1. */
	for (int i = 0; i < 3 && !l.padded; i++)
		op->p[i] = (op->k[i] - 1) / 2;
	cin = op->nin > 0 ? r->channels[op->in[0]] : 0;
	return graph_check_op(r, op, cin) != 0 ||
	    graph_feed_op(r, op, &l) != 0 ? -1 : reader_append(r, op, cin);
}

int
reader_op(struct reader *r, enum op_kind kind, const struct words *w)
{
	const struct op_type *type = &op_types[kind];
	struct op op = { .kind = kind, .k = { 1, 1, 1 }, .s = { 1, 1, 1 },
		.groups = 1, .fold = 8, .gamma = 1, .eps = 1e-5,
		.momentum = 0.1, .rate = 0.5, .std = NAN, .planar = 1,
		.by = NAN, .weight = 1 };

	if (!name_fits(w->name))
		return fail("%s:%d: name %s (wanted " NAME_RULE ")", r->path,
		    r->line, Q(w->name));
	if (kind != OP_INPUT && r->g->nop == 0)
		return fail("%s:%d: %s before the input", r->path, r->line,
		    type->name);
	if (r->g->nop == GRAPH_OPS)
		return fail("%s:%d: more than %d operators", r->path, r->line,
		    GRAPH_OPS);
	if (names_find(r->names, w->name) >= 0)
		return fail("%s:%d: %s is defined twice", r->path, r->line,
		    w->name);
	strcpy(op.name, w->name);
	if (graph_read_op(r, &op, w) != 0) {
		free(op.mean);
		free(op.sd);
		return -1;
	}
	names_add(r->names, op.name);
	return 0;
}
