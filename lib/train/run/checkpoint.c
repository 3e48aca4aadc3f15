/* Read a checkpoint, and load its tensors. */
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
checkpoint_finite(const char *path, const struct tensor *tensor, size_t n,
    struct error *e)
{
	for (size_t i = 0; i < n; i++) {
		const struct tensor *t = &tensor[i];
		size_t size = t->type == DTYPE_F64 ? 8 : 4;

		if (t->type == DTYPE_U8 || slots_all_finite(t->data, t->bytes /
		    size, size))
			continue;
		error_set(e, "%s: tensor %s holds NaN or infinity",
		    text_quote(path), t->name);
		return -3;
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

int
checkpoint_status(int bad)
{
	return bad == -3 ? EXIT_DIVERGED : exit_of(bad);
}

int
checkpoint_read(const char *path, struct safetensors *f, struct state *s)
{
	int bad = safetensors_read(path, 1, f);
	const char *format = bad ? NULL : safetensors_meta(f, "vt.format");

	if (bad)
		return bad;
	/* Another format has other keys. */
	if (format != NULL && strcmp(format, CHECKPOINT_FORMAT) != 0)
		bad = fail("%s: format %s (this version reads "
		    CHECKPOINT_FORMAT ")", text_quote(path), format);
	bad = bad || state_read(s, path, f->meta, f->metas) != 0 ? -2 :
	    checkpoint_finite(path, f->tensor, f->tensors, NULL);
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
checkpoint_load(const struct safetensors *f, const char *path, struct net *n,
    int ema)
{
	for (int i = 0; i < n->graph->nparam; i++) {
		const struct param *p = &n->graph->param[i];

		if (checkpoint_load_param(f, path, n, p, ema ?
		    slot_name(&ema_slots[0], 0, p) : checkpoint_name(p)) != 0)
			return -1;
	}
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
