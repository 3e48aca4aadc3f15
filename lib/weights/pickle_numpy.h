#ifndef WEIGHTS_PICKLE_NUMPY_H
#define WEIGHTS_PICKLE_NUMPY_H

/*
 * Arrays of numpy's in a pickle: an empty one is made, and then given its
 * shape, type and numbers.  All return NULL, what is wrong, or "": the heap is
 * full.
 */

#include "weights/pickle.h"

/* For pickle_call: _reconstruct(class, shape, type), dtype(name, ...),
 * encode(text, "latin1"), which is how Python 3 writes bytes in protocol 2, and
 * bytes(), which are none. */
const char *numpy_array(const struct pickle *p, const struct value *args,
    struct value *to);
const char *numpy_dtype(const struct pickle *p, const struct value *args,
    struct value *to);
const char *numpy_encode(const struct pickle *p, const struct value *args,
    struct value *to);
const char *numpy_no_bytes(const struct pickle *p, const struct value *args,
    struct value *to);

/*
 * numpy_build(p, v, state): what __setstate__ does to a dtype or an array;
 * nothing to any other value.  An array becomes a VALUE_TENSOR, or a
 * VALUE_OTHER if it is of a type that no weight has.
 */
const char *numpy_build(const struct pickle *p, struct value *v,
    const struct value *state);

#endif
