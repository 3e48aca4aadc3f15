/* Detect the format of a file of weights and give its tensors as fp32. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "weights/known.h"
#include "weights/torch.h"

static int
weights_open_safetensors(const char *name, struct weights_file *w)
{
	int bad = safetensors_take(name, &w->file, 0, &w->s);

	if (bad)
		return bad;
	w->tensor = arena_get(w->arena, w->s.tensors * sizeof(*w->tensor));
	if (w->tensor == NULL) {
		fail("%s: more tensors than the file can hold", name);
		return -2;
	}
	for (size_t i = 0; i < w->s.tensors; i++) {
		const struct tensor *from = &w->s.tensor[i];
		struct weight *t = &w->tensor[w->tensors++];
		int64_t stride = 1;

		names_add(w->names, from->name);
		*t = (struct weight){ .name = from->name, .type = from->type,
			.other = from->other, .ndim = from->ndim,
			.first = from->data, .count = from->bytes /
				dtype_bytes(from->type) };
		/* Strides of C order. */
		for (int k = t->ndim; k-- > 0;) {
			t->dim[k] = from->dim[k];
			t->stride[k] = stride;
			stride *= t->dim[k];
		}
	}
	return 0;
}

/* A safetensors file begins with 8 bytes of length and a JSON object. */
static int
weights_is_safetensors(const struct buffer *file)
{
	return file->n > 8 && (file->data[8] == '{' || file->data[8] == ' ');
}

static int
weights_open_any(const char *name, struct weights_file *w)
{
	/*
	 * Test for the legacy format before pickles: its files begin with one.
	 */
	if (torch_is_zip(&w->file)) {
		w->container = "PyTorch's zip";
		return torch_zip(name, w);
	}
	if (torch_is_legacy(&w->file)) {
		w->container = "PyTorch's legacy format";
		return torch_legacy(name, w);
	}
	if (torch_is_pickle(&w->file)) {
		w->container = "a pickle";
		return torch_pickle(name, w);
	}
	if (weights_is_safetensors(&w->file)) {
		w->container = "safetensors";
		return weights_open_safetensors(name, w);
	}
	if (w->file.n == 0) {
		fail("%s: the file is empty", name);
		return -2;
	}
	fail("%s: not a file of weights that is known (wanted safetensors, a "
	    "file of torch.save or one of caffe2)", name);
	return -3;
}

int
weights_open(const char *path, struct weights_file *w)
{
	char *name = xstrdup(strcmp(path, "-") == 0 ? "standard input" :
	    text_quote(path));
	int bad;

	*w = (struct weights_file){ .names = names_new() };
	bad = known_is(path) ? known_read(path, &w->file) :
	    file_read(path, &w->file);
	if (!bad) {
		w->arena = arena_new(arena_max(w->file.n));
		bad = weights_open_any(name, w);
	}
	free(name);
	if (bad)
		weights_close(w);
	return bad;
}

void
weights_close(struct weights_file *w)
{
	safetensors_free(&w->s);
	buffer_free(&w->file);
	names_free(w->names);
	arena_free(w->arena);
	*w = (struct weights_file){ 0 };
}

/*
 * Convert dimensions ${k} and up, whose first element is at ${from}.  Return
 * the end of what was written.
 */
static float *
weights_floats_along(const struct weight *t, int k, const unsigned char *from,
    float *to)
{
	ptrdiff_t step = (ptrdiff_t)(t->stride[k] *
	    (int64_t)dtype_bytes(t->type));

	if (k == t->ndim - 1) {
		dtype_floats(t->type, from, step, (size_t)t->dim[k], to);
		return to + t->dim[k];
	}
	for (int64_t i = 0; i < t->dim[k]; i++)
		to = weights_floats_along(t, k + 1, from + i * step, to);
	return to;
}

void
weights_floats(const struct weight *t, float *to)
{
	int64_t run = 1;
	int k = t->ndim;

	if (t->count == 0)
		return;
	while (k > 0 && t->stride[k - 1] == run)
		run *= t->dim[--k];
	if (k == 0)		/* stored in order, as most tensors are */
		dtype_floats(t->type, t->first,
		    (ptrdiff_t)dtype_bytes(t->type), (size_t)run, to);
	else
		weights_floats_along(t, 0, t->first, to);
}
