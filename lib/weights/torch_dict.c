/*
 * Find the state dict among the objects of a file, and check that its tensors
 * lie within their storages.
 */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "weights/torch_dict.h"

#define DAMAGED(...) (fail(__VA_ARGS__), -2)

/* Keys under which programs save it, next to optimizer state and so on.  The
 * weights come before their moving average. */
static const char *const state_dict_keys[] = {
	"state_dict", "model_state", "model_state_dict", "model", "blobs",
	"net", "params", "weights", "state_dict_ema", "ema_state_dict",
	"model_ema", "ema"
};

static int
torch_dict_has_tensors(const struct value *dict)
{
	for (size_t i = 1; i < dict->u.of.n; i += 2)
		if (dict->u.of.item[i]->kind == VALUE_TENSOR)
			return 1;
	return 0;
}

/* Return the dict of tensors in ${v}, at most ${depth} levels down, or NULL. */
static const struct value *
torch_dict_find(const struct value *v, int depth)
{
	const struct value *inner = NULL, *found = NULL;

	if (v == NULL || v->kind != VALUE_DICT)
		return NULL;
	/*
	 * Search inner dicts first: an outer one may hold other tensors, such
	 * as running statistics of the program.
	 */
	for (size_t i = 0; depth > 0 && found == NULL &&
	    i < sizeof(state_dict_keys) / sizeof(state_dict_keys[0]); i++)
		if ((inner = value_get(v, state_dict_keys[i])) != NULL)
			found = torch_dict_find(inner, depth - 1);
	return found != NULL ? found : torch_dict_has_tensors(v) ? v : NULL;
}

/* List the keys that were found instead. */
static int
torch_dict_none(const struct pickle *p, const struct value *root)
{
	struct buffer b = { 0 }, keys = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < sizeof(state_dict_keys) /
	    sizeof(state_dict_keys[0]); i++)
		buffer_printf(&keys, ", %s", state_dict_keys[i]);
	buffer_text(&b, "");
	for (size_t i = 0; root->kind == VALUE_DICT && i < root->u.of.n &&
	    shown < 8; i += 2)
		if (root->u.of.item[i]->kind == VALUE_TEXT)
			buffer_printf(&b, "%s%s", shown++ > 0 ? ", " : "",
			    text_quote(root->u.of.item[i]->u.text.s));
	fail("%s: no tensors, at the top or in any of %s (%s)", p->path,
	    keys.data + 2, root->kind != VALUE_DICT ? "it holds no dict" :
	    shown > 0 ? b.data : "the dict is empty");
	buffer_free(&b);
	buffer_free(&keys);
	return -3;
}

/*
 * Return 1 if all elements of the view lie within ${count} elements.  The sum
 * of offset and (size - 1) x stride is bounded step by step, so it cannot
 * overflow.
 */
static int
torch_dict_fits(const struct view *v, uint64_t count)
{
	uint64_t last = (uint64_t)v->offset;

	for (int i = 0; i < v->ndim; i++)
		if (v->dim[i] == 0)
			return 1;
	if (v->offset < 0 || last >= count)
		return 0;
	for (int i = 0; i < v->ndim; i++) {
		uint64_t steps = (uint64_t)v->dim[i] - 1;
		uint64_t stride = (uint64_t)v->stride[i];

		if (steps > 0 && stride > (count - 1 - last) / steps)
			return 0;
		last += steps * stride;
	}
	return 1;
}

/*
 * Convert view ${v} into the weight ${t} called ${name}, after all checks.  The
 * limit of elements stops views with stride 0, which can describe any number of
 * elements with one stored number.
 */
static int
torch_dict_read_view(const struct pickle *p, const char *name,
    const struct view *v, struct numbers all, size_t file, struct weight *t)
{
	const struct storage *s = v->storage;
	uint64_t count = (uint64_t)s->count;
	uint64_t first = 0, max = arena_max(file) / sizeof(float);

	if (all.data == NULL || all.count < count)
		return DAMAGED("%s: tensor %s: storage %s has %llu numbers "
		    "(wanted %llu)", p->path, text_quote(name),
		    text_quote(s->key), all.data == NULL ? 0 :
		    (unsigned long long)all.count, (unsigned long long)count);
	if (s->view >= 0) {
		first = (uint64_t)s->first;
		if (first > count || (uint64_t)s->view > count - first)
			return DAMAGED("%s: tensor %s: a view beyond storage "
			    "%s", p->path, text_quote(name),
			    text_quote(s->key));
		count = (uint64_t)s->view;
	}
	if (!torch_dict_fits(v, count))
		return DAMAGED("%s: tensor %s reaches beyond the %llu numbers "
		    "of its storage", p->path, text_quote(name),
		    (unsigned long long)count);
	*t = (struct weight){ .name = name, .type = s->type, .ndim = v->ndim,
		.count = 1 };
	for (int i = 0; i < v->ndim; i++) {
		t->dim[i] = v->dim[i];
		/*
		 * The stride of a dimension of size 1 is never used and may be
		 * anything; 0 keeps addresses in range.
		 */
		t->stride[i] = v->dim[i] > 1 ? v->stride[i] : 0;
		if (v->dim[i] > 0 && t->count > max / (uint64_t)v->dim[i])
			return DAMAGED("%s: tensor %s has more than %llu "
			    "numbers, in a file of %zu bytes", p->path,
			    text_quote(name), (unsigned long long)max, file);
		t->count *= (size_t)v->dim[i];
	}
	t->first = all.data;
	/* The offset of an empty tensor may lie outside its storage. */
	if (t->count > 0)
		t->first += (first + (uint64_t)v->offset) *
		    dtype_bytes(s->type);
	return 0;
}

int
torch_dict(const struct pickle *p, const struct value *root,
    struct numbers (*find)(const void *from, const struct storage *s),
    const void *from, struct weights_file *w)
{
	const struct value *dict = torch_dict_find(root, 3);
	size_t cap = 0;

	if (dict == NULL)
		return torch_dict_none(p, root);
	for (size_t i = 0; i + 1 < dict->u.of.n; i += 2) {
		const struct value *key = dict->u.of.item[i];
		const struct value *v = dict->u.of.item[i + 1];
		const struct storage *s;
		struct weight *grown, t;
		long at;

		if (key->kind != VALUE_TEXT || v->kind != VALUE_TENSOR)
			continue;
		if (strlen(key->u.text.s) != key->u.text.n)
			return DAMAGED("%s: a tensor's name has a zero byte: "
			    "%s", p->path, text_quote(key->u.text.s));
		s = v->u.tensor->storage;
		if (torch_dict_read_view(p, key->u.text.s, v->u.tensor,
		    s->data != NULL ? (struct numbers){ s->data,
		    (uint64_t)s->count } : find(from, s), w->file.n, &t) != 0)
			return -2;
		if ((at = names_add(w->names, t.name)) < 0) {
			/* As in Python, the last value of a key counts. */
			w->tensor[names_find(w->names, t.name)] = t;
			continue;
		}
		grown = arena_grow(p->arena, w->tensor, (size_t)at, &cap,
		    sizeof(*grown));
		if (grown == NULL)
			return DAMAGED("%s: names of tensors larger than ten "
			    "times the file", p->path);
		w->tensor = grown;
		w->tensor[at] = t;
		w->tensors = (size_t)at + 1;
	}
	return 0;
}
