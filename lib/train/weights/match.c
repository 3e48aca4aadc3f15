/* The match of a file's tensors and a network's parameters, by their names. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/weights/match.h"

/*
 * The meaning of a tensor's name: parameter ${p}, by row ${r} of the key
 * mapping.  If ${p} is negative there is none; then ${state} is 1 for state of
 * training.
 */
struct match_meaning { int p; const struct rename *r; int state; };

struct match_reading {
	const struct graph *g;
	const struct key_map *key_map;	/* NULL: vt's own names */
	struct names *params;		/* their numbers are those of the
					 * parameters */
};

static struct match_meaning
match_read_name(const struct match_reading *rd, const char *name)
{
	struct match_meaning m = { .p = -1 };
	struct key_map_network of = graph_key_map(rd->g);
	char op[KEY_MAP_TEXT], ours[KEY_MAP_TEXT], whole[KEY_MAP_TEXT + 80];
	const char *leaf, *end;

	if (rd->key_map == NULL) {
		/* vt stores parameters as model/NAME, statistics as bn/NAME. */
		const char *p = text_starts(name, "model/") ? name + 6 :
		    text_starts(name, "bn/") ? name + 3 : NULL;

		m.state = p == NULL;
		m.p = p != NULL ? (int)names_find(rd->params, p) : -1;
		return m;
	}
	name = key_map_unwrap(rd->key_map, name);
	leaf = key_map_suffix(rd->key_map, name, &end);
	m.state = leaf != NULL && end == NULL;
	if (leaf == NULL || end == NULL || leaf - name >= KEY_MAP_TEXT ||
	    strlen(end) >= 80)
		return m;
	memcpy(op, name, (size_t)(leaf - name));
	op[leaf - name] = '\0';
	if ((m.r = key_map_to_ours(rd->key_map, &of, op, ours)) == NULL)
		return m;
	strcpy(whole, ours);
	strcat(whole, end);
	m.p = (int)names_find(rd->params, whole);
	return m;
}

/* Return how many values of the network the file's tensors can give. */
static size_t
match_count(const struct match_reading *rd, const struct weights_file *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->tensors; i++) {
		struct match_meaning m = match_read_name(rd, w->tensor[i].name);
		struct adapt a;

		if (m.p >= 0 && adapt_new(rd->g, &rd->g->param[m.p],
		    &w->tensor[i], m.r, &a) == 0)
			n += rd->g->param[m.p].count;
	}
	return n;
}

/*
 * Return the key mapping that gives the most values, the first of equals; NULL
 * after a message.
 */
static struct key_map *
match_find_key_map(struct match_reading *rd, const struct weights_file *w)
{
	struct key_map *best = NULL;
	size_t largest = 0;

	for (int i = 0; key_map_known[i] != NULL; i++) {
		struct key_map *n = key_map_open(key_map_known[i]);
		size_t got;

		if (n == NULL) {
			key_map_close(best);
			return NULL;
		}
		rd->key_map = n;
		got = match_count(rd, w);
		if (best == NULL || got > largest) {
			key_map_close(best);
			best = n;
			largest = got;
		} else {
			key_map_close(n);
		}
	}
	return best;
}

/* Write "64x3x7x7", the shape of a tensor or a parameter, to ${buf} [160]. */
static const char *
match_shape_text(char *buf, int ndim, const int64_t *d64, const int *d)
{
	size_t n = 0;

	strcpy(buf, "one number");
	for (int i = 0; i < ndim; i++)
		n += (size_t)snprintf(buf + n, 160 - n, "%s%lld",
		    i > 0 ? "x" : "", d64 != NULL ? (long long)d64[i] :
		    (long long)d[i]);
	return buf;
}

/* Return why a tensor without a parameter is left out. */
static const char *
match_no_parameter(const char *name, struct match_meaning mean)
{
	if (text_ends(name, ".num_batches_tracked"))
		return "a counter";
	return mean.state ? "a state of training" : MATCH_UNKNOWN;
}

/*
 * Record that tensor ${i} is loaded by ${mean}, or why it is not.  Mark it as
 * misplaced if nothing takes it and it is not state of training.
 */
static void
match_tensor(struct match *m, size_t i, struct match_meaning mean,
    int same_classes)
{
	const struct weight *t = &m->weights->tensor[i];
	const struct param *p;
	struct matched *to;
	char a[160], b[160];

	if (mean.p < 0) {
		m->left[i] = xstrdup(match_no_parameter(t->name, mean));
		m->misplaced[i] = !mean.state &&
		    !text_ends(t->name, ".num_batches_tracked");
		return;
	}
	p = &m->graph->param[mean.p];
	to = &m->param[mean.p];
	/* Several names can map to one parameter: the first tensor is used. */
	if (to->status != LOAD_INITIALIZED) {
		m->left[i] = xprintf("%s is loaded already", p->name);
	} else if (p->head && !same_classes) {
		m->left[i] = xstrdup("of other classes");
		free(to->why);
		to->why = xstrdup("other classes");
	} else if (t->type == DTYPE_OTHER) {
		m->left[i] = xprintf("dtype %s (wanted %s)", t->other,
		    dtype_names());
		free(to->why);
		to->why = xstrdup(m->left[i]);
		m->misplaced[i] = !p->head;
	} else if (adapt_new(m->graph, p, t, mean.r, &to->adapt) != 0) {
		match_shape_text(a, t->ndim, t->dim, NULL);
		match_shape_text(b, p->ndim, NULL, p->dim);
		m->left[i] = xprintf("%s is %s", p->name, b);
		free(to->why);
		to->why = xprintf("%s in the file (wanted %s)", a, b);
		m->misplaced[i] = !p->head;
	} else {
		to->status = *to->adapt.how != '\0' ? LOAD_CONVERTED :
		    LOAD_COPIED;
		to->tensor = i;
		free(to->why);
		to->why = xstrdup(to->adapt.how);
		m->elements += p->head ? 0 : p->count;
	}
}

/*
 * Return the tensor of the same operator as ${name}, whose suffix begins at
 * byte ${n}, with the suffix ${end} of vt; NULL if the file does not have it.
 */
static const struct weight *
match_sibling(const struct match_reading *rd, const struct weights_file *w,
    const char *name, size_t n, const char *end)
{
	const struct key_map *key_map = rd->key_map;
	size_t ends = key_map != NULL ? key_map->ends : 0;
	const char *op = key_map == NULL ? path_base(name) : name;
	const char *folder = key_map != NULL ? "" :
	    strcmp(end, ".running_mean") == 0 ? "bn/" : "model/";
	const struct weight *t = NULL;

	for (size_t i = 0; i < ends + (ends == 0) && t == NULL; i++) {
		char *other;
		long k;

		if (ends > 0 && strcmp(key_map->end[i].ours, end) != 0)
			continue;
		other = xprintf("%s%.*s%s", folder, (int)(name + n - op), op,
		    ends > 0 ? key_map->end[i].theirs : end);
		if ((k = names_find(w->names, other)) >= 0)
			t = &w->tensor[k];
		free(other);
	}
	return t;
}

/*
 * Return 1 if the operator of a tensor belongs to the backbone.  ${n} bytes of
 * ${name} name the operator.  It does if a row of the key mapping has it, or if
 * a tensor of its outermost module is loaded.  Files of vt have no key mapping;
 * there it also does if it is a convolution (${conv}).
 */
static int
match_is_backbone(const struct match_reading *rd, const struct match *m,
    const char *name, size_t n, int conv)
{
	const struct key_map *key_map = rd->key_map;
	char op[KEY_MAP_TEXT];

	if (n >= sizeof(op))
		return 0;
	memcpy(op, name, n);
	op[n] = '\0';
	if (key_map == NULL ? conv : key_map_knows(key_map, op))
		return 1;
	n = strcspn(op, ".") + 1;
	for (int k = 0; k < m->graph->nparam; k++) {
		const char *other = m->weights->tensor[m->param[k].tensor].name;

		if (key_map != NULL)
			other = key_map_unwrap(key_map, other);
		if (m->param[k].status != LOAD_INITIALIZED &&
		    !m->graph->param[k].head && strncmp(name, other, n) == 0)
			return 1;
	}
	return 0;
}

/*
 * Return 1 if tensor ${i} is of a convolution or norm of the backbone: its
 * operator has, in this file, a kernel of at least three axes, or a running
 * mean.
 */
static int
match_is_layer(const struct match_reading *rd, const struct match *m, size_t i)
{
	const struct weights_file *w = m->weights;
	const char *name = w->tensor[i].name, *op = name, *end, *suffix;
	const struct weight *kernel;
	size_t n;
	int conv;

	suffix = rd->key_map == NULL ? end = strrchr(name, '.') :
	    key_map_suffix(rd->key_map, name, &end);
	if (suffix == NULL || end == NULL)
		return 0;
	n = (size_t)(suffix - name);
	kernel = match_sibling(rd, w, name, n, ".weight");
	conv = kernel != NULL && kernel->ndim > 2;
	if (rd->key_map != NULL)
		op = key_map_unwrap(rd->key_map, name);
	return (conv || match_sibling(rd, w, name, n, ".running_mean") !=
	    NULL) && op < suffix &&
	    match_is_backbone(rd, m, op, (size_t)(suffix - op), conv);
}

int64_t
match_outputs(const struct graph *g, const struct weights_file *w)
{
	struct match_reading rd = { .g = g, .params = names_new() };
	int64_t n = 0;

	for (int i = 0; i < g->nparam; i++)
		names_add(rd.params, g->param[i].name);
	if ((rd.key_map = match_find_key_map(&rd, w)) == NULL)
		n = -1;
	for (size_t i = 0; n == 0 && i < w->tensors; i++) {
		int p = match_read_name(&rd, w->tensor[i].name).p;

		if (p >= 0 && g->param[p].head && w->tensor[i].ndim > 0)
			n = w->tensor[i].dim[0];
	}
	key_map_close((struct key_map *)rd.key_map);
	names_free(rd.params);
	return n;
}

struct match *
match_new(const struct graph *g, const struct weights_file *w,
const char *classes)
{
	const char *format = safetensors_meta(&w->s, "vt.format");
	const char *theirs = safetensors_meta(&w->s, "vt.classes");
	int same = theirs == NULL || classes == NULL ||
	    strcmp(theirs, classes) == 0;
	struct match_reading rd = { .g = g, .params = names_new() };
	struct key_map *key_map = NULL;
	struct match *m = NULL;

	for (int i = 0; i < g->nparam; i++)
		names_add(rd.params, g->param[i].name);
	if (format == NULL && (key_map = match_find_key_map(&rd, w)) == NULL)
		goto done;
	rd.key_map = key_map;
	m = xcalloc(1, sizeof(*m));
	m->graph = g;
	m->weights = w;
	m->names = xstrdup(key_map != NULL ? key_map->name : "vt");
	m->param = xcalloc((size_t)g->nparam, sizeof(*m->param));
	m->left = xcalloc(w->tensors, sizeof(*m->left));
	m->misplaced = xcalloc(w->tensors, sizeof(*m->misplaced));
	for (int i = 0; i < g->nparam; i++) {
		m->param[i].why = xstrdup(MATCH_ABSENT);
		m->of += g->param[i].head ? 0 : g->param[i].count;
	}
	for (size_t i = 0; i < w->tensors; i++)
		match_tensor(m, i, match_read_name(&rd, w->tensor[i].name),
		    same);
	for (size_t i = 0; i < w->tensors; i++)
		m->misplaced[i] = m->misplaced[i] && match_is_layer(&rd, m, i);
done:
	key_map_close(key_map);
	names_free(rd.params);
	return m;
}

void
match_free(struct match *m)
{
	if (m == NULL)
		return;
	for (int i = 0; i < m->graph->nparam; i++)
		free(m->param[i].why);
	for (size_t i = 0; i < m->weights->tensors; i++)
		free(m->left[i]);
	free(m->param);
	free(m->left);
	free(m->misplaced);
	free(m->names);
	free(m);
}

void
match_load(const struct match *m, struct net *n)
{
	for (int i = 0; i < m->graph->nparam; i++) {
		const struct param *p = &m->graph->param[i];
		const struct matched *from = &m->param[i];
		const struct weight *t = &m->weights->tensor[from->tensor];
		float *x, *y;
		double *v;

		if (from->status == LOAD_INITIALIZED)
			continue;
		x = xcalloc(t->count, sizeof(*x));
		y = xcalloc(p->count, sizeof(*y));
		v = xcalloc(p->count, sizeof(*v));
		weights_floats(t, x);
		adapt_values(&from->adapt, x, y);
		for (size_t k = 0; k < p->count; k++)
			v[k] = (double)y[k];
		device_put(n->device, (char *)n->w + p->offset *
		    n->device->elem, v, p->count);
		free(x);
		free(y);
		free(v);
	}
}

void
match_load_whole(const struct match *m, struct net *n)
{
	for (int i = 0; i < m->graph->nparam; i++) {
		const struct param *p = &m->graph->param[i];
		double *zeros;

		if (m->param[i].status != LOAD_INITIALIZED)
			continue;
		zeros = xcalloc(p->count, sizeof(*zeros));
		device_put(n->device, (char *)n->w + p->offset *
		    n->device->elem, zeros, p->count);
		free(zeros);
	}
	match_load(m, n);
}

int
match_enough(const struct match *m)
{
	return m->elements >= m->of - m->elements;
}
