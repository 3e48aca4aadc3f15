#ifndef BACKEND_CPU_DNNL_API_H
#define BACKEND_CPU_DNNL_API_H

/*
 * One interface to the two C APIs of oneDNN, for dnnl*.c only.  In 2.x,
 * descriptors are structs, and an operation descriptor precedes the primitive
 * descriptor.  In 3.x, descriptors are handles and there is no operation
 * descriptor.
 *
 * A ${layout} is a memory descriptor, freed with dnnl_layout_free.  A
 * ${layout_ref} borrows one.  These create a layout ${l}, and return 0 or, on
 * failure, another value without a message:
 *
 * dnnl_layout_make(l, n, d, type, tag)
 *		n dimensions d, by a format tag
 * dnnl_layout_strided(l, n, d, type, strides)
 *		likewise, with strides in elements
 * dnnl_layout_copy(l, from)
 *		a copy of another one
 * dnnl_layout_part(l, from, d, at)
 *		the d elements of another one that begin at index at
 */

#include <oneapi/dnnl/dnnl.h>

#include "backend/cpu/dnnl.h"

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t layout;
typedef const_dnnl_memory_desc_t layout_ref;
#define dnnl_layout_make dnnl_memory_desc_create_with_tag
#define dnnl_layout_strided dnnl_memory_desc_create_with_strides
#define dnnl_layout_copy dnnl_memory_desc_clone
#define dnnl_layout_part dnnl_memory_desc_create_submemory
#else
typedef dnnl_memory_desc_t layout;
typedef const dnnl_memory_desc_t *layout_ref;
#define dnnl_layout_make dnnl_memory_desc_init_by_tag
#define dnnl_layout_strided dnnl_memory_desc_init_by_strides
#define dnnl_layout_part dnnl_memory_desc_init_submemory
dnnl_status_t dnnl_layout_copy(layout *l, layout_ref from);
#endif

/*
 * dnnl_layout_of(l): return ${l} as an argument for oneDNN, valid as long as
 * ${l}.
 */
layout_ref dnnl_layout_of(const layout *l);

/* dnnl_layout_free(l): free ${l}; a zeroed one is allowed. */
void dnnl_layout_free(layout *l);

/* The description of one pass of a convolution. */
struct dnnl_pass {
	enum conv_kind pass;
	const layout *x, *w, *b, *y;	/* b: NULL without bias */
	dnnl_dims_t s, p, end;		/* strides; padding before, after */
	const_dnnl_primitive_attr_t attr;
	const_dnnl_primitive_desc_t hint;	/* forward pass; gradients need
						 * it */
};

/*
 * dnnl_describe(pd, engine, c):
 * Create the primitive descriptor of the pass ${c}.  The caller destroys it.
 * Return 0, or another value on failure, without a message.
 */
int dnnl_describe(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
    const struct dnnl_pass *c);

#endif
