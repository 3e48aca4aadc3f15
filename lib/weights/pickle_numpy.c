/*
 * numpy arrays in a pickle, whose data stand in the pickle itself.
 * Source: numpy's core/src/multiarray/methods.c (array_reduce, array_setstate)
 * and descriptor.c (arraydescr_reduce, arraydescr_setstate).
 */
#include <stdio.h>
#include <string.h>

#include "weights/pickle_calls.h"
#include "weights/pickle_numpy.h"

/* Type codes of numpy: the kind of number and its size in bytes. */
static const struct { const char *name; enum dtype type; } types[] = {
	{ "f4", DTYPE_F32 }, { "f8", DTYPE_F64 }, { "f2", DTYPE_F16 },
	{ "i8", DTYPE_I64 }, { "i4", DTYPE_I32 }, { "i2", DTYPE_I16 },
	{ "i1", DTYPE_I8 }, { "u1", DTYPE_U8 }, { "b1", DTYPE_BOOL },
};

static const struct value *
pickle_numpy_at(const struct value *seq, size_t i)
{
	return seq->u.of.item[i];
}

static int
pickle_numpy_is_tuple(const struct value *v, size_t least)
{
	return v->kind == VALUE_TUPLE && v->u.of.n >= least;
}

static int
pickle_numpy_is_bytes(const struct value *v)
{
	return v->kind == VALUE_TEXT || v->kind == VALUE_BYTES;
}

const char *
pickle_numpy_array(const struct pickle *p, const struct value *args,
struct value *to)
{
	if (!pickle_numpy_is_tuple(args, 1) || pickle_numpy_at(args,
	    0)->kind != VALUE_CLASS)
		return "an array whose first argument is not a class";
	to->kind = VALUE_ARRAY;
	if (strcmp(pickle_numpy_at(args, 0)->u.name, "numpy.ndarray") != 0)
		pickle_other(p, pickle_numpy_at(args, 0)->u.name, to);
	return NULL;
}

const char *
pickle_numpy_dtype(const struct pickle *p, const struct value *args,
struct value *to)
{
	(void)p;
	if (!pickle_numpy_is_tuple(args, 1) || pickle_numpy_at(args,
	    0)->kind != VALUE_TEXT)
		return "a numpy type without a name";
	to->kind = VALUE_DTYPE;
	to->u.dtype.name = pickle_numpy_at(args, 0)->u.text.s;
	to->u.dtype.order = '<';
	return NULL;
}

const char *
pickle_numpy_no_bytes(const struct pickle *p, const struct value *args,
    struct value *to)
{
	if (args->u.of.n > 0) {
		pickle_other(p, "bytes", to);
		return NULL;
	}
	to->kind = VALUE_BYTES;
	to->u.text.s = "";
	return NULL;
}

/*
 * Decode UTF-8 to latin1.  Characters above U+00FF are an error: they cannot
 * come from bytes.
 */
const char *
pickle_numpy_encode(const struct pickle *p, const struct value *args,
struct value *to)
{
	const unsigned char *from;
	size_t n, k = 0;
	char *bytes;

	if (!pickle_numpy_is_tuple(args, 2) || pickle_numpy_at(args,
	    0)->kind != VALUE_TEXT || !value_is(pickle_numpy_at(args, 1),
	    "latin1")) {
		pickle_other(p, "_codecs.encode", to);
		return NULL;
	}
	from = (const unsigned char *)pickle_numpy_at(args, 0)->u.text.s;
	n = pickle_numpy_at(args, 0)->u.text.n;
	if ((bytes = arena_get(p->arena, n + 1)) == NULL)
		return "";
	for (size_t i = 0; i < n; i++) {
		unsigned char c = from[i];

		if (c >= 0x80) {
			/*
			 * Two UTF-8 bytes, 0xc2 or 0xc3 and a continuation
			 * byte, make one character.  At the end of the text,
			 * the terminating zero byte fails the second check.
			 */
			if ((c != 0xc2 && c != 0xc3) ||
			    (from[i + 1] & 0xc0) != 0x80)
				return "a text that is not of latin1";
			c = (unsigned char)(c << 6 | (from[++i] & 0x3f));
		}
		bytes[k++] = (char)c;
	}
	to->kind = VALUE_TEXT;
	to->u.text.s = bytes;
	to->u.text.n = k;
	return NULL;
}

/* The state is (version, order, ...). */
static const char *
pickle_numpy_set_dtype(struct value *v, const struct value *state)
{
	if (!pickle_numpy_is_tuple(state, 2) ||
	    pickle_numpy_at(state, 1)->kind != VALUE_TEXT ||
	    pickle_numpy_at(state, 1)->u.text.n != 1)
		return "a numpy type whose state is not (version, order, "
		    "...)";
	v->u.dtype.order = pickle_numpy_at(state, 1)->u.text.s[0];
	return NULL;
}

static const char *
pickle_numpy_unknown_type(const struct pickle *p, const struct value *dtype,
    struct value *v)
{
	char name[64];

	snprintf(name, sizeof(name), "numpy.ndarray of %c%.32s",
	    dtype->u.dtype.order, dtype->u.dtype.name);
	pickle_other(p, name, v);
	return NULL;
}

/*
 * Set the shape of ${t} and its strides, in C or Fortran order.  The product of
 * the sizes must be ${count}, the number of stored elements.
 */
static const char *
pickle_numpy_set_shape(struct view *t, const struct value *shape, int fortran,
    uint64_t count)
{
	uint64_t stride = 1, left = count;
	int none = 0;

	t->ndim = (int)shape->u.of.n;
	for (int i = 0; i < t->ndim; i++) {
		const struct value *d = pickle_numpy_at(shape, (size_t)i);

		if (d->kind != VALUE_INT || d->u.i < 0 || d->u.i > INT32_MAX)
			return "an array with a size that is not a number "
			    "from 0";
		t->dim[i] = d->u.i;
		none |= d->u.i == 0;
	}
	/*
	 * Divide ${count} by each size instead of multiplying the sizes: no
	 * product can then overflow.
	 */
	for (int k = 0; k < t->ndim && !none; k++) {
		int i = fortran ? k : t->ndim - 1 - k;

		t->stride[i] = (int64_t)stride;
		if (left % (uint64_t)t->dim[i] != 0)
			return "an array whose bytes are not those of its "
			    "shape";
		left /= (uint64_t)t->dim[i];
		stride *= (uint64_t)t->dim[i];
	}
	return none ? count == 0 ? NULL : "an array of nothing that has bytes" :
	    left == 1 ? NULL : "an array whose bytes are not those of its "
	    "shape";
}

/* Make ${v} an array of ${dtype} and ${shape}, whose data are ${bytes}. */
static const char *
pickle_numpy_set_array(const struct pickle *p, struct value *v,
    const struct value *shape, const struct value *dtype, int fortran,
    const struct value *bytes)
{
	struct storage *s;
	struct view *t;
	size_t type = 0;

	while (type < sizeof(types) / sizeof(types[0]) &&
	    strcmp(dtype->u.dtype.name, types[type].name) != 0)
		type++;
	/*
	 * Accept little-endian ('<'), single-byte ('|') and native ('=') order;
	 * the host is little-endian.  strchr would also match a zero byte.
	 */
	if (type == sizeof(types) / sizeof(types[0]) ||
	    strchr("<|=", dtype->u.dtype.order) == NULL ||
	    dtype->u.dtype.order == '\0')
		return pickle_numpy_unknown_type(p, dtype, v);
	if (shape->u.of.n > TENSOR_DIMS) {
		pickle_other(p, "an array of more than 8 axes", v);
		return NULL;
	}
	if (!pickle_numpy_is_bytes(bytes))
		return "an array without bytes";
	if ((s = arena_get(p->arena, sizeof(*s))) == NULL ||
	    (t = arena_get(p->arena, sizeof(*t))) == NULL)
		return "";
	s->key = "of its own";
	s->type = types[type].type;
	s->data = (const unsigned char *)bytes->u.text.s;
	s->count = (int64_t)(bytes->u.text.n / dtype_bytes(s->type));
	s->view = -1;
	t->storage = s;
	v->kind = VALUE_TENSOR;
	v->u.tensor = t;
	return bytes->u.text.n % dtype_bytes(s->type) != 0 ?
	    "an array whose bytes are not those of its shape" :
	    pickle_numpy_set_shape(t, shape, fortran, (uint64_t)s->count);
}

/* The state is ([version,] shape, dtype, is_fortran, bytes). */
static const char *
pickle_numpy_set_state(const struct pickle *p, struct value *v,
    const struct value *state)
{
	size_t first = pickle_numpy_is_tuple(state, 5);
	const struct value *fortran;

	if (!pickle_numpy_is_tuple(state, 4) || pickle_numpy_at(state,
	    first)->kind != VALUE_TUPLE || pickle_numpy_at(state,
	    first + 1)->kind != VALUE_DTYPE)
		return "an array whose state is not (version, shape, type, "
		    "order, bytes)";
	fortran = pickle_numpy_at(state, first + 2);
	if (fortran->kind != VALUE_BOOL && fortran->kind != VALUE_INT)
		return "an array without order";
	return pickle_numpy_set_array(p, v, pickle_numpy_at(state, first),
	    pickle_numpy_at(state, first + 1), fortran->u.i != 0,
	    pickle_numpy_at(state, first + 3));
}

const char *
pickle_numpy_from_buffer(const struct pickle *p, const struct value *args,
    struct value *to)
{
	if (!pickle_numpy_is_tuple(args, 4) || pickle_numpy_at(args, 1)->kind !=
	    VALUE_DTYPE || pickle_numpy_at(args, 2)->kind != VALUE_TUPLE)
		return "an array that is not (buffer, type, shape, order)";
	return pickle_numpy_set_array(p, to, pickle_numpy_at(args, 2),
	    pickle_numpy_at(args, 1), value_is(pickle_numpy_at(args, 3), "F"),
	    pickle_numpy_at(args, 0));
}

const char *
pickle_numpy_build(const struct pickle *p, struct value *v,
const struct value *state)
{
	return v->kind == VALUE_DTYPE ? pickle_numpy_set_dtype(v, state) :
	    v->kind == VALUE_ARRAY ? pickle_numpy_set_state(p, v, state) : NULL;
}
