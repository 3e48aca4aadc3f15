/* Checkpoints: a run's state as named tensors and metadata. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/checkpoint.h"

#define FORMAT "1"

struct snapshot {
	size_t tensors;
	struct tensor *tensor;		/* names are its own */
	void *w;			/* the flat buffer, copied */
	struct slots_whole whole;
	size_t metas;
	struct meta meta[32];		/* values are its own */
};

/* "model/NAME", "bn/NAME": what a parameter is called in the file. */
static char *
param_name(const struct param *p)
{
	return xprintf("%s%s", p->kind < PARAM_MEAN ? "model/" : "bn/",
	    p->name);
}

/* "optim/momentum/NAME", or what is there once. */
static char *
slot_name(const struct slot_kind *k, const struct param *p)
{
	return k->extent == SLOT_ONCE ? xstrdup(k->name) :
	    xprintf("%s/%s", k->name, p->name);
}

/* 1 if slot ${i} has values of parameter number ${p}; what is there once goes
 * with the first. */
static int
slot_has(const struct slots *s, int i, int p)
{
	return s->slot[i].kind->extent == SLOT_ONCE ? p == 0 :
	    s->net->graph->param[p].kind < PARAM_MEAN;
}

/* ${p}: whose shape it has; NULL: a single number. */
static void
add_tensor(struct snapshot *s, char *name, const struct param *p,
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

static void
add_slot(struct snapshot *s, const struct slots *slots, int i, int p)
{
	const struct slot_kind *k = slots->slot[i].kind;
	const struct param *param = &slots->net->graph->param[p];
	size_t n;
	void *data = slot_of(slots, i, p, s->whole.data[i], &n);

	add_tensor(s, slot_name(k, param), k->extent == SLOT_ELEMENT ? param :
	    NULL, data, n, slots->slot[i].size);
}

static void
add_meta(struct snapshot *s, const char *key, char *value)
{
	s->meta[s->metas++] = (struct meta){ key, value };
}

static char *
real_text(double x)
{
	return xprintf("%a", x);	/* exact */
}

static int
by_tensor_name(const void *a, const void *b)
{
	return strcmp(((const struct tensor *)a)->name,
	    ((const struct tensor *)b)->name);
}

/* {"NAME":"XXH3-64",...}: which tensor is damaged, should the whole be. */
static char *
tensor_hashes(struct snapshot *s)
{
	struct json_writer w = { 0 };

	qsort(s->tensor, s->tensors, sizeof(*s->tensor), by_tensor_name);
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

/* The flat buffers, on the host. */
static struct snapshot *
copy_values(const struct net *n, const struct slots *slots)
{
	const struct graph *g = n->graph;
	struct snapshot *s = xcalloc(1, sizeof(*s));
	size_t elem = n->device->elem;

	s->w = xmalloc(g->elements * elem);
	device_download(n->device, s->w, n->w, g->elements * elem);
	s->whole = slots_whole(slots);
	s->tensor = xcalloc((1 + (size_t)slots->n) * (size_t)g->nparam,
	    sizeof(*s->tensor));
	for (int p = 0; p < g->nparam; p++) {
		const struct param *param = &g->param[p];

		add_tensor(s, param_name(param), param, (const char *)s->w +
		    param->offset * elem, param->count, elem);
		for (int i = 0; i < slots->n; i++)
			if (slot_has(slots, i, p))
				add_slot(s, slots, i, p);
	}
	return s;
}

static void
add_metas(struct snapshot *s, const struct state *st)
{
	/* In byte order, as the format wants them. */
	add_meta(s, "vt.best", real_text(st->best));
	add_meta(s, "vt.best_metric", xstrdup(st->best_metric));
	add_meta(s, "vt.best_step", xprintf("%" PRIu64, st->best_step));
	add_meta(s, "vt.build", xstrdup(st->build));
	add_meta(s, "vt.class_xxh3", xstrdup(st->class_hash));
	add_meta(s, "vt.classes", xstrdup(st->classes));
	add_meta(s, "vt.config", xstrdup(st->config));
	add_meta(s, "vt.crop", xprintf("%d", st->crop));
	add_meta(s, "vt.dataset_id", xstrdup(st->dataset));
	if (st->due)
		add_meta(s, "vt.due", xstrdup("1"));
	add_meta(s, "vt.epoch", real_text(st->epoch));
	add_meta(s, "vt.format", xstrdup(FORMAT));
	add_meta(s, "vt.frames", xprintf("%d", st->frames));
	add_meta(s, "vt.generation", xprintf("%" PRId64, st->generation));
	add_meta(s, "vt.history_xxh128", xstrdup(st->history));
	add_meta(s, "vt.isa", xstrdup(st->isa));
	add_meta(s, "vt.library", xstrdup(st->library));
	add_meta(s, "vt.loss_ema", real_text(st->loss));
	add_meta(s, "vt.model", xstrdup(st->model));
	add_meta(s, "vt.network", xstrdup(st->network));
	add_meta(s, "vt.rng", xstrdup("philox4x32-10"));
	add_meta(s, "vt.samples", xprintf("%" PRIu64, st->clips));
	add_meta(s, "vt.seed", xprintf("%" PRIu64, st->seed));
	add_meta(s, "vt.settings_id", xstrdup(st->settings_id));
	add_meta(s, "vt.step", xprintf("%" PRIu64, st->step));
	add_meta(s, "vt.tensors", tensor_hashes(s));
	add_meta(s, "vt.tree", xstrdup(st->order));
}

int
snapshot_take(struct snapshot **copy, const struct net *n,
    const struct slots *slots, const struct state *st)
{
	struct snapshot *s = NULL;

	*copy = NULL;
	if (slots->share->comm->rank == 0)
		s = copy_values(n, slots);
	if (slots_gather(slots, s != NULL ? &s->whole : NULL) != 0) {
		snapshot_free(s);
		return -1;
	}
	if (s != NULL)
		add_metas(s, st);
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
	free(s->tensor);
	free(s->w);
	slots_forget(&s->whole);
	free(s);
}

/* -3 after a message if a tensor has a value that is not finite. */
static int
check_finite(const char *path, const struct tensor *tensor, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct tensor *t = &tensor[i];
		const float *x = t->data;
		const double *y = t->data;
		size_t k = 0, count = t->bytes / 4;
		int bad = 0;

		if (t->type == DTYPE_U8)
			continue;
		if (t->type == DTYPE_F64)
			for (count /= 2; k < count && !bad; k++)
				bad = !isfinite(y[k]);
		else
			for (; k < count && !bad; k++)
				bad = !isfinite(x[k]);
		if (bad) {
			fail("%s: tensor %s holds NaN or infinity",
			    text_quote(path), t->name);
			return -3;
		}
	}
	return 0;
}

int
snapshot_write(const struct snapshot *s, const char *path,
    struct hash128 *hash)
{
	if (check_finite(path, s->tensor, s->tensors) != 0)
		return -1;
	return safetensors_write(path, s->tensor, s->tensors, s->meta, s->metas,
	    hash);
}

/* ---- reading ---- */

static const char *
text_of(const struct safetensors *f, const char *key, const char *path,
    int *bad)
{
	const char *v = safetensors_meta(f, key);

	if (v == NULL && !*bad) {
		fail("%s: no %s in its metadata", text_quote(path), key);
		*bad = 1;
	}
	return v != NULL ? v : "";
}

static uint64_t
count_of(const struct safetensors *f, const char *key, const char *path,
    int *bad)
{
	const char *v = text_of(f, key, path, bad);
	char *end;
	uint64_t n = strtoull(v, &end, 10);

	if ((*v == '\0' || *end != '\0') && !*bad) {
		fail("%s: %s is %s (wanted a number)", text_quote(path), key,
		    text_quote(v));
		*bad = 1;
	}
	return n;
}

/* A side or a number of frames. */
static int
extent_of(const struct safetensors *f, const char *key, const char *path,
    int *bad)
{
	uint64_t n = count_of(f, key, path, bad);

	if ((n < 1 || n > INT32_MAX) && !*bad) {
		fail("%s: %s is %" PRIu64 " (wanted 1 or more)", text_quote(path),
		    key, n);
		*bad = 1;
	}
	return *bad ? 1 : (int)n;
}

static double
real_of(const struct safetensors *f, const char *key, const char *path,
    int *bad)
{
	return strtod(text_of(f, key, path, bad), NULL);
}

int
checkpoint_status(int bad)
{
	return bad == -3 ? EXIT_DIVERGED : bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
}

int
checkpoint_read(const char *path, struct safetensors *f, struct state *s)
{
	int bad = safetensors_read(path, 1, f);

	if (bad)
		return bad;
	if (strcmp(text_of(f, "vt.format", path, &bad), FORMAT) != 0 && !bad)
		bad = fail("%s: format %s (this version reads " FORMAT ")",
		    text_quote(path), safetensors_meta(f, "vt.format"));
	s->best = real_of(f, "vt.best", path, &bad);
	s->best_metric = safetensors_meta(f, "vt.best_metric");
	if (s->best_metric == NULL)
		s->best_metric = "";
	s->due = safetensors_meta(f, "vt.due") != NULL;
	s->best_step = safetensors_meta(f, "vt.best_step") == NULL ? 0 :
	    count_of(f, "vt.best_step", path, &bad);
	s->build = text_of(f, "vt.build", path, &bad);
	s->class_hash = text_of(f, "vt.class_xxh3", path, &bad);
	s->classes = text_of(f, "vt.classes", path, &bad);
	s->config = text_of(f, "vt.config", path, &bad);
	s->isa = safetensors_meta(f, "vt.isa");
	s->library = safetensors_meta(f, "vt.library");
	/* What version 0.1.0 calls so is a hash of settings. */
	s->dataset = text_of(f, "vt.dataset_id", path, &bad);
	s->settings_id = safetensors_meta(f, "vt.settings_id");
	if (s->settings_id == NULL) {
		s->settings_id = s->dataset;
		s->dataset = NULL;
	}
	s->crop = extent_of(f, "vt.crop", path, &bad);
	s->epoch = real_of(f, "vt.epoch", path, &bad);
	s->frames = extent_of(f, "vt.frames", path, &bad);
	s->generation = (int64_t)count_of(f, "vt.generation", path, &bad);
	s->history = text_of(f, "vt.history_xxh128", path, &bad);
	s->loss = real_of(f, "vt.loss_ema", path, &bad);
	s->model = text_of(f, "vt.model", path, &bad);
	s->network = text_of(f, "vt.network", path, &bad);
	s->clips = count_of(f, "vt.samples", path, &bad);
	s->seed = count_of(f, "vt.seed", path, &bad);
	s->step = count_of(f, "vt.step", path, &bad);
	s->order = text_of(f, "vt.tree", path, &bad);
	bad = bad ? -2 : check_finite(path, f->tensor, f->tensors);
	if (bad)
		safetensors_free(f);
	return bad;
}

/* The tensor ${name}, of the shape of ${p} (NULL: a single number), which
 * ${who} needs; NULL after a message. */
static const struct tensor *
find(const struct safetensors *f, const char *path, const char *name,
    const struct param *p, const char *who)
{
	const struct tensor *t = safetensors_tensor(f, name);
	int ndim = p != NULL ? p->ndim : 0;

	if (t == NULL)
		return fail_null("%s: no tensor %s, which %s needs",
		    text_quote(path), name, who);
	if (t->ndim != ndim || t->type == DTYPE_U8)
		return fail_null("%s: tensor %s has %d dimensions (wanted %d)",
		    text_quote(path), name, t->ndim, ndim);
	for (int i = 0; i < ndim; i++)
		if (t->dim[i] != p->dim[i])
			return fail_null("%s: tensor %s: dimension %d is %lld "
			    "(wanted %d)", text_quote(path), name, i,
			    (long long)t->dim[i], p->dim[i]);
	return t;
}

/* Its values as doubles, the caller's to free. */
static double *
doubles_of(const struct tensor *t, size_t n)
{
	double *v = xcalloc(n, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = t->type == DTYPE_F64 ? ((const double *)t->data)[i] :
		    (double)((const float *)t->data)[i];
	return v;
}

static int
load(const struct safetensors *f, const char *path, const struct net *n,
    const struct param *p)
{
	char *name = param_name(p);
	const struct tensor *t = find(f, path, name, p, n->graph->name);
	size_t elem = n->device->elem;
	void *to = (char *)n->w + p->offset * elem;

	free(name);
	if (t == NULL)
		return -1;
	if (t->bytes == p->count * elem) {
		device_upload(n->device, to, t->data, t->bytes);
	} else {
		double *v = doubles_of(t, p->count);

		device_put(n->device, to, v, p->count);
		free(v);
	}
	return 0;
}

int
checkpoint_load(const struct safetensors *f, const char *path, struct net *n)
{
	for (int i = 0; i < n->graph->nparam; i++)
		if (load(f, path, n, &n->graph->param[i]) != 0)
			return -1;
	return 0;
}

/* Values of parameter number ${p} into slot ${i} of ${whole}. */
static int
load_slot(const struct safetensors *f, const char *path,
    const struct slots *s, int i, int p, struct slots_whole *whole)
{
	const struct slot *slot = &s->slot[i];
	const struct param *param = &s->net->graph->param[p];
	char *name = slot_name(slot->kind, param);
	const struct tensor *t = find(f, path, name,
	    slot->kind->extent == SLOT_ELEMENT ? param : NULL,
	    s->net->graph->name);
	size_t n;
	void *to = slot_of(s, i, p, whole->data[i], &n);

	free(name);
	if (t == NULL)
		return -1;
	if (t->bytes == n * slot->size) {
		memcpy(to, t->data, t->bytes);
	} else {
		double *v = doubles_of(t, n);

		for (size_t k = 0; k < n; k++)
			if (slot->size == sizeof(double))
				((double *)to)[k] = v[k];
			else
				((float *)to)[k] = (float)v[k];
		free(v);
	}
	return 0;
}

int
checkpoint_slots(const struct safetensors *f, const char *path,
    const struct slots *s, struct slots_whole *whole)
{
	*whole = slots_whole(s);
	for (int p = 0; p < s->net->graph->nparam; p++)
		for (int i = 0; i < s->n; i++)
			if (slot_has(s, i, p) &&
			    load_slot(f, path, s, i, p, whole) != 0) {
				slots_forget(whole);
				return -1;
			}
	return 0;
}
