/* The misfits of a match, and the installed networks that a file fits. */
#include <stdlib.h>
#include <string.h>

#include "base/share.h"
#include "train/weights/match.h"

/* Return 1 if a parameter of operator ${op} is loaded. */
static int
match_has(const struct match *m, const struct op *op)
{
	for (int k = 0; k < op->nparam; k++)
		if (m->param[op->param + k].status != LOAD_INITIALIZED)
			return 1;
	return 0;
}

/* Append the parameters of operator ${op} that the file does not have. */
static void
match_add_absent(const struct match *m, const struct op *op, struct buffer *b,
    size_t *n)
{
	for (int k = op->param; k < op->param + op->nparam; k++)
		if (m->param[k].status == LOAD_INITIALIZED &&
		    strcmp(m->param[k].why, MATCH_ABSENT) == 0)
			match_add_name(b, n, m->graph->param[k].name,
			    MATCH_ABSENT);
}

size_t
match_misfits(const struct match *m, struct buffer *b)
{
	const struct graph *g = m->graph;
	size_t n = 0;

	for (size_t i = 0; i < m->weights->tensors; i++)
		if (m->misplaced[i])
			match_add_name(b, &n, m->weights->tensor[i].name,
			    strcmp(m->left[i], MATCH_UNKNOWN) == 0 ? "" :
			    m->left[i]);
	/* A norm is of no use without its convolution, and the reverse. */
	for (int i = 0; i < g->nop; i++) {
		const struct op *norm = &g->op[i], *conv = &g->op[norm->in[0]];

		if (norm->kind != OP_BN || conv->kind != OP_CONV ||
		    match_has(m, norm) == match_has(m, conv))
			continue;
		match_add_absent(m, conv, b, &n);
		match_add_absent(m, norm, b, &n);
	}
	match_end_names(b, n);
	return n;
}

/*
 * Return 1 if all of the file fits the network of ${m}, and it has all
 * parameters of the backbone; only biases of convolutions may be absent, which
 * some programs omit before norms.
 */
static int
match_fits(const struct match *m)
{
	const struct graph *g = m->graph;
	struct buffer b = { 0 };
	size_t n = match_misfits(m, &b);

	buffer_free(&b);
	for (int i = 0; i < g->nparam; i++)
		n += m->param[i].status == LOAD_INITIALIZED &&
		    !g->param[i].head && g->param[i].kind != PARAM_BIAS;
	return n == 0;
}

/*
 * Return 1 if the network of ${m}, exported by the names of the file, has
 * tensors of the same names and, except for axes of 1, of the same shapes.
 */
static int
match_is_export(const struct match *m)
{
	const struct graph *g = m->graph;
	struct key_map_network of = graph_key_map(g);
	struct key_map *n = strcmp(m->names, "vt") != 0 ?
	    key_map_open(m->names) : NULL;
	struct names *names = names_new();
	int same = n != NULL;

	for (int i = 0; i < g->nparam; i++)
		same &= m->param[i].status != LOAD_CONVERTED ||
		    m->param[i].adapt.first > 0;
	for (size_t i = 0; n != NULL && i < m->weights->tensors; i++)
		names_add(names, key_map_unwrap(n, m->weights->tensor[i].name));
	for (int i = 0; same && i < g->nop; i++) {
		const struct op *op = &g->op[i];
		char theirs[KEY_MAP_TEXT + 80];

		same = key_map_lacks(n, &of, op->name) == NULL;
		if (!same || op->nparam == 0 || g->param[op->param].head)
			continue;
		same = key_map_to_theirs(n, &of, op->name, theirs) != NULL;
		if (same) {
			strcat(theirs, g->param[op->param].name +
			    strlen(op->name));
			same = names_find(names, theirs) >= 0;
		}
	}
	names_free(names);
	key_map_close(n);
	return same;
}

void
match_fitting(const struct weights_file *w, int classes, struct buffer *b)
{
	struct buffer exact = { 0 }, all = { 0 };
	size_t paths;
	char **path = share_list("models", ".net", &paths);

	for (size_t i = 0; i < paths; i++) {
		struct graph *g = graph_read(path[i], classes);
		struct match *m = g != NULL ? match_new(g, w, NULL) : NULL;

		if (m != NULL && match_fits(m)) {
			buffer_printf(&all, "%s%s", all.n > 0 ? ", " : "",
			    g->name);
			if (match_is_export(m))
				buffer_printf(&exact, "%s%s", exact.n > 0 ?
				    ", " : "", g->name);
		}
		match_free(m);
		graph_free(g);
		free(path[i]);
	}
	free(path);
	if (all.n > 0)
		buffer_text(b, exact.n > 0 ? exact.data : all.data);
	buffer_free(&exact);
	buffer_free(&all);
}
