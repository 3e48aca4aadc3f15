/*
 * The closed table of classes and functions that a pickle may call: ordered
 * dicts, storages, tensors that are views of storages, and numpy's arrays
 * (pickle_numpy.c).  Calls of any other name have no effect and give a
 * VALUE_OTHER.
 * Source of the argument lists: PyTorch's torch/_utils.py and
 * torch/serialization.py.
 */
#include <string.h>

#include "base/text.h"
#include "weights/pickle_calls.h"
#include "weights/pickle_numpy.h"

/* Storage classes of the element types that weights have. */
static const struct { const char *name; enum dtype type; } storages[] = {
	{ "FloatStorage", DTYPE_F32 }, { "DoubleStorage", DTYPE_F64 },
	{ "HalfStorage", DTYPE_F16 }, { "BFloat16Storage", DTYPE_BF16 },
	{ "LongStorage", DTYPE_I64 }, { "IntStorage", DTYPE_I32 },
	{ "ShortStorage", DTYPE_I16 }, { "CharStorage", DTYPE_I8 },
	{ "ByteStorage", DTYPE_U8 }, { "BoolStorage", DTYPE_BOOL },
};

void
pickle_other(const struct pickle *p, const char *name, struct value *to)
{
	to->kind = VALUE_OTHER;
	names_add(p->unknown, name);
}

int
pickle_append(const struct pickle *p, struct value *list, struct value *v)
{
	struct value **item = arena_grow(p->arena, list->u.of.item,
	    list->u.of.n, &list->u.of.cap, sizeof(*item));

	if (item == NULL)
		return -1;
	list->u.of.item = item;
	item[list->u.of.n++] = v;
	return 0;
}

static const struct value *
pickle_at(const struct value *seq, size_t i)
{
	return seq->u.of.item[i];
}

static int
pickle_is_seq(const struct value *v, size_t least)
{
	return (v->kind == VALUE_TUPLE || v->kind == VALUE_LIST) &&
	    v->u.of.n >= least;
}

/*
 * OrderedDict() is filled by later opcodes.  Python 2 passes its pairs as a
 * list instead.
 */
static const char *
pickle_ordered_dict(const struct pickle *p, const struct value *args,
    struct value *to)
{
	to->kind = VALUE_DICT;
	if (args->u.of.n == 0)
		return NULL;
	if (!pickle_is_seq(pickle_at(args, 0), 0))
		return "an OrderedDict whose pairs are not a list";
	for (size_t i = 0; i < pickle_at(args, 0)->u.of.n; i++) {
		const struct value *pair = pickle_at(pickle_at(args, 0), i);

		if (!pickle_is_seq(pair, 2))
			return "an OrderedDict of values that are not pairs";
		if (pickle_append(p, to, pair->u.of.item[0]) != 0 ||
		    pickle_append(p, to, pair->u.of.item[1]) != 0)
			return "";
	}
	return NULL;
}

/* Arguments: (storage, offset, sizes, strides, requires_grad, hooks). */
static const char *
pickle_rebuild_tensor(const struct pickle *p, const struct value *args,
    struct value *to)
{
	const struct value *size, *stride;
	struct view *v;

	if (!pickle_is_seq(args, 4) || pickle_at(args, 1)->kind != VALUE_INT ||
	    !pickle_is_seq(pickle_at(args, 2), 0) ||
	    !pickle_is_seq(pickle_at(args, 3), 0))
		return "a tensor without storage, offset, sizes and strides";
	/* A storage of an element type that no weight has, such as complex. */
	if (pickle_at(args, 0)->kind == VALUE_OTHER) {
		to->kind = VALUE_OTHER;
		return NULL;
	}
	if (pickle_at(args, 0)->kind != VALUE_STORAGE)
		return "a tensor whose first argument is not a storage";
	size = pickle_at(args, 2);
	stride = pickle_at(args, 3);
	if (size->u.of.n != stride->u.of.n)
		return "a tensor with unequal numbers of sizes and strides";
	if (size->u.of.n > TENSOR_DIMS) {
		pickle_other(p, "a tensor of more than 8 axes", to);
		return NULL;
	}
	if ((v = arena_get(p->arena, sizeof(*v))) == NULL)
		return "";
	v->storage = pickle_at(args, 0)->u.storage;
	v->offset = pickle_at(args, 1)->u.i;
	v->ndim = (int)size->u.of.n;
	for (int i = 0; i < v->ndim; i++) {
		const struct value *d = pickle_at(size, (size_t)i);
		const struct value *s = pickle_at(stride, (size_t)i);

		if (d->kind != VALUE_INT || s->kind != VALUE_INT ||
		    d->u.i < 0 || d->u.i > INT32_MAX || s->u.i < 0)
			return "a tensor with a size or stride that is not a "
			    "number from 0";
		v->dim[i] = d->u.i;
		v->stride[i] = s->u.i;
	}
	to->kind = VALUE_TENSOR;
	to->u.tensor = v;
	return NULL;
}

/* Arguments: (tensor, requires_grad, hooks). */
static const char *
pickle_rebuild_parameter(const struct pickle *p, const struct value *args,
    struct value *to)
{
	(void)p;
	if (!pickle_is_seq(args, 1) || (pickle_at(args, 0)->kind !=
	    VALUE_TENSOR && pickle_at(args, 0)->kind != VALUE_OTHER))
		return "a parameter that is not a tensor";
	*to = *pickle_at(args, 0);
	return NULL;
}

static const struct {
	const char *name;
	const char *(*call)(const struct pickle *, const struct value *args,
	    struct value *to);
} calls[] = {
	{ "collections.OrderedDict", pickle_ordered_dict },
	{ "torch._utils._rebuild_tensor", pickle_rebuild_tensor },
	{ "torch._utils._rebuild_tensor_v2", pickle_rebuild_tensor },
	{ "torch._utils._rebuild_parameter", pickle_rebuild_parameter },
	{ "torch._utils._rebuild_parameter_with_state",
	    pickle_rebuild_parameter },
	/* numpy 2 renamed its module numpy.core to numpy._core. */
	{ "numpy.core.multiarray._reconstruct", pickle_numpy_array },
	{ "numpy._core.multiarray._reconstruct", pickle_numpy_array },
	{ "numpy.core.numeric._frombuffer", pickle_numpy_from_buffer },
	{ "numpy._core.numeric._frombuffer", pickle_numpy_from_buffer },
	{ "numpy.dtype", pickle_numpy_dtype },
	{ "_codecs.encode", pickle_numpy_encode },
	{ "__builtin__.bytes", pickle_numpy_no_bytes },
};

const char *
pickle_call(const struct pickle *p, const struct value *class,
    const struct value *args, struct value *to)
{
	const char *name = class->kind == VALUE_CLASS ? class->u.name :
	    "a value that is not a class";

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(name, calls[i].name) == 0)
			return args->kind == VALUE_TUPLE ?
			    calls[i].call(p, args, to) :
			    "arguments that are not a tuple";
	pickle_other(p, name, to);
	return NULL;
}

/*
 * Legacy format: the view (key, first, count) of a storage that shares the data
 * of another one.
 */
static const char *
pickle_storage_view(const struct value *part, struct storage *s)
{
	if (part->kind == VALUE_NONE)
		return NULL;
	if (!pickle_is_seq(part, 3) || pickle_at(part, 1)->kind != VALUE_INT ||
	    pickle_at(part, 2)->kind != VALUE_INT ||
	    pickle_at(part, 1)->u.i < 0 || pickle_at(part, 2)->u.i < 0)
		return "a storage's view that is not (key, first, count)";
	s->first = pickle_at(part, 1)->u.i;
	s->view = pickle_at(part, 2)->u.i;
	return NULL;
}

/*
 * Add ${s} to the storages of ${p}.  A key must mean the same data in the whole
 * pickle, or a later tensor would read beyond it.
 */
static const char *
pickle_remember(const struct pickle *p, struct storage *s)
{
	struct storages *all = p->storages;
	long i = names_add(all->keys, s->key);
	struct storage **item;

	if (i < 0) {
		i = names_find(all->keys, s->key);
		return dtype_bytes(all->item[i]->type) ==
		    dtype_bytes(s->type) && all->item[i]->count == s->count ?
		    NULL : "a storage that has another size elsewhere";
	}
	item = arena_grow(p->arena, all->item, (size_t)i, &all->cap,
	    sizeof(*item));
	if (item == NULL)
		return "";
	all->item = item;
	item[i] = s;
	return NULL;
}

/*
 * The persistent id is ('storage', class, key, location, count[, view]).  The
 * other known id is a module saved whole, with its source text; it becomes a
 * VALUE_OTHER.
 */
const char *
pickle_persistent(const struct pickle *p, const struct value *id,
    struct value *to)
{
	const char *class, *bad;
	struct storage *s;

	if (id->kind == VALUE_TUPLE && id->u.of.n > 1 &&
	    value_is(pickle_at(id, 0), "module")) {
		pickle_other(p, "a module", to);
		return NULL;
	}
	if (id->kind != VALUE_TUPLE || id->u.of.n < 5 ||
	    !value_is(pickle_at(id, 0), "storage") ||
	    pickle_at(id, 1)->kind != VALUE_CLASS ||
	    pickle_at(id, 2)->kind != VALUE_TEXT ||
	    pickle_at(id, 4)->kind != VALUE_INT || pickle_at(id, 4)->u.i < 0)
		return "a persistent id that is not ('storage', class, key, "
		    "place, count)";
	class = pickle_at(id, 1)->u.name;
	if ((s = arena_get(p->arena, sizeof(*s))) == NULL)
		return "";
	s->key = pickle_at(id, 2)->u.text.s;
	s->count = pickle_at(id, 4)->u.i;
	s->view = -1;
	/* A tensor that was saved on a GPU names torch.cuda.FloatStorage. */
	class += text_starts(class, "torch.cuda.") ? strlen("torch.cuda.") :
	    text_starts(class, "torch.") ? strlen("torch.") : 0;
	for (size_t i = 0; i < sizeof(storages) / sizeof(storages[0]); i++)
		if (strcmp(class, storages[i].name) == 0) {
			s->type = storages[i].type;
			to->kind = VALUE_STORAGE;
			to->u.storage = s;
			bad = id->u.of.n > 5 ? pickle_storage_view(pickle_at(id,
			    5), s) : NULL;
			return bad != NULL ? bad : pickle_remember(p, s);
		}
	pickle_other(p, pickle_at(id, 1)->u.name, to);
	return NULL;
}
