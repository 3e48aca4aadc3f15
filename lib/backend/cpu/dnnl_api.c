/* The two C APIs of oneDNN, 2.x and 3.x, behind one interface (dnnl_api.h). */
#include <string.h>

#include "backend/cpu/dnnl_api.h"

#if DNNL_VERSION_MAJOR >= 3

layout_ref
dnnl_layout_of(const layout *l)
{
	return *l;
}

void
dnnl_layout_free(layout *l)
{
	if (*l != NULL)
		dnnl_memory_desc_destroy(*l);
	*l = NULL;
}

int
dnnl_describe(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
    const struct dnnl_pass *c)
{
	static const dnnl_dims_t dense = { 0 };
	layout_ref bias = c->b != NULL ? *c->b : NULL;

	switch (c->pass) {
	case CONV_FORWARD:
		return dnnl_convolution_forward_primitive_desc_create(pd,
		    engine, dnnl_forward_training, dnnl_convolution_direct,
		    *c->x,
		    *c->w, bias, *c->y, c->s, dense, c->p, c->end, c->attr);
	case CONV_DATA:
		return dnnl_convolution_backward_data_primitive_desc_create(pd,
		    engine, dnnl_convolution_direct, *c->x, *c->w, *c->y,
		    c->s, dense, c->p, c->end, c->hint, c->attr);
	default:
		return dnnl_convolution_backward_weights_primitive_desc_create(
		    pd, engine, dnnl_convolution_direct, *c->x, *c->w, bias,
		    *c->y, c->s, dense, c->p, c->end, c->hint, c->attr);
	}
}

#else

layout_ref
dnnl_layout_of(const layout *l)
{
	return l;
}

dnnl_status_t
dnnl_layout_copy(layout *l, layout_ref from)
{
	*l = *from;
	return dnnl_success;
}

void
dnnl_layout_free(layout *l)
{
	(void)l;
}

int
dnnl_describe(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
    const struct dnnl_pass *c)
{
	dnnl_convolution_desc_t d;
	int bad;

	switch (c->pass) {
	case CONV_FORWARD:
		bad = dnnl_convolution_forward_desc_init(&d,
		    dnnl_forward_training, dnnl_convolution_direct, c->x,
		    c->w, c->b, c->y, c->s, c->p, c->end);
		break;
	case CONV_DATA:
		bad = dnnl_convolution_backward_data_desc_init(&d,
		    dnnl_convolution_direct, c->x, c->w, c->y, c->s, c->p,
		    c->end);
		break;
	default:
		bad = dnnl_convolution_backward_weights_desc_init(&d,
		    dnnl_convolution_direct, c->x, c->w, c->b, c->y, c->s,
		    c->p, c->end);
	}
	return bad ? bad : (int)dnnl_primitive_desc_create(pd, &d, c->attr,
	    engine, c->hint);
}

#endif
