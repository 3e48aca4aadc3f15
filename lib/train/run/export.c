/* Export parameters with the tensor names and layouts of another program. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "shard/classes.h"
#include "train/run/checkpoint.h"
#include "train/run/export.h"
#include "train/run/rundir.h"
#include "train/weights/adapt.h"

/* Set the shape of weight ${p} in the other program: drop the time axis, which
 * must be 1 long, or insert one, as the naming row ${r} says. */
static int
export_set_shape(const struct graph *g, const struct key_map *n,
    const struct param *p, const struct rename *r, struct exported *x)
{
	int no_t = key_map_how(r, "2d", "", NULL), t = key_map_how(r, "3d", "",
	    NULL);

	x->ndim = p->ndim;
	for (int i = 0; i < p->ndim; i++)
		x->dim[i] = p->dim[i];
	if (no_t && p->ndim == 5) {
		if (p->dim[2] != 1)
			return fail("%s: %s is %d frames long (wanted 1, as in "
			    "%s)", g->name, p->name, p->dim[2], n->name);
		x->dim[2] = p->dim[3];
		x->dim[3] = p->dim[4];
		x->ndim = 4;
	}
	if (t && p->ndim == 4) {
		x->dim[4] = p->dim[3];
		x->dim[3] = p->dim[2];
		x->dim[2] = 1;
		x->ndim = 5;
	}
	return 0;
}

static struct exported *
export_add(struct export *e)
{
	e->tensor = array_reserve(e->tensor, e->tensors, &e->cap,
	    sizeof(*e->tensor));
	e->tensor[e->tensors] = (struct exported){ .p = -1, .folded = -1 };
	return &e->tensor[e->tensors++];
}

/*
 * Return the index of a bias that the other program lacks, or -1: that of the
 * operator before ${norm}, if the row of that operator says "fold".
 * Subtracting this bias from the running mean gives the same output.
 */
static int
export_folded_bias(const struct graph *g, const struct key_map *n, int norm)
{
	struct key_map_network of = graph_key_map(g);
	const struct op *op = &g->op[g->op[norm].in[0]];
	char theirs[KEY_MAP_TEXT], into[KEY_MAP_TEXT];
	const struct rename *r = key_map_to_theirs(n, &of, op->name, theirs);

	if (r == NULL || !key_map_how(r, "fold", op->name, into) ||
	    strcmp(into, g->op[norm].name) != 0)
		return -1;
	for (int i = 0; i < op->nparam; i++)
		if (g->param[op->param + i].kind == PARAM_BIAS)
			return op->param + i;
	return -1;
}

/* Add the tensors of operator ${i}: its parameters, without a folded bias, and
 * the counter of a norm, which PyTorch expects.  Return 0, or -1 after a
 * message. */
static int
export_op(const struct graph *g, const struct key_map *n, int i,
    struct export *e)
{
	struct key_map_network of = graph_key_map(g);
	const struct op *op = &g->op[i];
	char theirs[KEY_MAP_TEXT], into[KEY_MAP_TEXT];
	const struct rename *r = key_map_to_theirs(n, &of, op->name, theirs);
	int fold;

	if (r == NULL)
		return fail("%s: %s has no name for %s", g->name, n->name,
		    op->name);
	fold = key_map_how(r, "fold", op->name, into);
	for (int k = op->param; k < op->param + op->nparam; k++) {
		const struct param *p = &g->param[k];
		struct exported *x;

		if (fold && p->kind == PARAM_BIAS)
			continue;
		x = export_add(e);
		x->p = k;
		x->name = xprintf("%s%s", theirs, p->name + strlen(op->name));
		if (export_set_shape(g, n, p, r, x) != 0)
			return -1;
		if (p->kind == PARAM_WEIGHT)
			x->first = graph_rotated_channels(g, r, i);
		if (p->kind == PARAM_MEAN)
			x->folded = export_folded_bias(g, n, i);
	}
	if (op->kind == OP_BN)
		export_add(e)->name = xprintf("%s.num_batches_tracked", theirs);
	return 0;
}

int
export_new(const struct graph *g, const struct key_map *n, struct export *e)
{
	struct key_map_network of = graph_key_map(g);

	*e = (struct export){ 0 };
	for (int i = 0; i < g->nop; i++) {
		const struct rename *r = key_map_lacks(n, &of, g->op[i].name);
		int always = r == NULL || strcmp(r->when, "-") == 0;

		if (r != NULL)
			return fail("%s: %s has no network with %s%s%s%s: "
			    "wanted other names, or a table without that row "
			    "(%s)", g->name, n->name, g->op[i].name,
			    always ? "" : " (", always ? "" : r->when,
			    always ? "" : ")", n->table->path);
	}
	for (int i = 0; i < g->nop; i++)
		if (g->op[i].nparam > 0 && export_op(g, n, i, e) != 0) {
			export_free(e);
			return -1;
		}
	return 0;
}

void
export_free(struct export *e)
{
	for (size_t i = 0; i < e->tensors; i++)
		free(e->tensor[i].name);
	free(e->tensor);
	*e = (struct export){ 0 };
}

static double *
export_values_of(const struct net *n, int p)
{
	const struct param *param = &n->graph->param[p];
	double *v = xcalloc(param->count, sizeof(*v));

	device_get(n->device, v, (const char *)n->w + param->offset *
	    n->device->elem, param->count);
	return v;
}

/*
 * Return the values of ${x} as floats, which the caller frees:
 *
 *	out[row][c'] = v[row][c] - bias[row], c' = (c + first) mod columns
 *
 * The bias is 0 unless ${x} is the mean of a norm with a folded bias.
 */
static float *
export_floats_of(const struct exported *x, const struct net *n)
{
	const struct param *p = &n->graph->param[x->p];
	size_t columns = p->ndim > 1 ? (size_t)p->dim[1] : 1;
	size_t plane = p->count / ((size_t)p->dim[0] * columns);
	float *to = xcalloc(p->count, sizeof(*to));
	double *v = export_values_of(n, x->p), *bias = NULL;

	if (x->folded >= 0)
		bias = export_values_of(n, x->folded);
	for (size_t i = 0; i < p->count; i++) {
		size_t at = i % plane, c = i / plane % columns;
		size_t row = i / plane / columns;

		/* Rotate: our last x->first channels come first. */
		c = x->first == 0 ? c : c < columns - (size_t)x->first ?
		    c + (size_t)x->first : c - (columns - (size_t)x->first);
		to[(row * columns + c) * plane + at] =
		    (float)(v[i] - (bias != NULL ? bias[i] : 0));
	}
	free(bias);
	free(v);
	return to;
}

int
export_write(const struct export *e, const struct net *n, uint64_t steps,
    const struct meta *meta, size_t metas, const char *path)
{
	struct tensor *t = xcalloc(e->tensors, sizeof(*t));
	int64_t count = (int64_t)steps;
	int bad;

	for (size_t i = 0; i < e->tensors; i++) {
		const struct exported *x = &e->tensor[i];

		t[i] = (struct tensor){ .name = x->name, .ndim = x->ndim,
			.type = x->p < 0 ? DTYPE_I64 : DTYPE_F32 };
		memcpy(t[i].dim, x->dim, sizeof(x->dim));
		if (x->p < 0) {
			t[i].data = &count;
			t[i].bytes = sizeof(count);
		} else {
			t[i].data = export_floats_of(x, n);
			t[i].bytes = n->graph->param[x->p].count * 4;
		}
	}
	bad = safetensors_write(commit_open(path, NULL), t, e->tensors, meta,
	    metas, NULL);
	for (size_t i = 0; i < e->tensors; i++)
		if (e->tensor[i].p >= 0)
			free((void *)t[i].data);
	free(t);
	return bad;
}

/* ---- a run ---- */

/* Write the parameters of ${n} to ${path}, with the values of the checkpoint in
 * fp32.  Return 0, or an exit status after a message. */
static int
export_write_net(const struct state *s, const struct net *n,
    const struct key_map *names, const char *path)
{
	char *step = xprintf("%" PRIu64, s->step);
	/* PyTorch's readers of safetensors look for the format "pt". */
	const struct meta meta[] = { { "format", "pt" },
		{ "vt.build", s->build }, { "vt.classes", s->classes },
		{ "vt.model", s->model }, { "vt.step", step } };
	struct export e;
	int status = EXIT_USAGE;

	if (export_new(n->graph, names, &e) == 0) {
		status = export_write(&e, n, s->step, meta,
		    sizeof(meta) / sizeof(meta[0]), path) == 0 ? 0 :
		    EXIT_FAILED;
		if (status == 0)
			note("%s: %zu tensors, names of %s, step %s",
			    text_quote(path), e.tensors, names->name, step);
		export_free(&e);
	}
	free(step);
	return status;
}

/* Load ${checkpoint} into a net on the ref back end, which keeps fp32, and
 * export it. */
static int
export_checkpoint(const char *checkpoint, const char *path,
    const struct key_map *names, int ema)
{
	static const struct device_options o = { .threads = 1 };
	struct safetensors file;
	struct state state;
	struct device *d;
	struct graph *g;
	struct net *n = NULL;
	struct class_list classes = { 0 };
	int status, bad = checkpoint_read(checkpoint, &file, &state);

	if (bad)
		return checkpoint_status(bad);
	if (ema && checkpoint_has_ema(&file, checkpoint) != 0) {
		safetensors_free(&file);
		return EXIT_USAGE;
	}
	d = device_open(backend_find("ref"), &o);
	class_parse(state.classes, &classes);
	g = graph_parse(state.model, state.network, (int)classes.n);
	if (g == NULL || (n = net_new(g, d)) == NULL ||
	    checkpoint_load(&file, checkpoint, n, ema) != 0)
		status = EXIT_DAMAGE;
	else
		status = export_write_net(&state, n, names, path);
	class_list_free(&classes);
	net_free(n);
	graph_free(g);
	device_close(d);
	safetensors_free(&file);
	return status;
}

int
export_run(const char *run, const char *path, const char *names, int ema)
{
	struct key_map *n = key_map_open(names);
	char *checkpoint;
	int status = EXIT_FAILED;

	if (n == NULL)
		return EXIT_USAGE;
	if (!key_map_can_write(n)) {
		fail("--names=%s: names that are only read (wanted those of "
		    "another program)", text_quote(names));
		key_map_close(n);
		return EXIT_USAGE;
	}
	if ((checkpoint = rundir_find_checkpoint(run)) != NULL) {
		detail("%s: is exported", text_quote(checkpoint));
		status = export_checkpoint(checkpoint, path, n, ema);
	}
	free(checkpoint);
	key_map_close(n);
	return status;
}
