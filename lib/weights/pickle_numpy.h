#ifndef WEIGHTS_PICKLE_NUMPY_H
#define WEIGHTS_PICKLE_NUMPY_H

/*
 * numpy arrays in a pickle.  The pickle first creates an empty array and then
 * sets its shape, type and data with BUILD.  All functions return NULL, or the
 * static text of an error; "" if the arena is full.
 */

#include "weights/pickle.h"

/*
 * The functions below are called by pickle_call with the tuple ${args}; the
 * result goes to ${to}.
 *
 * pickle_numpy_array(p, args, to):
 * numpy's _reconstruct(class, shape, dtype): make a VALUE_ARRAY.  A subclass of
 * numpy.ndarray gives a VALUE_OTHER.
 */
const char *pickle_numpy_array(const struct pickle *p, const struct value *args,
    struct value *to);

/*
 * pickle_numpy_dtype(p, args, to):
 * numpy.dtype(name, ...): make a VALUE_DTYPE, little-endian until BUILD sets
 * its byte order.
 */
const char *pickle_numpy_dtype(const struct pickle *p, const struct value *args,
    struct value *to);

/*
 * pickle_numpy_encode(p, args, to):
 * _codecs.encode(text, "latin1"), which is how Python 3 writes bytes in
 * protocol 2: make a VALUE_TEXT of the bytes.  Another encoding gives a
 * VALUE_OTHER.
 */
const char *pickle_numpy_encode(const struct pickle *p,
    const struct value *args, struct value *to);

/*
 * pickle_numpy_no_bytes(p, args, to):
 * bytes(): make an empty VALUE_BYTES.  With arguments, make a VALUE_OTHER.
 */
const char *pickle_numpy_no_bytes(const struct pickle *p,
    const struct value *args, struct value *to);

/*
 * pickle_numpy_from_buffer(p, args, to):
 * numpy's _frombuffer(buffer, dtype, shape, order), by which protocol 5 writes
 * an array: make a VALUE_TENSOR as pickle_numpy_build does.
 */
const char *pickle_numpy_from_buffer(const struct pickle *p,
    const struct value *args, struct value *to);

/*
 * pickle_numpy_build(p, v, state):
 * Apply __setstate__(state) to a VALUE_DTYPE or a VALUE_ARRAY; leave any other
 * value unchanged.  An array becomes a VALUE_TENSOR that points into the
 * pickle, or a VALUE_OTHER if no weight has its element type.
 */
const char *pickle_numpy_build(const struct pickle *p, struct value *v,
    const struct value *state);

#endif
