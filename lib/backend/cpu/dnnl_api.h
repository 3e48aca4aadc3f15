#ifndef BACKEND_CPU_DNNL_API_H
#define BACKEND_CPU_DNNL_API_H

/*
 * What differs between oneDNN's two C APIs, for dnnl*.c alone.  2.x:
 * descriptors are structs, and an operation descriptor comes before the
 * primitive descriptor.  3.x: descriptors are handles and the middle step is
 * gone.  A ${layout} is freed with layout_free; a ${layout_ref} is only read.
 * What returns int returns 0 when it worked.
 */

#include <oneapi/dnnl/dnnl.h>

#include "backend/cpu/dnnl.h"

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t layout;
typedef const_dnnl_memory_desc_t layout_ref;
#else
typedef dnnl_memory_desc_t layout;
typedef const dnnl_memory_desc_t *layout_ref;
#endif

layout_ref layout_of(const layout *l);
int layout_make(layout *l, int n, const dnnl_dims_t d, dnnl_data_type_t type,
    dnnl_format_tag_t tag);
int layout_strided(layout *l, int n, const dnnl_dims_t d,
    dnnl_data_type_t type, const dnnl_dims_t strides);
int layout_copy(layout *l, layout_ref from);

/* The elements of ${from} that begin at ${at}: ${d} of them each way. */
int layout_part(layout *l, layout_ref from, const dnnl_dims_t d,
    const dnnl_dims_t at);
void layout_free(layout *l);

/* Everything that one pass of a convolution is described by. */
struct convolution {
	enum conv_pass pass;
	const layout *x, *w, *b, *y;	/* b: NULL without bias */
	dnnl_dims_t s, p, end;		/* strides; padding before and after */
	const_dnnl_primitive_attr_t attr;
	const_dnnl_primitive_desc_t hint;	/* forward; gradients need it */
};

int describe(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
    const struct convolution *c);

#endif
