/*
 * Read a checkpoint, and load its tensors.  A checkpoint of an older version
 * lacks some metadata; checkpoint_read then sets the value that the older
 * version used.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/optim/ema.h"
#include "train/run/checkpoint.h"

char *
checkpoint_name(const struct param *p)
{
	return xprintf("%s%s", p->kind < PARAM_MEAN ? "model/" : "bn/",
	    p->name);
}

int
checkpoint_finite(const char *path, const struct tensor *tensor, size_t n)
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

/*
 * Return -2 after a message if a running variance is below 0 by more than the
 * rounding error of adding the variance between groups.  Otherwise return 0.
 */
static int
checkpoint_variances(const char *path, const struct safetensors *f)
{
	for (size_t i = 0; i < f->tensors; i++) {
		const struct tensor *t = &f->tensor[i];
		const char *dot = strrchr(t->name, '.');
		const float *x = t->data;

		if (t->type != DTYPE_F32 || dot == NULL ||
		    strcmp(dot, ".running_var") != 0)
			continue;
		for (size_t k = 0; k < t->bytes / 4; k++)
			if (x[k] < -CHECKPOINT_ROUNDING) {
				fail("%s: tensor %s holds %g (wanted a "
				    "variance, at least 0)", text_quote(path),
				    t->name, (double)x[k]);
				return -2;
			}
	}
	return 0;
}

/* Return the metadata ${key}.  If it is absent, return "" and set ${*bad},
 * after a message unless ${*bad} was set. */
static const char *
checkpoint_text_of(const struct safetensors *f, const char *key,
    const char *path, int *bad)
{
	const char *v = safetensors_meta(f, key);

	if (v == NULL && !*bad) {
		fail("%s: no %s in its metadata", text_quote(path), key);
		*bad = 1;
	}
	return v != NULL ? v : "";
}

static uint64_t
checkpoint_count_of(const struct safetensors *f, const char *key,
    const char *path, int *bad)
{
	const char *v = checkpoint_text_of(f, key, path, bad);
	char *end;
	uint64_t n = strtoull(v, &end, 10);

	if ((*v == '\0' || *end != '\0') && !*bad) {
		fail("%s: %s is %s (wanted a number)", text_quote(path), key,
		    text_quote(v));
		*bad = 1;
	}
	return n;
}

/* Return the metadata ${key} as a number of at least 1. */
static int
checkpoint_extent_of(const struct safetensors *f, const char *key,
    const char *path, int *bad)
{
	uint64_t n = checkpoint_count_of(f, key, path, bad);

	if ((n < 1 || n > INT32_MAX) && !*bad) {
		fail("%s: %s is %" PRIu64 " (wanted 1 or more)",
		    text_quote(path), key, n);
		*bad = 1;
	}
	return *bad ? 1 : (int)n;
}

static double
checkpoint_real_of(const struct safetensors *f, const char *key,
    const char *path, int *bad)
{
	return strtod(checkpoint_text_of(f, key, path, bad), NULL);
}

int
checkpoint_status(int bad)
{
	return bad == -3 ? EXIT_DIVERGED : bad == -2 ? EXIT_DAMAGE :
	    EXIT_FAILED;
}

int
checkpoint_read(const char *path, struct safetensors *f, struct state *s)
{
	int bad = safetensors_read(path, 1, f);

	if (bad)
		return bad;
	if (strcmp(checkpoint_text_of(f, "vt.format", path, &bad),
	    CHECKPOINT_FORMAT) != 0 && !bad)
		bad = fail("%s: format %s (this version reads "
		    CHECKPOINT_FORMAT ")", text_quote(path), safetensors_meta(f,
		    "vt.format"));
	s->best = checkpoint_real_of(f, "vt.best", path, &bad);
	s->best_metric = safetensors_meta(f, "vt.best_metric");
	if (s->best_metric == NULL)
		s->best_metric = "";
	s->due = safetensors_meta(f, "vt.due") == NULL ? 0 :
	    checkpoint_extent_of(f, "vt.due", path, &bad);
	s->best_step = safetensors_meta(f, "vt.best_step") == NULL ? 0 :
	    checkpoint_count_of(f, "vt.best_step", path, &bad);
	s->build = checkpoint_text_of(f, "vt.build", path, &bad);
	s->choices = safetensors_meta(f, "vt.choices");
	s->class_hash = checkpoint_text_of(f, "vt.class_xxh3", path, &bad);
	s->classes = checkpoint_text_of(f, "vt.classes", path, &bad);
	s->config = checkpoint_text_of(f, "vt.config", path, &bad);
	s->init = safetensors_meta(f, "vt.init");
	s->isa = safetensors_meta(f, "vt.isa");
	s->library = safetensors_meta(f, "vt.library");
	/* Version 0.1.0 stored a hash of the settings under this key. */
	s->dataset = checkpoint_text_of(f, "vt.dataset_id", path, &bad);
	s->settings_id = safetensors_meta(f, "vt.settings_id");
	if (s->settings_id == NULL) {
		s->settings_id = s->dataset;
		s->dataset = NULL;
	}
	s->extract = safetensors_meta(f, "vt.extract");
	s->crop = checkpoint_extent_of(f, "vt.crop", path, &bad);
	s->corrupt = safetensors_meta(f, "vt.corrupt");
	s->epoch = checkpoint_real_of(f, "vt.epoch", path, &bad);
	s->flips = safetensors_meta(f, "vt.flips");
	if (s->flips == NULL)
		s->flips = "none";
	s->class_weights = safetensors_meta(f, "vt.class_weights");
	if (s->class_weights == NULL)
		s->class_weights = "none";
	s->frames = checkpoint_extent_of(f, "vt.frames", path, &bad);
	s->generation = (int64_t)checkpoint_count_of(f, "vt.generation", path,
	    &bad);
	s->grown = safetensors_meta(f, "vt.grown") == NULL ? 1 :
	    checkpoint_extent_of(f, "vt.grown", path, &bad);
	s->grow_wants = safetensors_meta(f, "vt.grow_wants") == NULL ? 0 :
	    checkpoint_extent_of(f, "vt.grow_wants", path, &bad);
	s->history = checkpoint_text_of(f, "vt.history_xxh128", path, &bad);
	s->loss = checkpoint_real_of(f, "vt.loss_ema", path, &bad);
	s->model = checkpoint_text_of(f, "vt.model", path, &bad);
	s->network = checkpoint_text_of(f, "vt.network", path, &bad);
	s->precision = safetensors_meta(f, "vt.precision");
	if (s->precision == NULL)
		s->precision = "fp32";
	s->results = safetensors_meta(f, "vt.results");
	if (s->results == NULL)
		s->results = "1";
	s->clips = checkpoint_count_of(f, "vt.samples", path, &bad);
	s->seed = checkpoint_count_of(f, "vt.seed", path, &bad);
	s->step = checkpoint_count_of(f, "vt.step", path, &bad);
	s->stride = safetensors_meta(f, "vt.stride") == NULL ? 0 :
	    checkpoint_extent_of(f, "vt.stride", path, &bad);
	s->skipped = safetensors_meta(f, "vt.skipped") == NULL ? 0 :
	    checkpoint_count_of(f, "vt.skipped", path, &bad);
	s->noise_gradient = safetensors_meta(f, "vt.noise_gradient") == NULL ?
	    0 : checkpoint_real_of(f, "vt.noise_gradient", path, &bad);
	s->noise_trace = safetensors_meta(f, "vt.noise_trace") == NULL ? 0 :
	    checkpoint_real_of(f, "vt.noise_trace", path, &bad);
	s->order = checkpoint_text_of(f, "vt.tree", path, &bad);
	bad = bad ? -2 : checkpoint_finite(path, f->tensor, f->tensors);
	bad = bad ? bad : checkpoint_variances(path, f);
	if (bad)
		safetensors_free(f);
	return bad;
}

/* Return the tensor ${name}, which must have the shape of ${p} (NULL: a
 * scalar), or NULL after a message.  ${who} needs it. */
static const struct tensor *
checkpoint_find(const struct safetensors *f, const char *path, const char *name,
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

/* Return the ${n} values of ${t} as doubles.  The caller frees them. */
static double *
checkpoint_doubles_of(const struct tensor *t, size_t n)
{
	double *v = xcalloc(n, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = t->type == DTYPE_F64 ? ((const double *)t->data)[i] :
		    (double)((const float *)t->data)[i];
	return v;
}

/* Load tensor ${name} into parameter ${p} of ${n}.  Take and free ${name}. */
static int
checkpoint_load_param(const struct safetensors *f, const char *path,
    const struct net *n, const struct param *p, char *name)
{
	const struct tensor *t;
	size_t elem = n->device->elem;
	void *to = (char *)n->w + p->offset * elem;

	/* A run without --bn-running=aggregate has no between-group variance.
	 * With --override=bn-running it starts at 0. */
	if (p->kind == PARAM_BETWEEN && safetensors_tensor(f, name) == NULL) {
		free(name);
		return 0;
	}
	t = checkpoint_find(f, path, name, p, n->graph->name);
	free(name);
	if (t == NULL)
		return -1;
	/* Convert between fp32 and fp64 if the device has the other type. */
	if (t->bytes == p->count * elem) {
		device_upload(n->device, to, t->data, t->bytes);
	} else {
		double *v = checkpoint_doubles_of(t, p->count);

		device_put(n->device, to, v, p->count);
		free(v);
	}
	return 0;
}

int
checkpoint_load(const struct safetensors *f, const char *path, struct net *n)
{
	for (int i = 0; i < n->graph->nparam; i++)
		if (checkpoint_load_param(f, path, n, &n->graph->param[i],
		    checkpoint_name(&n->graph->param[i])) != 0)
			return -1;
	return 0;
}

int
checkpoint_has_ema(const struct safetensors *f, const char *path)
{
	if (safetensors_tensor(f, ema_slots[1].name) != NULL)
		return 0;
	return fail("%s: has no moving average of the weights (vt-train "
	    "--ema=DECAY keeps one)", text_quote(path));
}

int
checkpoint_load_ema(const struct safetensors *f, const char *path,
    struct net *n)
{
	for (int i = 0; i < n->graph->nparam; i++)
		if (checkpoint_load_param(f, path, n, &n->graph->param[i],
		    slot_name( &ema_slots[0], 0, &n->graph->param[i])) != 0)
			return -1;
	return 0;
}

/* Load the state of parameter ${p} into copy ${j} of slot ${i} of ${whole}. */
static int
checkpoint_load_slot(const struct safetensors *f, const char *path,
    const struct slots *s, int i, int j, int p, struct slots_whole *whole)
{
	const struct slot *slot = &s->slot[i];
	const struct param *param = &s->net->graph->param[p];
	char *name = slot_name(slot->kind, j, param);
	const struct tensor *t = checkpoint_find(f, path, name,
	    slot_shaped(slot->kind) ? param : NULL, s->net->graph->name);
	size_t n;
	void *to = slot_of(s, i, j, p, whole->data[i], &n);

	free(name);
	if (t == NULL)
		return -1;
	if (t->bytes == n * slot->size) {
		memcpy(to, t->data, t->bytes);
	} else {
		double *v = checkpoint_doubles_of(t, n);

		for (size_t k = 0; k < n; k++)
			if (slot->size == sizeof(double))
				((double *)to)[k] = v[k];
			else
				((float *)to)[k] = (float)v[k];
		free(v);
	}
	return 0;
}

/* Return 1 if the file has any tensor of copy ${j} of slot ${i}, otherwise 0
 * after a note. */
static int
checkpoint_knows_slot(const struct safetensors *f, const char *path,
    const struct slots *s, int i, int j)
{
	const char *name = s->slot[i].kind->name;

	for (int p = 0; p < s->net->graph->nparam; p++) {
		char *tensor;
		int there;

		if (!slot_has(s, i, p))
			continue;
		tensor = slot_name(s->slot[i].kind, j,
		    &s->net->graph->param[p]);
		there = safetensors_tensor(f, tensor) != NULL;
		free(tensor);
		if (there)
			return 1;
	}
	if (s->slot[i].kind->extent == SLOT_LEARNER)
		note("%s: has no %s of learner %d, which is initialized",
		    text_quote(path), name, j);
	else
		note("%s: has no %s, which is initialized", text_quote(path),
		    name);
	return 0;
}

static int
checkpoint_load_copy(const struct safetensors *f, const char *path,
    const struct slots *s, int i, int j, struct slots_whole *whole)
{
	if (!checkpoint_knows_slot(f, path, s, i, j))
		return 0;
	for (int p = 0; p < s->net->graph->nparam; p++)
		if (slot_has(s, i, p) && checkpoint_load_slot(f, path, s, i, j,
		    p, whole) != 0)
			return -1;
	return 0;
}

int
checkpoint_slots(const struct safetensors *f, const char *path,
    const struct slots *s, struct slots_whole *whole)
{
	*whole = slots_whole(s);
	for (int i = 0; i < s->n; i++)
		for (int j = 0; j < s->slot[i].copies; j++)
			if (checkpoint_load_copy(f, path, s, i, j, whole) !=
			    0) {
				slots_forget(whole);
				return -1;
			}
	return 0;
}
