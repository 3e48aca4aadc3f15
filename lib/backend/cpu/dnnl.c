/* oneDNN: its engine and streams, and convolutions as primitives of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"
#include "backend/cpu/dnnl_api.h"
#include "base/fail.h"
#include "base/isa.h"
#include "base/mem.h"

#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP
extern void omp_set_num_threads(int n);
#endif

enum { X, W, Y, BIAS, SCRATCH, MEMORIES };
enum { CALLS = 8, SLICES = 8 };

/* Weights smaller than this are put into order by one thread, as a whole. */
enum { SLICE_LEAST = 32768 };

struct dnnl {
	dnnl_engine_t engine;
	int threads;
	dnnl_stream_t *stream;		/* [threads] */
};

/* The pass for one number of images, and the memories each thread runs on. */
struct call {
	int images, more;
	dnnl_primitive_t prim;
	dnnl_memory_t (*memory)[MEMORIES];	/* [threads] */
};

struct slice { dnnl_primitive_t prim; dnnl_memory_t outer, inner; };

struct dnnl_conv {
	struct dnnl *dnnl;
	enum conv_pass pass;
	struct conv_shape s;
	char what[64];			/* for messages */
	char name[64];			/* of the implementation */
	layout w;			/* the inner order; of the first call */
	int calls, slices;
	struct call call[CALLS];
	struct slice slice[SLICES];
	size_t weights, scratch;	/* bytes */
};

const char *
dnnl_version_text(void)
{
	static char text[32];
	const dnnl_version_t *v = dnnl_version();

	snprintf(text, sizeof(text), "%d.%d.%d", v->major, v->minor, v->patch);
	return text;
}

const char *
dnnl_library(void)
{
	static char text[48];

	snprintf(text, sizeof(text), "oneDNN %s", dnnl_version_text());
	return text;
}

static int
has(dnnl_cpu_isa_t isa)
{
	const unsigned bits = (unsigned)dnnl_get_effective_cpu_isa();

	return (bits & (unsigned)isa) == (unsigned)isa;
}

int
dnnl_has_amx(void)
{
	return has(dnnl_cpu_isa_avx512_core_amx);
}

const char *
dnnl_bf16_text(void)
{
	return dnnl_has_amx() ? "bf16 by AMX" :
	    has(dnnl_cpu_isa_avx512_core_bf16) ? "bf16 by avx512_bf16" :
	    "bf16 by fp32";
}

struct dnnl *
dnnl_open(int threads)
{
	struct dnnl *d = xcalloc(1, sizeof(*d));

	/* Keep the library to the instruction set that the layouts assume. */
	if (isa_best() == ISA_AVX2)
		dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
	else if (isa_best() == ISA_BASE)
		dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
	else if (!isa_amx())
		dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
	d->stream = xcalloc((size_t)threads, sizeof(*d->stream));
	if (dnnl_engine_create(&d->engine, dnnl_cpu, 0) != dnnl_success) {
		fail("oneDNN %s has no CPU engine", dnnl_version_text());
		goto err;
	}
	for (; d->threads < threads; d->threads++)
		if (dnnl_stream_create(&d->stream[d->threads], d->engine,
		    dnnl_stream_default_flags) != dnnl_success) {
			fail("oneDNN %s has no stream", dnnl_version_text());
			goto err;
		}
	return d;
err:
	dnnl_close(d);
	return NULL;
}

void
dnnl_close(struct dnnl *d)
{
	while (d->threads > 0)
		dnnl_stream_destroy(d->stream[--d->threads]);
	free(d->stream);
	if (d->engine != NULL)
		dnnl_engine_destroy(d->engine);
	free(d);
}

/* The library must start no threads of its own: the pool is ours. */
static void
one_thread(void)
{
#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP
	omp_set_num_threads(1);
#endif
}

/*
 * Everything was checked when it was made: an execution that fails is a
 * mistake of ours, and nothing after it would be right.
 */
static void
execute(struct dnnl *d, dnnl_primitive_t prim, int thread, int n,
    const dnnl_exec_arg_t *args)
{
	dnnl_stream_t s = d->stream[thread];

	one_thread();
	if (dnnl_primitive_execute(prim, s, n, args) != dnnl_success ||
	    dnnl_stream_wait(s) != dnnl_success)
		die(1, "oneDNN %s failed to run", dnnl_version_text());
}

/* ---- what a pass is described by ---- */

static dnnl_format_tag_t
activation_tag(const struct conv_shape *s, int channels)
{
	if (s->bf16)
		return dnnl_nhwc;
	if (channels <= 3)
		return dnnl_nchw;
	return cpu_lanes() == 16 ? dnnl_nChw16c : dnnl_nChw8c;
}

/* Dimensions of the weights: [group][out][in][h][w], without groups less one. */
static int
weight_dims(const struct conv_shape *s, dnnl_dims_t d)
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

/* The outer order; a gradient and the master weights are fp32. */
static int
outer_layout(layout *l, const struct conv_shape *s)
{
	dnnl_dims_t d, step;
	int n = weight_dims(s, d);

	step[n - 1] = 1;
	step[n - 2] = s->k[1];
	step[n - 3] = s->in_step;
	step[n - 4] = s->out_step;
	if (s->groups > 1)
		step[0] = (dnnl_dim_t)s->out_step * (s->out / s->groups);
	return layout_strided(l, n, d, dnnl_f32, step);
}

/*
 * The primitive descriptor of the pass; the first call leaves the order of the
 * weights to the library, the others must take them as they lie.
 */
static int
describe_call(struct dnnl_conv *c, int images, int more,
    const_dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *pd)
{
	const struct conv_shape *s = &c->s;
	const dnnl_data_type_t type = s->bf16 ? dnnl_bf16 : dnnl_f32;
	const dnnl_dims_t x = { images, s->in, s->in_h, s->in_w };
	const dnnl_dims_t y = { images, s->out, s->out_h, s->out_w };
	const dnnl_dims_t bias = { s->out };
	int bad, with_bias = s->bias && c->pass == CONV_FORWARD && !more;
	layout l[4] = { 0 }, any = { 0 };
	dnnl_primitive_desc_t hint = NULL;
	dnnl_dims_t w;
	int n = weight_dims(s, w);
	struct convolution v = { .pass = CONV_FORWARD, .x = &l[X], .w = &any,
		.y = &l[Y], .b = with_bias ? &l[BIAS] : NULL,
		.s = { s->s[0], s->s[1] }, .p = { s->p[0], s->p[1] },
		.attr = attr };

	bad = layout_make(&l[X], 4, x, type, activation_tag(s, s->in)) ||
	    layout_make(&l[Y], 4, y, type, activation_tag(s, s->out)) ||
	    layout_make(&any, n, w, type, dnnl_format_tag_any) ||
	    layout_make(&l[BIAS], 1, bias, dnnl_f32, dnnl_x) ||
	    (c->calls > 0 ? layout_copy(&l[W], layout_of(&c->w)) :
	    layout_make(&l[W], n, w, c->pass == CONV_WEIGHTS ? dnnl_f32 : type,
	    dnnl_format_tag_any));
	if (!bad && c->pass != CONV_FORWARD)
		bad = describe(&hint, c->dnnl->engine, &v);
	v.pass = c->pass;
	v.w = &l[W];
	v.hint = hint;
	if (!bad)
		bad = describe(pd, c->dnnl->engine, &v);
	if (hint != NULL)
		dnnl_primitive_desc_destroy(hint);
	for (int i = 0; i < 4; i++)
		layout_free(&l[i]);
	layout_free(&any);
	return bad;
}

static int
make_memories(struct dnnl_conv *c, struct call *k, dnnl_primitive_desc_t pd)
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
	int bad = layout_make(&bias, 1, out, dnnl_f32, dnnl_x);
	size_t scratch;

	k->memory = xcalloc((size_t)c->dnnl->threads, sizeof(*k->memory));
	for (int t = 0; t < c->dnnl->threads; t++)
		for (int i = 0; i < MEMORIES && !bad; i++)
			bad = dnnl_memory_create(&k->memory[t][i],
			    i == BIAS ? layout_of(&bias) :
			    dnnl_primitive_desc_query_md(pd, i == SCRATCH ?
			    dnnl_query_scratchpad_md : query[c->pass][i], 0),
			    c->dnnl->engine, DNNL_MEMORY_NONE);
	layout_free(&bias);
	if (bad)
		return bad;
	scratch = dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(pd,
	    dnnl_query_scratchpad_md, 0));
	c->scratch = scratch > c->scratch ? scratch : c->scratch;
	return 0;
}

/* ---- the order of the weights ---- */

/* Channels ${from} to ${to}, or groups, of the reorder. */
static int
make_slice(struct dnnl_conv *c, struct slice *s, layout_ref outer, int from,
    int to)
{
	layout part[2] = { 0 };
	layout_ref a, b;
	dnnl_primitive_desc_t pd;
	dnnl_dims_t d, at = { from };
	int bad;

	weight_dims(&c->s, d);
	d[0] = to - from;
	bad = layout_part(&part[0], outer, d, at) ||
	    layout_part(&part[1], layout_of(&c->w), d, at);
	a = layout_of(&part[0]);
	b = layout_of(&part[1]);
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
	layout_free(&part[0]);
	layout_free(&part[1]);
	return bad;
}

static int
make_slices(struct dnnl_conv *c)
{
	dnnl_dims_t d;
	/* In bf16 the library's blocks are 16, 32, 48 or 64 channels. */
	int lanes = c->s.bf16 ? 192 : cpu_lanes(), blocks, bad;
	int n = weight_dims(&c->s, d);
	size_t count = 1;
	layout outer = { 0 };

	for (int i = 0; i < n; i++)
		count *= (size_t)d[i];
	blocks = (int)((d[0] + lanes - 1) / lanes);
	c->slices = count < SLICE_LEAST ? 1 : c->dnnl->threads < SLICES ?
	    c->dnnl->threads : SLICES;
	c->slices = c->slices < blocks ? c->slices : blocks;
	bad = outer_layout(&outer, &c->s);
	for (int i = 0; i < c->slices && !bad; i++) {
		int to = blocks * (i + 1) / c->slices * lanes;

		bad = make_slice(c, &c->slice[i], layout_of(&outer),
		    blocks * i / c->slices * lanes, to < d[0] ? to : (int)d[0]);
	}
	layout_free(&outer);
	return bad;
}

int
dnnl_conv_slices(const struct dnnl_conv *c)
{
	return c->slices;
}

int
dnnl_conv_same_order(const struct dnnl_conv *a, const struct dnnl_conv *b)
{
	return dnnl_memory_desc_equal(layout_of(&a->w), layout_of(&b->w));
}

void
dnnl_conv_order(struct dnnl_conv *c, int thread, int slice, float *outer,
    void *inner)
{
	struct slice *s = &c->slice[slice];
	int out = c->pass == CONV_WEIGHTS;

	dnnl_memory_set_data_handle(s->outer, outer);
	dnnl_memory_set_data_handle(s->inner, inner);
	execute(c->dnnl, s->prim, thread, 2, (dnnl_exec_arg_t[]){
	    { out ? DNNL_ARG_TO : DNNL_ARG_FROM, s->outer },
	    { out ? DNNL_ARG_FROM : DNNL_ARG_TO, s->inner } });
}

/* ---- a pass ---- */

struct dnnl_conv *
dnnl_conv_new(struct dnnl *d, const char *name, enum conv_pass pass,
    const struct conv_shape *s)
{
	struct dnnl_conv *c = xcalloc(1, sizeof(*c));

	c->dnnl = d;
	c->pass = pass;
	c->s = *s;
	snprintf(c->what, sizeof(c->what), "%s", name);
	return c;
}

/* Is what the library would run its own plain loops? */
static int
is_plain(dnnl_primitive_desc_t pd, const char **impl)
{
	*impl = "?";
	dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0,
	    (void *)impl);
	return strncmp(*impl, "ref", 3) == 0;
}

int
dnnl_conv_has(struct dnnl *d, enum conv_pass pass, const struct conv_shape *s)
{
	struct dnnl_conv c = { .dnnl = d, .pass = pass, .s = *s };
	dnnl_primitive_desc_t pd = NULL;
	const char *impl;
	int has;

	one_thread();
	if (describe_call(&c, 1, 0, NULL, &pd) != 0)
		return 0;
	has = !is_plain(pd, &impl);
	dnnl_primitive_desc_destroy(pd);
	return has;
}

static int
make_call(struct dnnl_conv *c, struct call *k, int images, int more)
{
	static const char *const what[] = { "forward pass", "weight gradient",
		"data gradient" };
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_attr_t attr = NULL;
	dnnl_post_ops_t sum = NULL;
	const char *impl;
	int bad, plain;

	one_thread();
	k->images = images;
	k->more = more;
	/* Scratch is given at each call: the library's own is one buffer. */
	dnnl_primitive_attr_create(&attr);
	dnnl_primitive_attr_set_scratchpad_mode(attr,
	    dnnl_scratchpad_mode_user);
	if (more) {
		dnnl_post_ops_create(&sum);
#if DNNL_VERSION_MAJOR >= 3
		dnnl_post_ops_append_sum(sum, 1, 0, dnnl_data_type_undef);
#else
		dnnl_post_ops_append_sum(sum, 1);
#endif
		dnnl_primitive_attr_set_post_ops(attr, sum);
		dnnl_post_ops_destroy(sum);
	}
	bad = describe_call(c, images, more, attr, &pd);
	dnnl_primitive_attr_destroy(attr);
	if (bad)
		return fail("%s: oneDNN %s has no %s for %d to %d channels in "
		    "%d groups, %dx%d kernel, stride %d", c->what,
		    dnnl_version_text(), what[c->pass], c->s.in, c->s.out,
		    c->s.groups, c->s.k[0], c->s.k[1], c->s.s[0]);
	plain = is_plain(pd, &impl);
	snprintf(c->name, sizeof(c->name), "%s", impl);
	if (plain) {
		bad = fail("%s: oneDNN %s would run the %s by plain loops (%s), "
		    "far too slow", c->what, dnnl_version_text(),
		    what[c->pass], impl);
		goto out;
	}
	bad = dnnl_primitive_create(&k->prim, pd) || make_memories(c, k, pd);
	if (!bad && c->calls == 0) {
		layout_ref w = dnnl_primitive_desc_query_md(pd,
		    c->pass == CONV_WEIGHTS ? dnnl_query_diff_weights_md :
		    dnnl_query_weights_md, 0);

		c->weights = dnnl_memory_desc_get_size(w);
		bad = layout_copy(&c->w, w) || make_slices(c);
	}
	if (bad)
		bad = fail("%s: oneDNN %s cannot make its %s", c->what,
		    dnnl_version_text(), what[c->pass]);
out:
	dnnl_primitive_desc_destroy(pd);
	return bad;
}

int
dnnl_conv_call(struct dnnl_conv *c, int images, int more)
{
	for (int i = 0; i < c->calls; i++)
		if (c->call[i].images == images && c->call[i].more == more)
			return i;
	if (c->calls == CALLS)
		return fail("%s: more than %d sizes of a call", c->what, CALLS);
	if (make_call(c, &c->call[c->calls], images, more) != 0)
		return -1;
	return c->calls++;
}

static void
destroy(dnnl_memory_t *m, int n)
{
	for (int i = 0; i < n; i++)
		if (m[i] != NULL)
			dnnl_memory_destroy(m[i]);
}

void
dnnl_conv_free(struct dnnl_conv *c)
{
	if (c == NULL)
		return;
	for (int i = 0; i < CALLS; i++) {
		struct call *k = &c->call[i];

		for (int t = 0; t < c->dnnl->threads && k->memory != NULL; t++)
			destroy(k->memory[t], MEMORIES);
		free(k->memory);
		if (k->prim != NULL)
			dnnl_primitive_destroy(k->prim);
	}
	for (int i = 0; i < SLICES; i++) {
		destroy(&c->slice[i].outer, 1);
		destroy(&c->slice[i].inner, 1);
		if (c->slice[i].prim != NULL)
			dnnl_primitive_destroy(c->slice[i].prim);
	}
	layout_free(&c->w);
	free(c);
}

size_t
dnnl_conv_weights(const struct dnnl_conv *c)
{
	return c->weights;
}

size_t
dnnl_conv_scratch(const struct dnnl_conv *c)
{
	return c->scratch;
}

const char *
dnnl_conv_name(const struct dnnl_conv *c)
{
	return c->name;
}

void
dnnl_conv_run(struct dnnl_conv *c, int thread, int call, void *x, void *w,
    void *b, void *y, void *scratch)
{
	static const int names[CONV_PASSES][MEMORIES] = {
		{ DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS,
		    DNNL_ARG_SCRATCHPAD },
		{ DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, 0,
		    DNNL_ARG_SCRATCHPAD },
		{ DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST, 0,
		    DNNL_ARG_SCRATCHPAD } };
	void *const at[MEMORIES] = { x, w, y, b, scratch };
	dnnl_memory_t *m = c->call[call].memory[thread];
	dnnl_exec_arg_t args[MEMORIES];
	int n = 0;

	for (int i = 0; i < MEMORIES; i++) {
		if (at[i] == NULL || names[c->pass][i] == 0)
			continue;
		dnnl_memory_set_data_handle(m[i], at[i]);
		args[n++] = (dnnl_exec_arg_t){ names[c->pass][i], m[i] };
	}
	execute(c->dnnl, c->call[call].prim, thread, n, args);
}
