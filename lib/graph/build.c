/*
 * Operators of .net files: checks their attributes and inputs, and appends them
 * and their parameters to the graph.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "graph/attribute.h"
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
	if (op->kind == OP_SCALE)
		return op->scale.trained && op->scale.factor.per != PER_ONE;
	return op->kind == OP_SHIFT || op_types[op->kind].params != NULL;
}

/* Return the value of ${key} on line ${w}, or NULL. */
static const char *
graph_value(const struct words *w, const char *key)
{
	for (int i = 0; i < w->n; i++)
		if (strcmp(w->key[i], key) == 0)
			return w->value[i];
	return NULL;
}

/*
 * Set the inputs to operators above, which are named in ${value} and separated
 * by commas.  Return 0, or -1 after a message.
 */
static int
graph_set_inputs(struct reader *r, struct op *op, const char *value)
{
	const struct op_type *type = &op_types[op->kind];
	char name[LINE];

	for (;; value++) {
		size_t len = strcspn(value, ",");
		long from;

		snprintf(name, sizeof(name), "%.*s", (int)len, value);
		if ((from = names_find(r->names, name)) < 0)
			return fail("%s:%d: in=%s: no operator above has this "
			    "name", r->path, r->line, Q(name));
		if (r->g->op[from].kind == OP_LOSS)
			return fail("%s:%d: in=%s: a loss is not an input",
			    r->path, r->line, name);
		if (op->nin == type->max_in)
			return fail("%s:%d: %s takes at most %d inputs",
			    r->path, r->line, type->name, type->max_in);
		op->in[op->nin++] = (int)from;
		value += len;
		if (*value == '\0')
			return 0;
	}
}

/* Set attribute ${i} of line ${w}.  Return 0, or -1 after a message. */
static int
graph_set(struct reader *r, struct op *op, const struct words *w, int i)
{
	const struct op_type *type = &op_types[op->kind];
	const struct attribute *a = attribute_find(op->kind, w->key[i]);
	const char *key = w->key[i], *value = w->value[i];
	int input = type->max_in > 0 && strcmp(key, "in") == 0;
	char text[256] = "";
	size_t n = 0;

	if (a == NULL && !input) {
		if (type->max_in > 0)
			n = (size_t)snprintf(text, sizeof(text), " in");
		while ((a = attribute_next(op->kind, a)) != NULL)
			if (a->key != NULL)
				n += (size_t)snprintf(text + n,
				    sizeof(text) - n, " %s", a->key);
		return fail("%s:%d: %s has no attribute %s (it has:%s)",
		    r->path, r->line, type->name, Q(key), text);
	}
	for (int j = 0; j < i; j++)
		if (strcmp(key, w->key[j]) == 0)
			return fail("%s:%d: %s is given twice", r->path,
			    r->line, key);
	if (input)
		return graph_set_inputs(r, op, value);
	return attribute_parse(a, op, value, r->classes) == 0 ? 0 :
	    fail("%s:%d: %s=%s (wanted %s)", r->path, r->line, key, Q(value),
	    attribute_want(a, text));
}

/*
 * Set what other attributes imply: padding that keeps the size at stride 1, and
 * the focus of a focal loss.  Return 0, or -1 after a message.
 */
static int
graph_imply(struct reader *r, struct op *op, const struct words *w)
{
	for (int i = 0; i < 3 && graph_value(w, "p") == NULL; i++)
		op->p[i] = (op->k[i] - 1) / 2;
	if (op->kind != OP_LOSS)
		return 0;
	if ((int)op->loss.kind < LOSS_KINDS)
		return graph_value(w, "gamma") == NULL ? 0 : fail("%s:%d: loss "
		    "%s: gamma is for kind=focal", r->path, r->line, op->name);
	op->loss.kind = LOSS_SOFTMAX;
	if (graph_value(w, "gamma") == NULL)
		op->loss.focus = FOCUS_DEFAULT;
	return 0;
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

/* Check what the attributes of ${op} must have in common, kind by kind. */
static int
graph_check_kind(struct reader *r, const struct op *op, int cin)
{
	const struct op_type *type = &op_types[op->kind];
	const struct op_frames *f = &op->frames;
	int axes = op->avgpool.axes, groups = op->conv.groups;

	if (op->kind == OP_LOSS && op->loss.kind == LOSS_SIGMOID &&
	    op->loss.smooth > 0)
		return fail("%s:%d: loss %s: smooth is for kind=softmax or "
		    "focal", r->path, r->line, op->name);
	if (op->kind == OP_FRAMES && f->first >= f->step)
		return fail("%s:%d: frames %s: first=%d is not smaller than "
		    "step=%d", r->path, r->line, op->name, f->first, f->step);
	if (op->kind == OP_FRAMES && f->spread && f->first > 0)
		return fail("%s:%d: frames %s: spread=1 begins with frame 0 "
		    "(first=%d)", r->path, r->line, op->name, f->first);
	if (op->kind == OP_AVGPOOL && !axes == !graph_has_window(op))
		return fail("%s:%d: avgpool %s: %s over=AXES %s a window k, s "
		    "or p", r->path, r->line, op->name,
		    axes ? "both" : "neither", axes ? "and" : "nor");
	if (op->kind == OP_CONV && (cin % groups || op->out % groups))
		return fail("%s:%d: conv %s: groups=%d does not divide %d and "
		    "%d channels", r->path, r->line, op->name, groups, cin,
		    op->out);
	if (op->kind == OP_SHIFT && cin / op->shift.fold < 1)
		return fail("%s:%d: shift %s: fold=%d of %d channels moves "
		    "none", r->path, r->line, op->name, op->shift.fold, cin);
	for (int i = 0; i < 3; i++)
		if ((op->kind == OP_MAXPOOL || op->kind == OP_AVGPOOL) &&
		    op->p[i] >= op->k[i])
			return fail("%s:%d: %s %s: padding %d is not smaller "
			    "than its window %d", r->path, r->line,
			    type->name, op->name, op->p[i], op->k[i]);
	return 0;
}

/* Check the attributes of ${op} together; each is checked already. */
static int
graph_check_op(struct reader *r, const struct op *op, const struct words *w,
    int cin)
{
	const struct op_type *type = &op_types[op->kind];
	const struct attribute *a = NULL;

	if (op->nin < type->min_in)
		return fail("%s:%d: %s %s: %d inputs (wanted %d: in=NAME)",
		    r->path, r->line, type->name, op->name, op->nin,
		    type->min_in);
	while ((a = attribute_next(op->kind, a)) != NULL)
		if (a->needed != NULL && graph_value(w, a->key) == NULL)
			return fail("%s:%d: %s %s: no %s=%s", r->path, r->line,
			    type->name, op->name, a->key, a->needed);
	if (cin == 0 && graph_takes_channels(op))
		return fail("%s:%d: %s %s: how many channels %s has depends on "
		    "the shape (wanted a fixed number)", r->path, r->line,
		    type->name, op->name, r->g->op[op->in[0]].name);
	return graph_check_kind(r, op, cin);
}

/*
 * Expand the lists of ${op} to one value a channel.  One value is used for all
 * channels.
 */
static int
graph_each_channel(struct reader *r, struct op *op)
{
	const struct attribute *a = NULL;

	while ((a = attribute_next(op->kind, a)) != NULL) {
		struct reals *l = (struct reals *)((char *)op + a->at);

		if (a->type != ATTRIBUTE_REALS)
			continue;
		if (l->n > 1 && l->n != op->out)
			return fail("%s:%d: %s has %d values (wanted 1 or %d, "
			    "one for each channel)", r->path, r->line, a->key,
			    l->n, op->out);
		l->v = xrealloc(l->v, (size_t)op->out, sizeof(*l->v));
		for (int c = l->n; c < op->out; c++)
			l->v[c] = l->n == 1 ? l->v[0] : a->missing;
		l->n = op->out;
	}
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
graph_feed_op(struct reader *r, struct op *op, const struct words *w)
{
	const char *stream = graph_value(w, "stream");
	const char *target = graph_value(w, "target");

	stream = stream != NULL ? stream : STREAM_DEFAULT;
	if (op->kind == OP_LOSS)
		return reader_target(r, op, target != NULL ? target :
		    TARGET_DEFAULT);
	if (op->kind != OP_INPUT)
		return 0;
	if (graph_check_stack(r, op, stream) != 0)
		return -1;
	if (op->out > OP_STREAM)
		return fail("%s:%d: out=%d (wanted 1 to %d channels of a "
		    "stream)", r->path, r->line, op->out, OP_STREAM);
	return graph_each_channel(r, op) != 0 ? -1 :
	    reader_stream(r, op, stream);
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
	int cin;

	for (int i = 0; i < w->n; i++)
		if (graph_set(r, op, w, i) != 0)
			return -1;
	if (graph_imply(r, op, w) != 0)
		return -1;
	cin = op->nin > 0 ? r->channels[op->in[0]] : 0;
	return graph_check_op(r, op, w, cin) != 0 ||
	    graph_feed_op(r, op, w) != 0 ? -1 : reader_append(r, op, cin);
}

int
reader_op(struct reader *r, enum op_kind kind, const struct words *w)
{
	const struct op_type *type = &op_types[kind];
	struct op op = { .kind = kind };

	if (!attribute_name_fits(w->name))
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
	attribute_defaults(&op);
	if (graph_read_op(r, &op, w) != 0) {
		attribute_free(&op);
		return -1;
	}
	names_add(r->names, op.name);
	return 0;
}
