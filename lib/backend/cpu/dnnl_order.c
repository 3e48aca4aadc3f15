/*
 * Copies of weights between the order of the graph and that of oneDNN (dnnl.h).
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl_conv.h"

/* Fewer weights than this are copied by one thread. */
enum { SLICE_LEAST = 32768 };

/*
 * Create the layout of the outer order, always fp32: that of the parameters and
 * their gradients.
 */
static int
dnnl_order_outer_layout(layout *l, const struct dnnl_shape *s)
{
	dnnl_dims_t d, step;
	int n = dnnl_weight_dims(s, d);

	step[n - 1] = 1;
	step[n - 2] = s->k[1];
	step[n - 3] = s->in_step;
	step[n - 4] = s->out_step;
	if (s->groups > 1)
		step[0] = (dnnl_dim_t)s->out_step * (s->out / s->groups);
	return dnnl_layout_strided(l, n, d, dnnl_f32, step);
}

/* Create the reorder of output channels, or groups, ${from} to ${to}. */
static int
dnnl_order_make_slice(struct dnnl_conv *c, struct dnnl_slice *s,
    layout_ref outer, int from, int to)
{
	layout part[2] = { 0 };
	layout_ref a, b;
	dnnl_primitive_desc_t pd;
	dnnl_dims_t d, at = { from };
	int bad;

	dnnl_weight_dims(&c->s, d);
	d[0] = to - from;
	bad = dnnl_layout_part(&part[0], outer, d, at) ||
	    dnnl_layout_part(&part[1], dnnl_layout_of(&c->w), d, at);
	a = dnnl_layout_of(&part[0]);
	b = dnnl_layout_of(&part[1]);
	if (!bad && (bad = c->pass == CONV_WEIGHTS ?
	    dnnl_reorder_primitive_desc_create(&pd, b, c->dnnl->engine, a,
	    c->dnnl->engine, NULL) :
	    dnnl_reorder_primitive_desc_create(&pd, a, c->dnnl->engine, b,
	    c->dnnl->engine, NULL)) == 0) {
		bad = dnnl_primitive_create(&s->prim, pd) ||
		    dnnl_memory_create(&s->outer, a, c->dnnl->engine,
		    DNNL_MEMORY_NONE) ||
		    dnnl_memory_create(&s->inner, b, c->dnnl->engine,
		    DNNL_MEMORY_NONE);
		dnnl_primitive_desc_destroy(pd);
	}
	dnnl_layout_free(&part[0]);
	dnnl_layout_free(&part[1]);
	return bad;
}

int
dnnl_make_slices(struct dnnl_conv *c)
{
	dnnl_dims_t d;
	/*
	 * In bf16 the blocks of oneDNN are 16, 32, 48 or 64 channels, which
	 * divide 192.
	 */
	int lanes = c->s.bf16 ? 192 : cpu_lanes(), blocks, bad;
	int n = dnnl_weight_dims(&c->s, d);
	size_t count = 1;
	layout outer = { 0 };

	for (int i = 0; i < n; i++)
		count *= (size_t)d[i];
	blocks = (int)((d[0] + lanes - 1) / lanes);
	c->slices = count < SLICE_LEAST ? 1 : c->dnnl->threads < SLICES ?
	    c->dnnl->threads : SLICES;
	c->slices = c->slices < blocks ? c->slices : blocks;
	bad = dnnl_order_outer_layout(&outer, &c->s);
	for (int i = 0; i < c->slices && !bad; i++) {
		int to = blocks * (i + 1) / c->slices * lanes;

		bad = dnnl_order_make_slice(c, &c->slice[i],
		    dnnl_layout_of(&outer), blocks * i / c->slices * lanes,
		    to < d[0] ? to : (int)d[0]);
	}
	dnnl_layout_free(&outer);
	return bad;
}

int
dnnl_conv_same_order(const struct dnnl_conv *a, const struct dnnl_conv *b)
{
	return dnnl_memory_desc_equal(dnnl_layout_of(&a->w),
	    dnnl_layout_of(&b->w));
}

void
dnnl_conv_reorder(struct dnnl_conv *c, int thread, int slice, float *outer,
    void *inner)
{
	struct dnnl_slice *s = &c->slice[slice];
	int out = c->pass == CONV_WEIGHTS;

	dnnl_memory_set_data_handle(s->outer, outer);
	dnnl_memory_set_data_handle(s->inner, inner);
	dnnl_execute(c->dnnl, s->prim, thread, 2, (dnnl_exec_arg_t[]){
	    { out ? DNNL_ARG_TO : DNNL_ARG_FROM, s->outer },
	    { out ? DNNL_ARG_FROM : DNNL_ARG_TO, s->inner } });
}
