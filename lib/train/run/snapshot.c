/*
 * Copy the state of a run as named tensors and metadata, and write it as a
 * checkpoint.  The copy is made at a step boundary; training then continues
 * while the copy is written.  Check that the checkpoints fit on the disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/run/rundir.h"
#include "train/run/snapshot.h"

struct snapshot {
	size_t tensors;
	struct tensor *tensor;		/* the snapshot owns the names */
	void *w;			/* copy of the flat parameters */
	struct slots_whole whole;	/* optimizer state of all ranks */
	size_t metas;
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
		char text[17];

		json_put_text(&w, s->tensor[i].name, hash64_text(hash64(
		    s->tensor[i].data, s->tensor[i].bytes), text));
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
	struct state all = *st;
	char *tensors = snapshot_tensor_hashes(s), *text;

	all.tensors = tensors;
	s->meta = xcalloc(state_row_count, sizeof(*s->meta));
	for (size_t i = 0; i < state_row_count; i++)
		if ((text = state_row_text(&state_rows[i], &all)) != NULL)
			s->meta[s->metas++] = (struct meta){
				state_rows[i].key, text };
	free(tensors);
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
    struct hash128 *hash, struct error *e)
{
	if (checkpoint_finite(path, s->tensor, s->tensors, e) != 0)
		return -1;
	return safetensors_write(commit_open(path, e), s->tensor, s->tensors,
	    s->meta, s->metas, hash);
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

/* ---- the disk space of checkpoints ---- */

/* Return the bytes of a checkpoint: parameters, optimizer state, and an
 * estimate of the header. */
static double
snapshot_checkpoint_bytes(const struct slots *s)
{
	const struct graph *g = s->net->graph;
	double bytes = 4096;

	for (int p = 0; p < g->nparam; p++) {
		size_t count = g->param[p].count;

		bytes += (double)(count * s->net->device->elem) + 256;
		for (int i = 0; i < s->n; i++)
			if (slot_has(s, i, p))
				bytes +=
				    (double)((slot_shaped(s->slot[i].kind) ?
				    count : 1) * s->slot[i].size) *
				    s->slot[i].copies;
	}
	return bytes;
}

/* Return the free bytes on the disk of ${dir}, or of its nearest existing
 * parent.  Return -1 if unknown. */
static double
snapshot_free_bytes(const char *dir)
{
	char *path = path_absolute(dir), *slash;
	struct statvfs s;
	int bad;

	while ((bad = statvfs(path, &s)) != 0 &&
	    (slash = strrchr(path, '/')) != NULL && slash != path)
		*slash = '\0';
	free(path);
	return bad ? -1 : (double)s.f_bavail * (double)s.f_frsize;
}

/* Return the bytes of the existing checkpoints, which the run will remove. */
static double
snapshot_used_bytes(const char *dir)
{
	double bytes = 0;
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps);

	for (int i = 0; i < n; i++) {
		char *path = rundir_checkpoint(dir, steps[i]);
		int64_t size = file_size(path);

		bytes += size > 0 ? (double)size : 0;
		free(path);
	}
	free(steps);
	return bytes;
}

double
snapshot_space(const struct slots *s, const char *dir, int keep, int best)
{
	return snapshot_checkpoint_bytes(s) * (keep + 1 + (best != 0)) -
	    snapshot_used_bytes(dir);
}

void
snapshot_check_space(const struct slots *s, const char *dir, int keep, int best,
    FILE *f)
{
	double each = snapshot_checkpoint_bytes(s);
	double left = snapshot_free_bytes(dir);
	double largest = each * (keep + 1 + (best != 0));
	char a[32], b[32], c[32];

	text_bytes(a, each);
	text_bytes(b, largest);
	text_bytes(c, left);
	if (f != NULL)
		fprintf(f, "%-22s %s each, %s at most, %s free\n",
		    "# checkpoints", a, b, left < 0 ? "?" : c);
	if (left >= 0 && left < snapshot_space(s, dir, keep, best))
		warning("%s: checkpoints may take %s, and the disk has %s free "
		    "(--keep=%d keeps that many; older ones are removed "
		    "when it is full)", text_quote(dir), b, c, keep);
}
