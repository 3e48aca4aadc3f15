#ifndef WEIGHTS_DTYPE_H
#define WEIGHTS_DTYPE_H

/*
 * Element types of stored tensors, under the names of safetensors, and
 * conversion of stored values to fp32.  Stored values are little-endian and
 * need not be aligned.
 */

#include <stddef.h>

enum dtype {
	DTYPE_U8, DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16, DTYPE_I8,
	DTYPE_I16, DTYPE_I32, DTYPE_I64, DTYPE_BOOL, DTYPES,
	DTYPE_OTHER = DTYPES		/* of a tensor that cannot be used */
};

/*
 * dtype_name(type):
 * Return the name that safetensors uses, such as "F32".  It is static.
 */
const char *dtype_name(enum dtype type);

/* dtype_bytes(type): Return the size of one element, 1 to 8 bytes; 1 of
 * DTYPE_OTHER. */
size_t dtype_bytes(enum dtype type);

/*
 * dtype_of(name, type):
 * Set ${*type} to the type called ${name} (NULL: unknown).  Return 0, or -1
 * without a message if the name is unknown; ${*type} is then unchanged.
 */
int dtype_of(const char *name, enum dtype *type);

/*
 * dtype_names():
 * Return the list of all names, "U8, F32, ... or BOOL", for messages.  It is
 * static.
 */
const char *dtype_names(void);

/*
 * dtype_floats(type, from, step, n, to):
 * Convert ${n} elements to the nearest fp32 values in ${to}[n].  The first
 * element is at ${from}, each following one ${step} bytes further (0 and
 * negative steps are allowed).
 */
void dtype_floats(enum dtype type, const void *from, ptrdiff_t step, size_t n,
    float *to);

#endif
