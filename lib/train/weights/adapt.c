/* The values of a parameter from a tensor of another shape. */
#include <stdio.h>
#include <string.h>

#include "graph/attribute.h"
#include "train/weights/adapt.h"

/* Return the number of the operator whose name is the ${n} bytes at ${name}, or
 * -1 without a message. */
static int
graph_op(const struct graph *g, const char *name, size_t n)
{
	for (int i = 0; i < g->nop; i++)
		if (strlen(g->op[i].name) == n &&
		    memcmp(g->op[i].name, name, n) == 0)
			return i;
	return -1;
}

/* Return 1 if ${op} has ATTRIBUTE=VALUE, of the ${n} bytes at ${text}. */
static int
adapt_has_attribute(const struct op *op, const char *text, size_t n)
{
	char key[64], *value;

	if (n >= sizeof(key))
		return 0;
	snprintf(key, sizeof(key), "%.*s", (int)n, text);
	if ((value = strchr(key, '=')) == NULL)
		return 0;
	*value++ = '\0';
	return strcmp(key, "kind") == 0 ?
	    strcmp(value, op_types[op->kind].name) == 0 :
	    attribute_is(op, key, value);
}

static int
adapt_has_op(const void *network, const char *text)
{
	const struct graph *g = network;
	size_t n = strcspn(text, " ");
	int i = graph_op(g, text, n);

	for (const char *p = text + n; i >= 0 && *p != '\0';
	    p += 1 + strcspn(p + 1, " "))
		if (!adapt_has_attribute(&g->op[i], p + 1,
		    strcspn(p + 1, " ")))
			return 0;
	return i >= 0;
}

struct key_map_network
graph_key_map(const struct graph *g)
{
	return (struct key_map_network){ adapt_has_op, g };
}

int
graph_rotated_channels(const struct graph *g, const struct rename *r, int op)
{
	char name[KEY_MAP_TEXT];
	int i;

	if (r == NULL || !key_map_how(r, "turn", g->op[op].name, name) ||
	    (i = graph_op(g, name, strlen(name))) < 0 || g->op[i].nparam == 0)
		return 0;
	return g->param[g->op[i].param].dim[0];
}

/*
 * Assign the axes by the number of dimensions: 5 is out, in, t, h, w; 4 lacks
 * t; 3 is out, in, t.
 */
static struct extent
adapt_extent(int ndim, const int64_t *d)
{
	struct extent e = { 1, 1, 1, 1, 1 };

	e.out = ndim > 0 ? d[0] : 1;
	e.in = ndim > 1 ? d[1] : 1;
	e.t = ndim == 5 || ndim == 3 ? d[2] : 1;
	e.h = ndim == 4 ? d[2] : ndim == 5 ? d[3] : 1;
	e.w = ndim == 4 ? d[3] : ndim == 5 ? d[4] : 1;
	return e;
}

/* Return the sizes of parameter ${p}. */
static struct extent
param_extent(const struct param *p)
{
	int64_t d[5];

	for (int i = 0; i < p->ndim; i++)
		d[i] = p->dim[i];
	return adapt_extent(p->ndim, d);
}

/* Return 1 if ${op} reads the network's input, or some of its frames. */
static int
adapt_is_first(const struct graph *g, const struct op *op)
{
	const struct op *from = op->nin > 0 ? &g->op[op->in[0]] : NULL;

	while (from != NULL && from->kind == OP_FRAMES)
		from = &g->op[from->in[0]];
	return from != NULL && from->kind == OP_INPUT;
}

int
adapt_new(const struct graph *g, const struct param *p,
    const struct weight *t, const struct rename *r, struct adapt *a)
{
	const struct op *op = &g->op[p->op];
	int inflated, added;

	*a = (struct adapt){ .how = "", .to = param_extent(p),
		.from = adapt_extent(t->ndim, t->dim) };
	if (t->type == DTYPE_OTHER || t->ndim > 5 ||
	    (t->ndim < 2) != (p->ndim < 2))
		return -1;
	if (p->ndim > 1)
		a->first = graph_rotated_channels(g, r, p->op);
	inflated = a->from.t == 1 && a->to.t > 1;
	a->colors = p->ndim > 1 && a->from.in == 3 && a->to.in != 3 &&
	    adapt_is_first(g, op);
	added = a->from.in < a->to.in && !a->colors && op->nin > 0 &&
	    g->op[op->in[0]].kind == OP_CONCAT;
	if (a->from.out != a->to.out || a->from.h != a->to.h ||
	    a->from.w != a->to.w ||
	    (a->from.in != a->to.in && !a->colors && !added) ||
	    (a->from.t != a->to.t && !inflated) || a->first >= a->from.in)
		return -1;
	a->how = a->colors && inflated ? "mean over the colors, repeated; "
	    "repeated over frames" : a->colors ? "mean over the colors, "
	    "repeated" : added && inflated ? "repeated over frames; zeros for "
	    "the channels that were added" : added ? "zeros for the channels "
	    "that were added" : inflated ? "repeated over frames" :
	    a->first > 0 ? "input channels in another order" : "";
	return 0;
}

/*
 * Return the value of the file for output ${o}, input ${i}, frame ${t} and
 * position ${at} of a frame of the kernel.
 */
static float
adapt_value(const struct adapt *a, const float *x, int64_t o, int64_t i,
    int64_t t, int64_t at)
{
	int64_t plane = a->from.h * a->from.w, rest = a->from.in - a->first;
	const float *p = x + o * a->from.in * a->from.t * plane +
	    (a->from.t > 1 ? t : 0) * plane + at;
	int64_t step = a->from.t * plane;
	float sum = 0;

	if (a->from.in == a->to.in)
		return p[(i < rest ? i + a->first : i - rest) * step];
	if (!a->colors)
		return i < a->from.in ? p[i * step] : 0;
	for (int64_t k = 0; k < a->from.in; k++)
		sum += p[k * step];
	return sum / (float)a->from.in;
}

void
adapt_values(const struct adapt *a, const float *x, float *to)
{
	int64_t plane = a->to.h * a->to.w;
	float parts = a->from.t < a->to.t ? (float)a->to.t : 1;

	for (int64_t o = 0; o < a->to.out; o++)
		for (int64_t i = 0; i < a->to.in; i++)
			for (int64_t t = 0; t < a->to.t; t++)
				for (int64_t at = 0; at < plane; at++)
					*to++ = adapt_value(a, x, o, i, t,
					    at) / parts;
}
