#ifndef WEIGHTS_PICKLE_H
#define WEIGHTS_PICKLE_H

/*
 * Python's pickles, as torch.save and caffe2 write them, read by an interpreter
 * that executes nothing: a pickle is a program whose opcodes build objects, and in
 * Python some of them import and call whatever the file names.  Here the
 * opcodes are a closed table, what is called is a closed table too, and an
 * object of any other class is a VALUE_OTHER, which holds nothing.
 *
 * The opcodes are those that protocol 2 of PyTorch writes, and what Python 2,
 * numpy and metadata add to them (Python's Lib/pickletools.py describes them all).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "weights/dtype.h"
#include "weights/heap.h"

enum value_kind {
	VALUE_NONE, VALUE_BOOL, VALUE_INT, VALUE_REAL, VALUE_TEXT,
	VALUE_BYTES,	/* where they lie in the file */
	VALUE_TUPLE, VALUE_LIST, VALUE_DICT, VALUE_CLASS,
	VALUE_STORAGE,	/* numbers, which lie elsewhere in the file */
	VALUE_TENSOR,	/* a view of a storage, or an array of numpy's */
	VALUE_DTYPE,	/* of numpy */
	VALUE_ARRAY,	/* of numpy, before it has numbers */
	VALUE_OTHER	/* of a class that is not known */
};

enum { TENSOR_DIMS = 8 };		/* at most */

/* torch.FloatStorage and its kin, by the persistent id; or what an array of
 * numpy's has of its own. */
struct storage {
	const char *key;		/* what the file calls its numbers */
	const unsigned char *data;	/* they are here; NULL: elsewhere */
	enum dtype type;
	int64_t count;
	int64_t first, view;		/* legacy: a part of them; view < 0:
					 * all */
};

/* torch._utils._rebuild_tensor_v2: strides and offset count numbers. */
struct view {
	const struct storage *storage;
	int64_t offset;
	int ndim;
	int64_t dim[TENSOR_DIMS], stride[TENSOR_DIMS];
};

struct value {
	enum value_kind kind;
	union {
		int64_t i;		/* of a bool, too */
		double r;
		/* Of a text, s[n] is 0; of bytes, nobody knows. */
		struct { const char *s; size_t n; } text;
		struct {		/* a dict: key, value, key, value */
			struct value **item;
			size_t n, cap;
		} of;
		const char *name;	/* a class: "collections.OrderedDict" */
		struct { const char *name; char order; } dtype;	/* "f4", '<' */
		struct storage *storage;
		struct view *tensor;
	} u;
};

/* All storages that a pickle names, each key once. */
struct storages {
	struct names *keys;		/* and their numbers */
	struct storage **item;
	size_t cap;
};

/* Where a pickle lies, and what is read from it. */
struct pickle {
	const char *path;		/* for messages, as they show it */
	size_t base;			/* offset in the file, for messages */
	const unsigned char *data;
	size_t n;
	struct heap *heap;		/* all values are in it */
	struct names *unknown;		/* classes that were passed over */
	struct storages *storages;
};

/*
 * pickle_load(p, used, to): the object of the pickle that begins at p->data,
 * into ${*to}, and how many bytes it takes into ${*used}.  0; -2 after a
 * message with the offset and the opcode: damaged, not allowed, or larger than
 * the heap.
 */
int pickle_load(const struct pickle *p, size_t *used, struct value **to);

/*
 * value_get(dict, key): the last value of that text; NULL without a message,
 * also where ${dict} is none.
 */
struct value *value_get(const struct value *dict, const char *key);

/* value_is(v, text): 1 if it is that text. */
int value_is(const struct value *v, const char *text);

#endif
