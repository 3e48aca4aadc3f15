#ifndef WEIGHTS_PICKLE_H
#define WEIGHTS_PICKLE_H

/*
 * A reader of Python pickles as torch.save and caffe2 write them.  It executes
 * nothing.  A pickle is a program whose opcodes build objects; in Python, some
 * opcodes import and call whatever the file names.  Here both the opcodes and
 * the callable names are closed tables.  An object of any other class becomes a
 * VALUE_OTHER, which holds no data.
 *
 * The opcodes are those that build constants, containers and objects, of
 * protocols 2 to 5; those of protocols 0 and 1 and of extension registries are
 * refused.  Source: Python's Lib/pickletools.py
 * describes them all.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "weights/dtype.h"
#include "weights/arena.h"

enum value_kind {
	VALUE_NONE, VALUE_BOOL, VALUE_INT, VALUE_REAL, VALUE_TEXT,
	VALUE_BYTES,	/* point into the file */
	VALUE_TUPLE, VALUE_LIST, VALUE_DICT, VALUE_CLASS,
	VALUE_STORAGE,	/* names numbers stored elsewhere in the file */
	VALUE_TENSOR,	/* a view of a storage, or a numpy array */
	VALUE_DTYPE,	/* a numpy dtype */
	VALUE_ARRAY,	/* a numpy array without data yet */
	VALUE_OTHER	/* an object of an unknown class */
};

enum { TENSOR_DIMS = 8 };		/* at most */

/*
 * A storage: torch.FloatStorage and its kin, by persistent id, or the data of a
 * numpy array.
 */
struct storage {
	const char *key;		/* name of its data in the file */
	const unsigned char *data;	/* the data; NULL: look up ${key} */
	enum dtype type;
	int64_t count;
	int64_t first, view;		/* legacy format: the elements that
					 * belong to it; view < 0: all of
					 * them */
};

/*
 * A tensor, as torch._utils._rebuild_tensor_v2 takes it.  Offset and strides
 * count elements, not bytes.
 */
struct view {
	const struct storage *storage;
	int64_t offset;
	int ndim;
	int64_t dim[TENSOR_DIMS], stride[TENSOR_DIMS];
};

struct value {
	enum value_kind kind;
	union {
		int64_t i;		/* also of a bool: 0 or 1 */
		double r;
		/*
		 * A VALUE_TEXT ends with a zero byte at s[n]; a VALUE_BYTES
		 * does not.
		 */
		struct { const char *s; size_t n; } text;
		struct {		/* a dict stores key, value, key,
					 * value */
			struct value **item;
			size_t n, cap;
		} of;
		const char *name;	/* class name, such as
					 * "collections.OrderedDict" */
		struct { const char *name; char order; } dtype;	/* such as "f4",
								 * '<' */
		struct storage *storage;
		struct view *tensor;
	} u;
};

/* All storages that a pickle names, each key once. */
struct storages {
	struct names *keys;		/* index: position in ${item} */
	struct storage **item;
	size_t cap;
};

/* A pickle: its bytes, and the objects that collect what is read from it. */
struct pickle {
	const char *path;		/* for messages, already quoted */
	size_t base;			/* offset of ${data} in the file, for
					 * messages */
	const unsigned char *data;
	size_t n;
	struct arena *arena;		/* owns all values */
	struct names *unknown;		/* classes that became VALUE_OTHER */
	struct storages *storages;
};

/*
 * pickle_load(p, used, to):
 * Interpret the pickle that begins at p->data and ends within p->n bytes.  Set
 * ${*to} to its object and ${*used} to its length in bytes.
 * Return 0, or after a message with the offset and the opcode: -2 if the pickle
 * is damaged or needs more memory than the arena allows, -3 if it uses an
 * unsupported opcode or protocol.
 * The object lives in p->arena; texts and bytes may point into p->data.
 */
int pickle_load(const struct pickle *p, size_t *used, struct value **to);

/*
 * value_get(dict, key):
 * Return the value of ${key}; the last one if the key occurs twice, as in
 * Python.  Return NULL without a message if it is absent or ${dict} is not a
 * dict.
 */
struct value *value_get(const struct value *dict, const char *key);

/*
 * value_is(v, text):
 * Return 1 if ${v} is a VALUE_TEXT equal to ${text}, otherwise 0.
 */
int value_is(const struct value *v, const char *text);

#endif
