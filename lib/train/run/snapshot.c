/*
 * Copy the state of a run as named tensors and metadata, and write it as a
 * checkpoint.  The copy is made at a step boundary; training then continues
 * while the copy is written.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/run/snapshot.h"

struct snapshot {
	size_t tensors;
	struct tensor *tensor;		/* the snapshot owns the names */
	void *w;			/* copy of the flat parameters */
	struct slots_whole whole;	/* optimizer state of all ranks */
	size_t metas, capacity;		/* used, allocated */
	struct meta *meta;		/* the snapshot owns the values */
};

/* Add a tensor of ${n} values at ${data}, with the shape of ${p} (NULL: a
 * scalar).  Take ${name}; ${data} must outlive ${s}. */
static void
snapshot_add_tensor(struct snapshot *s, char *name, const struct param *p,
    const void *data, size_t n, size_t size)
{
	struct tensor *t = &s->tensor[s->tensors++];

	*t = (struct tensor){ .name = name,
		.type = size == 8 ? DTYPE_F64 : DTYPE_F32,
		.ndim = p != NULL ? p->ndim : 0, .data = data,
		.bytes = n * size };
	for (int i = 0; i < t->ndim; i++)
		t->dim[i] = p->dim[i];
}

/* Add the tensors of parameter ${p} in slot ${i}: one for each copy. */
static void
snapshot_add_slot(struct snapshot *s, const struct slots *slots, int i, int p)
{
	const struct slot *slot = &slots->slot[i];
	const struct param *param = &slots->net->graph->param[p];

	for (int j = 0; j < slot->copies; j++) {
		size_t n;
		void *data = slot_of(slots, i, j, p, s->whole.data[i], &n);

		snapshot_add_tensor(s, slot_name(slot->kind, j, param),
		    slot_shaped(slot->kind) ? param : NULL, data, n,
		    slot->size);
	}
}

static void
snapshot_add_meta(struct snapshot *s, const char *key, char *value)
{
	s->meta = array_reserve(s->meta, s->metas, &s->capacity,
	    sizeof(*s->meta));
	s->meta[s->metas++] = (struct meta){ key, value };
}

static char *
snapshot_real_text(double x)
{
	return xprintf("%a", x);	/* hexadecimal, so exact */
}

static int
snapshot_by_tensor_name(const void *a, const void *b)
{
	return strcmp(((const struct tensor *)a)->name,
	    ((const struct tensor *)b)->name);
}

/* Return {"NAME":"XXH3-64",...}.  If the hash of the whole file is wrong, these
 * tell which tensor is damaged. */
static char *
snapshot_tensor_hashes(struct snapshot *s)
{
	struct json_writer w = { 0 };

	qsort(s->tensor, s->tensors, sizeof(*s->tensor),
	    snapshot_by_tensor_name);
	json_open(&w, NULL, '{');
	for (size_t i = 0; i < s->tensors; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%016" PRIx64,
		    hash64(s->tensor[i].data, s->tensor[i].bytes));
		json_put_text(&w, s->tensor[i].name, text);
	}
	json_close(&w);
	return w.out.data;
}

/* Copy the parameters to the host, and list all tensors.  The optimizer state
 * is not filled in yet. */
static struct snapshot *
snapshot_copy_values(const struct net *n, const struct slots *slots)
{
	const struct graph *g = n->graph;
	struct snapshot *s = xcalloc(1, sizeof(*s));
	size_t elem = n->device->elem, each = 1;

	for (int i = 0; i < slots->n; i++)
		each += (size_t)slots->slot[i].copies;
	s->w = xmalloc(g->elements * elem);
	device_download(n->device, s->w, n->w, g->elements * elem);
	s->whole = slots_whole(slots);
	s->tensor = xcalloc(each * (size_t)g->nparam, sizeof(*s->tensor));
	for (int p = 0; p < g->nparam; p++) {
		const struct param *param = &g->param[p];

		snapshot_add_tensor(s, checkpoint_name(param), param,
		    (const char *)s->w + param->offset * elem, param->count,
		    elem);
		for (int i = 0; i < slots->n; i++)
			if (slot_has(slots, i, p))
				snapshot_add_slot(s, slots, i, p);
	}
	return s;
}

static void
snapshot_add_metas(struct snapshot *s, const struct state *st)
{
	/* The format requires keys in byte order. */
	snapshot_add_meta(s, "vt.best", snapshot_real_text(st->best));
	if (st->best_step > 0)
		snapshot_add_meta(s, "vt.best_metric",
		    xstrdup(st->best_metric));
	snapshot_add_meta(s, "vt.best_step",
	    xprintf("%" PRIu64, st->best_step));
	snapshot_add_meta(s, "vt.build", xstrdup(st->build));
	if (st->choices != NULL)
		snapshot_add_meta(s, "vt.choices", xstrdup(st->choices));
	if (strcmp(st->class_weights, "none") != 0)
		snapshot_add_meta(s, "vt.class_weights",
		    xstrdup(st->class_weights));
	snapshot_add_meta(s, "vt.class_xxh3", xstrdup(st->class_hash));
	snapshot_add_meta(s, "vt.classes", xstrdup(st->classes));
	snapshot_add_meta(s, "vt.config", xstrdup(st->config));
	if (st->corrupt != NULL)
		snapshot_add_meta(s, "vt.corrupt", xstrdup(st->corrupt));
	snapshot_add_meta(s, "vt.crop", xprintf("%d", st->crop));
	snapshot_add_meta(s, "vt.dataset_id", xstrdup(st->dataset));
	if (st->due)
		snapshot_add_meta(s, "vt.due", xprintf("%d", st->due));
	snapshot_add_meta(s, "vt.epoch", snapshot_real_text(st->epoch));
	if (st->extract != NULL)
		snapshot_add_meta(s, "vt.extract", xstrdup(st->extract));
	if (strcmp(st->flips, "none") != 0)
		snapshot_add_meta(s, "vt.flips", xstrdup(st->flips));
	snapshot_add_meta(s, "vt.format", xstrdup(CHECKPOINT_FORMAT));
	snapshot_add_meta(s, "vt.frames", xprintf("%d", st->frames));
	snapshot_add_meta(s, "vt.generation",
	    xprintf("%" PRId64, st->generation));
	if (st->grow_wants > 0)
		snapshot_add_meta(s, "vt.grow_wants",
		    xprintf("%d", st->grow_wants));
	if (st->grown > 1)
		snapshot_add_meta(s, "vt.grown", xprintf("%d", st->grown));
	snapshot_add_meta(s, "vt.history_xxh128", xstrdup(st->history));
	if (st->init != NULL)
		snapshot_add_meta(s, "vt.init", xstrdup(st->init));
	snapshot_add_meta(s, "vt.isa", xstrdup(st->isa));
	snapshot_add_meta(s, "vt.library", xstrdup(st->library));
	snapshot_add_meta(s, "vt.loss_ema", snapshot_real_text(st->loss));
	snapshot_add_meta(s, "vt.model", xstrdup(st->model));
	snapshot_add_meta(s, "vt.network", xstrdup(st->network));
	if (st->noise_trace != 0 || st->noise_gradient != 0) {
		snapshot_add_meta(s, "vt.noise_gradient",
		    snapshot_real_text(st->noise_gradient));
		snapshot_add_meta(s, "vt.noise_trace",
		    snapshot_real_text(st->noise_trace));
	}
	snapshot_add_meta(s, "vt.precision", xstrdup(st->precision));
	snapshot_add_meta(s, "vt.results", xstrdup(st->results));
	snapshot_add_meta(s, "vt.rng", xstrdup("philox4x32-10"));
	snapshot_add_meta(s, "vt.samples", xprintf("%" PRIu64, st->clips));
	snapshot_add_meta(s, "vt.seed", xprintf("%" PRIu64, st->seed));
	snapshot_add_meta(s, "vt.settings_id", xstrdup(st->settings_id));
	if (st->skipped > 0)
		snapshot_add_meta(s, "vt.skipped",
		    xprintf("%" PRIu64, st->skipped));
	snapshot_add_meta(s, "vt.step", xprintf("%" PRIu64, st->step));
	if (st->stride > 0)
		snapshot_add_meta(s, "vt.stride", xprintf("%d", st->stride));
	snapshot_add_meta(s, "vt.tensors", snapshot_tensor_hashes(s));
	snapshot_add_meta(s, "vt.tree", xstrdup(st->order));
}

int
snapshot_take(struct snapshot **copy, const struct net *n,
    const struct slots *slots, const struct state *st)
{
	struct snapshot *s = NULL;

	*copy = NULL;
	if (slots->share->comm->rank == 0)
		s = snapshot_copy_values(n, slots);
	if (slots_gather(slots, s != NULL ? &s->whole : NULL) != 0) {
		snapshot_free(s);
		return -1;
	}
	if (s != NULL)
		snapshot_add_metas(s, st);
	*copy = s;
	return 0;
}

void
snapshot_free(struct snapshot *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->tensors; i++)
		free((char *)s->tensor[i].name);
	for (size_t i = 0; i < s->metas; i++)
		free((char *)s->meta[i].value);
	free(s->meta);
	free(s->tensor);
	free(s->w);
	slots_forget(&s->whole);
	free(s);
}

int
snapshot_write(const struct snapshot *s, const char *path,
    struct hash128 *hash)
{
	if (checkpoint_finite(path, s->tensor, s->tensors) != 0)
		return -1;
	return safetensors_write(path, s->tensor, s->tensors, s->meta, s->metas,
	    hash);
}

static int
snapshot_is_same(const struct tensor *a, const struct tensor *b)
{
	return b != NULL && a->type == b->type && a->ndim == b->ndim &&
	    memcmp(a->dim, b->dim, (size_t)a->ndim * sizeof(a->dim[0])) == 0 &&
	    a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

int
snapshot_compare(const struct snapshot *s, const struct safetensors *f,
    const char **first)
{
	int differ = 0;
	size_t found = 0;

	for (size_t i = 0; i < s->tensors; i++) {
		const struct tensor *there = safetensors_tensor(f,
		    s->tensor[i].name);

		found += there != NULL;
		if (!snapshot_is_same(&s->tensor[i], there) && differ++ == 0)
			*first = s->tensor[i].name;
	}
	/* Count tensors that only the file has, except the footer, which is of
	 * type U8. */
	for (size_t i = 0; i < f->tensors && found < f->tensors - 1; i++) {
		size_t k = 0;

		while (k < s->tensors && strcmp(s->tensor[k].name,
		    f->tensor[i].name) != 0)
			k++;
		if (k < s->tensors || f->tensor[i].type == DTYPE_U8)
			continue;
		if (differ++ == 0)
			*first = f->tensor[i].name;
	}
	return differ;
}
