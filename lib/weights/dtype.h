#ifndef WEIGHTS_DTYPE_H
#define WEIGHTS_DTYPE_H

/*
 * What a stored number is, in the names of safetensors, and its value.
 * Everything is little-endian and may lie at any address.
 */

#include <stddef.h>

enum dtype {
	DTYPE_U8, DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16, DTYPE_I8,
	DTYPE_I16, DTYPE_I32, DTYPE_I64, DTYPE_BOOL, DTYPES
};

const char *dtype_name(enum dtype type);		/* "F32" */
size_t dtype_bytes(enum dtype type);

/* dtype_of(name, type): 0; -1 without a message if there is none such. */
int dtype_of(const char *name, enum dtype *type);

/* dtype_names(): "U8, F32 and so on", for messages. */
const char *dtype_names(void);

/*
 * dtype_floats(type, from, step, n, to): ${n} values, each ${step} bytes after
 * the one before, as the nearest floats.
 */
void dtype_floats(enum dtype type, const void *from, ptrdiff_t step, size_t n,
    float *to);

#endif
