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
	void *w, *m;			/* the flat buffers, copied */
	size_t metas;
	struct meta meta[32];		/* values are its own */
};

/* "model/NAME", "bn/NAME": what a parameter is called in the file. */
static char *
tensor_name(const struct param *p, int momentum)
{
	return xprintf("%s%s", momentum ? "optim/momentum/" :
	    p->kind < PARAM_MEAN ? "model/" : "bn/", p->name);
}

static void
add_tensor(struct snapshot *s, const struct net *n, const struct param *p,
    const void *flat, int momentum)
{
	struct tensor *t = &s->tensor[s->tensors++];

	*t = (struct tensor){ .name = tensor_name(p, momentum),
		.type = n->device->elem == 8 ? DTYPE_F64 : DTYPE_F32,
		.ndim = p->ndim,
		.data = (const char *)flat + p->offset * n->device->elem,
		.bytes = p->count * n->device->elem };
	for (int i = 0; i < p->ndim; i++)
		t->dim[i] = p->dim[i];
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

struct snapshot *
snapshot_take(const struct net *n, const void *momentum, const struct state *st)
{
	const struct graph *g = n->graph;
	struct snapshot *s = xcalloc(1, sizeof(*s));
	size_t bytes = g->elements * n->device->elem;

	s->w = xmalloc(bytes);
	s->m = xmalloc(bytes);
	device_download(n->device, s->w, n->w, bytes);
	device_download(n->device, s->m, momentum, bytes);
	s->tensor = xcalloc(2 * (size_t)g->nparam, sizeof(*s->tensor));
	for (int i = 0; i < g->nparam; i++) {
		add_tensor(s, n, &g->param[i], s->w, 0);
		if (g->param[i].kind < PARAM_MEAN)
			add_tensor(s, n, &g->param[i], s->m, 1);
	}
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
	return s;
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
	free(s->m);
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

static int
load(const struct safetensors *f, const char *path, const struct net *n,
    const struct param *p, void *flat, int momentum)
{
	char *name = tensor_name(p, momentum);
	const struct tensor *t = safetensors_tensor(f, name);
	enum dtype want = n->device->elem == 8 ? DTYPE_F64 : DTYPE_F32;
	int bad = 0;

	if (t == NULL) {
		bad = fail("%s: no tensor %s, which %s needs", text_quote(path),
		    name, n->graph->name);
	} else if (t->ndim != p->ndim || t->type == DTYPE_U8) {
		bad = fail("%s: tensor %s has %d dimensions (wanted %d)",
		    text_quote(path), name, t->ndim, p->ndim);
	}
	for (int i = 0; !bad && i < p->ndim; i++)
		if (t->dim[i] != p->dim[i])
			bad = fail("%s: tensor %s: dimension %d is %lld (wanted "
			    "%d)", text_quote(path), name, i,
			    (long long)t->dim[i], p->dim[i]);
	if (!bad && t->type == want) {
		device_upload(n->device, (char *)flat + p->offset * n->device->elem,
		    t->data, t->bytes);
	} else if (!bad) {
		double *v = xcalloc(p->count, sizeof(*v));

		for (size_t i = 0; i < p->count; i++)
			v[i] = t->type == DTYPE_F64 ?
			    ((const double *)t->data)[i] :
			    (double)((const float *)t->data)[i];
		device_put(n->device, (char *)flat + p->offset * n->device->elem, v,
		    p->count);
		free(v);
	}
	free(name);
	return bad;
}

int
checkpoint_load(const struct safetensors *f, const char *path, struct net *n,
    void *momentum)
{
	for (int i = 0; i < n->graph->nparam; i++) {
		const struct param *p = &n->graph->param[i];

		if (load(f, path, n, p, n->w, 0) != 0)
			return -1;
		if (momentum != NULL && p->kind < PARAM_MEAN &&
		    load(f, path, n, p, momentum, 1) != 0)
			return -1;
	}
	return 0;
}
