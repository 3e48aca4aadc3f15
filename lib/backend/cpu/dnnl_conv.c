/*
 * Convolutions as primitives of oneDNN: one pass, with a primitive for each
 * call (dnnl.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl_conv.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"

/* ---- describing a pass ---- */

static dnnl_format_tag_t
dnnl_conv_activation_tag(const struct dnnl_shape *s, int pixels)
{
	if (s->bf16)
		return dnnl_nhwc;
	if (pixels)
		return dnnl_nchw;
	return cpu_lanes() == 16 ? dnnl_nChw16c : dnnl_nChw8c;
}

int
dnnl_weight_dims(const struct dnnl_shape *s, dnnl_dims_t d)
{
	int n = 0;

	if (s->groups > 1)
		d[n++] = s->groups;
	d[n++] = s->out / s->groups;
	d[n++] = s->in / s->groups;
	d[n++] = s->k[0];
	d[n++] = s->k[1];
	return n;
}

/*
 * oneDNN's own scratchpad is one buffer for all threads, so each call gets one.
 */
static dnnl_primitive_attr_t
dnnl_conv_attributes(const struct conv_call *k)
{
	dnnl_primitive_attr_t attr = NULL;
	dnnl_post_ops_t sum = NULL;

	dnnl_primitive_attr_create(&attr);
	dnnl_primitive_attr_set_scratchpad_mode(attr,
	    dnnl_scratchpad_mode_user);
	if (k->more) {
		dnnl_post_ops_create(&sum);
#if DNNL_VERSION_MAJOR >= 3
		dnnl_post_ops_append_sum(sum, 1, 0, dnnl_data_type_undef);
#else
		dnnl_post_ops_append_sum(sum, 1);
#endif
		dnnl_primitive_attr_set_post_ops(attr, sum);
		dnnl_post_ops_destroy(sum);
	}
	return attr;
}

/*
 * Create the primitive descriptor of a call.  The first call lets oneDNN choose
 * the order of the weights, and the others must use that order.
 */
static int
dnnl_conv_describe_call(struct dnnl_conv *c, const struct conv_call *k,
    dnnl_primitive_desc_t *pd)
{
	dnnl_primitive_attr_t attr = dnnl_conv_attributes(k);
	const struct dnnl_shape *s = &c->s;
	const dnnl_data_type_t type = s->bf16 ? dnnl_bf16 : dnnl_f32;
	const dnnl_dims_t x = { k->images, s->in, k->in_h, s->in_w };
	const dnnl_dims_t y = { k->images, s->out, k->out_h, s->out_w };
	const dnnl_dims_t bias = { s->out };
	int bad, with_bias = s->bias && c->pass == CONV_FORWARD && !k->more;
	int bottom = (k->out_h - 1) * s->s[0] + s->k[0] - k->top - k->in_h;
	layout l[4] = { 0 }, any = { 0 };
	dnnl_primitive_desc_t hint = NULL;
	dnnl_dims_t w;
	int n = dnnl_weight_dims(s, w);
	struct dnnl_pass v = { .pass = CONV_FORWARD, .x = &l[X], .w = &any,
		.y = &l[Y], .b = with_bias ? &l[BIAS] : NULL,
		.s = { s->s[0], s->s[1] }, .p = { k->top, s->p[1] },
		.end = { bottom > 0 ? bottom : 0, s->p[1] },
		.attr = attr };

	bad = dnnl_layout_make(&l[X], 4, x, type,
	    dnnl_conv_activation_tag(s, s->pixels)) ||
	    dnnl_layout_make(&l[Y], 4, y, type,
	    dnnl_conv_activation_tag(s, 0)) ||
	    dnnl_layout_make(&any, n, w, type, dnnl_format_tag_any) ||
	    dnnl_layout_make(&l[BIAS], 1, bias, dnnl_f32, dnnl_x) ||
	    (c->calls > 0 ? dnnl_layout_copy(&l[W], dnnl_layout_of(&c->w)) :
	    dnnl_layout_make(&l[W], n, w, c->pass == CONV_WEIGHTS ? dnnl_f32 :
	    type, dnnl_format_tag_any));
	/* Gradients require the descriptor of a forward pass as a hint. */
	if (!bad && c->pass != CONV_FORWARD)
		bad = dnnl_describe(&hint, c->dnnl->engine, &v);
	v.pass = c->pass;
	v.w = &l[W];
	v.hint = hint;
	if (!bad)
		bad = dnnl_describe(pd, c->dnnl->engine, &v);
	if (hint != NULL)
		dnnl_primitive_desc_destroy(hint);
	dnnl_primitive_attr_destroy(attr);
	for (int i = 0; i < 4; i++)
		dnnl_layout_free(&l[i]);
	dnnl_layout_free(&any);
	return bad;
}

static int
dnnl_conv_make_memories(struct dnnl_conv *c, struct dnnl_call *k,
    dnnl_primitive_desc_t pd)
{
	static const dnnl_query_t query[CONV_PASSES][MEMORIES] = {
		[CONV_FORWARD] = { dnnl_query_src_md, dnnl_query_weights_md,
		    dnnl_query_dst_md },
		[CONV_WEIGHTS] = { dnnl_query_src_md,
		    dnnl_query_diff_weights_md, dnnl_query_diff_dst_md },
		[CONV_DATA] = { dnnl_query_diff_src_md, dnnl_query_weights_md,
		    dnnl_query_diff_dst_md } };
	const dnnl_dims_t out = { c->s.out };
	layout bias = { 0 };
	int bad = dnnl_layout_make(&bias, 1, out, dnnl_f32, dnnl_x);
	size_t scratch;

	k->memory = xcalloc((size_t)c->dnnl->threads, sizeof(*k->memory));
	for (int t = 0; t < c->dnnl->threads; t++)
		for (int i = 0; i < MEMORIES && !bad; i++)
			bad = dnnl_memory_create(&k->memory[t][i],
			    i == BIAS ? dnnl_layout_of(&bias) :
			    dnnl_primitive_desc_query_md(pd, i == SCRATCH ?
			    dnnl_query_scratchpad_md : query[c->pass][i], 0),
			    c->dnnl->engine, DNNL_MEMORY_NONE);
	dnnl_layout_free(&bias);
	if (bad)
		return bad;
	scratch = dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(pd,
	    dnnl_query_scratchpad_md, 0));
	c->scratch = scratch > c->scratch ? scratch : c->scratch;
	return 0;
}

/* ---- a pass ---- */

struct dnnl_conv *
dnnl_conv_new(struct dnnl *d, const char *name, enum conv_kind pass,
    const struct dnnl_shape *s)
{
	struct dnnl_conv *c = xcalloc(1, sizeof(*c));

	c->dnnl = d;
	c->pass = pass;
	c->s = *s;
	snprintf(c->what, sizeof(c->what), "%s", name);
	return c;
}

/*
 * Return 1 if oneDNN would run its reference loops; ${*impl} receives the name
 * of its implementation.
 */
static int
dnnl_conv_is_plain(dnnl_primitive_desc_t pd, const char **impl)
{
	*impl = "?";
	dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0,
	    (void *)impl);
	return strncmp(*impl, "ref", 3) == 0;
}

/* Store the order of the weights of a first call. */
static int
dnnl_conv_set_order(struct dnnl_conv *c, dnnl_primitive_desc_t pd)
{
	layout_ref w = dnnl_primitive_desc_query_md(pd, c->pass ==
	    CONV_WEIGHTS ? dnnl_query_diff_weights_md : dnnl_query_weights_md,
	    0);

	c->weights = dnnl_memory_desc_get_size(w);
	return dnnl_layout_copy(&c->w, w);
}

int
dnnl_conv_has(struct dnnl *d, enum conv_kind pass, const struct dnnl_shape *s,
    const struct conv_call *call, int n)
{
	struct dnnl_conv c = { .dnnl = d, .pass = pass, .s = *s };
	int has = 1;

	dnnl_one_thread();
	for (int i = 0; i < n && has; i++) {
		dnnl_primitive_desc_t pd = NULL;
		const char *impl;

		if (dnnl_conv_describe_call(&c, &call[i], &pd) != 0) {
			has = 0;
			break;
		}
		has = !dnnl_conv_is_plain(pd, &impl) && (i == 0 ?
		    dnnl_conv_set_order(&c, pd) == 0 :
		    strcmp(impl, c.name) == 0);
		snprintf(c.name, sizeof(c.name), "%s", impl);
		c.calls = 1;	/* the others use its order */
		dnnl_primitive_desc_destroy(pd);
	}
	dnnl_layout_free(&c.w);
	return has;
}

static int
dnnl_conv_make_call(struct dnnl_conv *c, struct dnnl_call *k)
{
	static const char *const what[] = { "forward pass", "weight gradient",
		"data gradient" };
	dnnl_primitive_desc_t pd = NULL;
	const char *impl;
	int bad;

	dnnl_one_thread();
	errno = 0;
	bad = dnnl_conv_describe_call(c, &k->what, &pd);
	if (!bad) {
		dnnl_conv_is_plain(pd, &impl);
		snprintf(c->name, sizeof(c->name), "%s", impl);
		bad = dnnl_primitive_create(&k->prim, pd) ||
		    dnnl_conv_make_memories(c, k, pd);
		if (!bad && c->calls == 0)
			bad = dnnl_conv_set_order(c, pd) || dnnl_make_slices(c);
		dnnl_primitive_desc_destroy(pd);
	}
	/* oneDNN's statuses are not distinguished above; malloc sets errno. */
	if (bad && errno == ENOMEM)
		die(EXIT_FAILED, "%s: %s is out of memory", c->what,
		    dnnl_library());
	if (bad)
		return fail("%s: %s cannot make its %s", c->what,
		    dnnl_library(), what[c->pass]);
	return 0;
}

static void
dnnl_conv_destroy(dnnl_memory_t *m, int n)
{
	for (int i = 0; i < n; i++)
		if (m[i] != NULL)
			dnnl_memory_destroy(m[i]);
}

static void
dnnl_conv_free_call(const struct dnnl_conv *c, struct dnnl_call *k)
{
	for (int t = 0; t < c->dnnl->threads && k->memory != NULL; t++)
		dnnl_conv_destroy(k->memory[t], MEMORIES);
	free(k->memory);
	if (k->prim != NULL)
		dnnl_primitive_destroy(k->prim);
}

int
dnnl_conv_call(struct dnnl_conv *c, const struct conv_call *what)
{
	struct dnnl_call *k;

	for (size_t i = 0; i < c->calls; i++)
		if (memcmp(&c->call[i].what, what, sizeof(*what)) == 0)
			return (int)i;
	c->call = array_reserve(c->call, c->calls, &c->capacity,
	    sizeof(*c->call));
	k = &c->call[c->calls];
	*k = (struct dnnl_call){ .what = *what };
	if (dnnl_conv_make_call(c, k) != 0) {
		dnnl_conv_free_call(c, k);
		return -1;
	}
	return (int)c->calls++;
}

void
dnnl_conv_free(struct dnnl_conv *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->calls; i++)
		dnnl_conv_free_call(c, &c->call[i]);
	for (int i = 0; i < SLICES; i++) {
		dnnl_conv_destroy(&c->slice[i].outer, 1);
		dnnl_conv_destroy(&c->slice[i].inner, 1);
		if (c->slice[i].prim != NULL)
			dnnl_primitive_destroy(c->slice[i].prim);
	}
	dnnl_layout_free(&c->w);
	free(c->call);
	free(c);
}

struct dnnl_made
dnnl_conv_made(const struct dnnl_conv *c)
{
	return (struct dnnl_made){ c->weights, c->scratch, c->slices, c->name };
}

void
dnnl_conv_run(struct dnnl_conv *c, int thread, int call, void *const at[5])
{
	static const int names[CONV_PASSES][MEMORIES] = {
		{ DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS,
		    DNNL_ARG_SCRATCHPAD },
		{ DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, 0,
		    DNNL_ARG_SCRATCHPAD },
		{ DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST, 0,
		    DNNL_ARG_SCRATCHPAD } };
	dnnl_memory_t *m = c->call[call].memory[thread];
	dnnl_exec_arg_t args[MEMORIES];
	int n = 0;

	for (int i = 0; i < MEMORIES; i++) {
		if (at[i] == NULL || names[c->pass][i] == 0)
			continue;
		dnnl_memory_set_data_handle(m[i], at[i]);
		args[n++] = (dnnl_exec_arg_t){ names[c->pass][i], m[i] };
	}
	dnnl_execute(c->dnnl, c->call[call].prim, thread, n, args);
}

/* ---- matrices ---- */

void
dnnl_multiply(int ta, int tb, size_t m, size_t n, size_t k, const float *a,
    size_t lda, const float *b, size_t ldb, float *c, size_t ldc)
{
	dnnl_one_thread();
	/* The plan has checked the shapes, so a failure is a bug. */
	if (dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', (dnnl_dim_t)m,
	    (dnnl_dim_t)n, (dnnl_dim_t)k, 1, a, (dnnl_dim_t)lda, b,
	    (dnnl_dim_t)ldb, 0, c, (dnnl_dim_t)ldc) != dnnl_success)
		die(1, "oneDNN failed to multiply matrices");
}
