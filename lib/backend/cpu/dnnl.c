/* oneDNN behind one convolution: both of its C APIs, 2.x and 3.x. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"
#include "base/fail.h"
#include "base/isa.h"
#include "base/mem.h"

#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP
extern void omp_set_num_threads(int n);
#endif

/*
 * ---- what differs between the two APIs ----
 *
 * 2.x: descriptors are structs, and an operation descriptor comes before the
 * primitive descriptor.  3.x: descriptors are handles and the middle step is
 * gone.
 */
#if DNNL_VERSION_MAJOR >= 3

typedef dnnl_memory_desc_t layout;
typedef const_dnnl_memory_desc_t layout_ref;

static layout_ref
ref(const layout *l)
{
	return *l;
}

static int
layout_make(layout *l, int n, const dnnl_dims_t d, dnnl_format_tag_t tag)
{
	return dnnl_memory_desc_create_with_tag(l, n, d, dnnl_f32, tag);
}

static void
layout_free(layout *l)
{
	dnnl_memory_desc_destroy(*l);
}

static int
describe(dnnl_primitive_desc_t *pd, int pass, dnnl_engine_t engine,
    dnnl_alg_kind_t alg, const layout *x, const layout *w, const layout *b,
    const layout *y, const dnnl_dims_t s, const dnnl_dims_t p,
    const_dnnl_primitive_attr_t attr, const_dnnl_primitive_desc_t hint)
{
	static const dnnl_dims_t dense = { 0 };
	layout_ref bias = b != NULL ? *b : NULL;

	switch (pass) {
	case CONV_FORWARD:
		return dnnl_convolution_forward_primitive_desc_create(pd, engine,
		    dnnl_forward_training, alg, *x, *w, bias, *y, s, dense, p,
		    p, attr);
	case CONV_DATA:
		return dnnl_convolution_backward_data_primitive_desc_create(pd,
		    engine, alg, *x, *w, *y, s, dense, p, p, hint, attr);
	default:
		return dnnl_convolution_backward_weights_primitive_desc_create(
		    pd, engine, alg, *x, *w, bias, *y, s, dense, p, p, hint,
		    attr);
	}
}

#else

typedef dnnl_memory_desc_t layout;
typedef const dnnl_memory_desc_t *layout_ref;

static layout_ref
ref(const layout *l)
{
	return l;
}

static int
layout_make(layout *l, int n, const dnnl_dims_t d, dnnl_format_tag_t tag)
{
	return dnnl_memory_desc_init_by_tag(l, n, d, dnnl_f32, tag);
}

static void
layout_free(layout *l)
{
	(void)l;
}

static int
describe(dnnl_primitive_desc_t *pd, int pass, dnnl_engine_t engine,
    dnnl_alg_kind_t alg, const layout *x, const layout *w, const layout *b,
    const layout *y, const dnnl_dims_t s, const dnnl_dims_t p,
    const_dnnl_primitive_attr_t attr, const_dnnl_primitive_desc_t hint)
{
	dnnl_convolution_desc_t d;
	int bad;

	switch (pass) {
	case CONV_FORWARD:
		bad = dnnl_convolution_forward_desc_init(&d,
		    dnnl_forward_training, alg, x, w, b, y, s, p, p);
		break;
	case CONV_DATA:
		bad = dnnl_convolution_backward_data_desc_init(&d, alg, x, w, y,
		    s, p, p);
		break;
	default:
		bad = dnnl_convolution_backward_weights_desc_init(&d, alg, x, w,
		    b, y, s, p, p);
	}
	return bad ? bad : (int)dnnl_primitive_desc_create(pd, &d, attr, engine,
	    hint);
}

#endif

/* ---- one convolution ---- */

/* A pass: its primitive, and for each thread the memories it is run on. */
struct pass {
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t prim;
	size_t weights, scratch;	/* bytes */
	char name[64];
	dnnl_memory_t (*memory)[5];	/* [threads]: x, w, y, bias, scratch */
	dnnl_primitive_t reorder;	/* weights: in, or out for the gradient */
	dnnl_memory_t outer, inner;
};

struct dnnl_conv {
	struct dnnl *dnnl;
	struct pass pass[CONV_PASSES];
};

enum { X, W, Y, BIAS, SCRATCH, MEMORIES };

struct dnnl {
	dnnl_engine_t engine;
	int threads;
	dnnl_stream_t *stream;		/* [threads] */
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

struct dnnl *
dnnl_open(int threads)
{
	struct dnnl *d = xcalloc(1, sizeof(*d));

	/* Keep the library to the instruction set that the layouts assume. */
	if (isa_best() == ISA_AVX2)
		dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
	else if (isa_best() == ISA_BASE)
		dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
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

static dnnl_format_tag_t
activation_tag(int channels)
{
	if (channels <= 3)
		return dnnl_nchw;
	return cpu_lanes() == 16 ? dnnl_nChw16c : dnnl_nChw8c;
}

/* The layouts of a shape; weights as the library likes, or as they come. */
struct layouts { layout x, w, y, b, outer; };

static int
make_layouts(struct layouts *l, const struct conv_shape *s)
{
	const dnnl_dims_t x = { s->images, s->in, s->in_h, s->in_w };
	const dnnl_dims_t y = { s->images, s->out, s->out_h, s->out_w };
	const dnnl_dims_t w = { s->out, s->in, s->k[0], s->k[1] };
	const dnnl_dims_t g = { s->groups, s->out / s->groups,
		s->in / s->groups, s->k[0], s->k[1] };
	const dnnl_dims_t b = { s->out };
	int grouped = s->groups > 1;

	return layout_make(&l->x, 4, x, activation_tag(s->in)) ||
	    layout_make(&l->y, 4, y, activation_tag(s->out)) ||
	    layout_make(&l->w, grouped ? 5 : 4, grouped ? g : w,
		dnnl_format_tag_any) ||
	    layout_make(&l->outer, grouped ? 5 : 4, grouped ? g : w,
		grouped ? dnnl_goihw : dnnl_oihw) ||
	    layout_make(&l->b, 1, b, dnnl_x);
}

static void
free_layouts(struct layouts *l)
{
	layout_free(&l->x);
	layout_free(&l->w);
	layout_free(&l->y);
	layout_free(&l->b);
	layout_free(&l->outer);
}

/*
 * Winograd F(4x4, 3x3) where it pays: 3x3 of stride 1 with at least 64
 * channels on planes of at least 14 x 14.  Measured on 4 images, one thread:
 * 56 x 56 x 64 at 389 effective GF/s against 197, but 7 x 7 x 512 at 101
 * against 185.  Its error, 1e-6 relative, is that of the direct sum.
 */
static int
prefers_winograd(const struct conv_shape *s)
{
	return s->k[0] == 3 && s->k[1] == 3 && s->s[0] == 1 && s->s[1] == 1 &&
	    s->groups == 1 && s->in >= 64 && s->out >= 64 && s->out_h >= 14 &&
	    s->out_w >= 14 && cpu_lanes() == 16;
}

static int
describe_best(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
    enum conv_pass pass, const struct conv_shape *s, const struct layouts *l,
    const_dnnl_primitive_attr_t attr)
{
	const dnnl_dims_t step = { s->s[0], s->s[1] };
	const dnnl_dims_t pad = { s->p[0], s->p[1] };
	const dnnl_alg_kind_t algs[] = { dnnl_convolution_winograd,
		dnnl_convolution_direct };
	const layout *b = s->bias && pass != CONV_DATA ? &l->b : NULL;

	for (int i = prefers_winograd(s) ? 0 : 1; i < 2; i++) {
		dnnl_primitive_desc_t hint = NULL;
		int bad = 0;

		if (pass != CONV_FORWARD)
			bad = describe(&hint, CONV_FORWARD, engine, algs[i],
			    &l->x, &l->w, s->bias ? &l->b : NULL, &l->y, step,
			    pad, attr, NULL);
		if (!bad)
			bad = describe(pd, (int)pass, engine, algs[i], &l->x,
			    &l->w, b, &l->y, step, pad, attr, hint);
		if (hint != NULL)
			dnnl_primitive_desc_destroy(hint);
		if (!bad)
			return 0;
	}
	return -1;
}

static layout_ref
weights_of(const struct pass *p, enum conv_pass pass)
{
	return dnnl_primitive_desc_query_md(p->pd, pass == CONV_WEIGHTS ?
	    dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
}

/* The conversion between the outer order of the weights and the pass's. */
static int
make_reorder(struct pass *p, dnnl_engine_t engine, enum conv_pass pass,
    const struct layouts *l)
{
	layout_ref outer = ref(&l->outer), inner = weights_of(p, pass);
	layout_ref from = pass == CONV_WEIGHTS ? inner : outer;
	layout_ref to = pass == CONV_WEIGHTS ? outer : inner;
	dnnl_primitive_desc_t pd;
	int bad;

	if (dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine,
	    NULL) != dnnl_success)
		return -1;
	bad = dnnl_primitive_create(&p->reorder, pd) ||
	    dnnl_memory_create(&p->outer, outer, engine, DNNL_MEMORY_NONE) ||
	    dnnl_memory_create(&p->inner, inner, engine, DNNL_MEMORY_NONE);
	dnnl_primitive_desc_destroy(pd);
	return bad;
}

static int
make_memories(struct pass *p, struct dnnl *d, enum conv_pass pass,
    const struct layouts *l, int bias)
{
	layout_ref scratch = dnnl_primitive_desc_query_md(p->pd,
	    dnnl_query_scratchpad_md, 0);
	layout_ref of[MEMORIES] = { ref(&l->x), weights_of(p, pass), ref(&l->y),
		ref(&l->b), scratch };

	p->memory = xcalloc((size_t)d->threads, sizeof(*p->memory));
	for (int t = 0; t < d->threads; t++)
		for (int i = 0; i < MEMORIES; i++)
			if ((i != BIAS || bias) &&
			    dnnl_memory_create(&p->memory[t][i], of[i], d->engine,
			    DNNL_MEMORY_NONE) != dnnl_success)
				return -1;
	p->weights = dnnl_memory_desc_get_size(weights_of(p, pass));
	p->scratch = dnnl_memory_desc_get_size(scratch);
	return 0;
}

static int
make_pass(struct dnnl_conv *c, enum conv_pass pass, const char *name,
    const struct conv_shape *s, const struct layouts *l,
    const_dnnl_primitive_attr_t attr)
{
	static const char *const what[] = { "forward pass", "weight gradient",
		"data gradient" };
	struct pass *p = &c->pass[pass];
	const char *impl = "?";

	if (describe_best(&p->pd, c->dnnl->engine, pass, s, l, attr) != 0)
		return fail("%s: oneDNN %s has no %s for %d to %d channels, "
		    "%dx%d kernel, stride %d", name, dnnl_version_text(),
		    what[pass], s->in, s->out, s->k[0], s->k[1], s->s[0]);
	dnnl_primitive_desc_query(p->pd, dnnl_query_impl_info_str, 0,
	    (void *)&impl);
	snprintf(p->name, sizeof(p->name), "%s", impl);
	if (strncmp(impl, "ref", 3) == 0)
		return fail("%s: oneDNN %s would run the %s by plain loops (%s), "
		    "far too slow", name, dnnl_version_text(), what[pass], impl);
	if (dnnl_primitive_create(&p->prim, p->pd) != dnnl_success ||
	    make_reorder(p, c->dnnl->engine, pass, l) != 0 ||
	    make_memories(p, c->dnnl, pass, l, s->bias) != 0)
		return fail("%s: oneDNN %s cannot make its %s", name,
		    dnnl_version_text(), what[pass]);
	return 0;
}

struct dnnl_conv *
dnnl_conv_new(struct dnnl *d, const char *name, const struct conv_shape *s,
    int passes)
{
	struct dnnl_conv *c = xcalloc(1, sizeof(*c));
	struct layouts l = { 0 };
	dnnl_primitive_attr_t attr;
	int bad;

	one_thread();
	c->dnnl = d;
	/* Scratch is given at each call: the library's own is one buffer. */
	dnnl_primitive_attr_create(&attr);
	dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
	bad = make_layouts(&l, s) != 0 ? fail("%s: oneDNN refuses the shape",
	    name) : 0;
	for (int pass = 0; pass < passes && !bad; pass++)
		bad = make_pass(c, (enum conv_pass)pass, name, s, &l, attr);
	free_layouts(&l);
	dnnl_primitive_attr_destroy(attr);
	if (bad) {
		dnnl_conv_free(c);
		return NULL;
	}
	return c;
}

void
dnnl_conv_free(struct dnnl_conv *c)
{
	if (c == NULL)
		return;
	for (int i = 0; i < CONV_PASSES; i++) {
		struct pass *p = &c->pass[i];

		for (int t = 0; t < c->dnnl->threads && p->memory != NULL; t++)
			for (int m = 0; m < MEMORIES; m++)
				if (p->memory[t][m] != NULL)
					dnnl_memory_destroy(p->memory[t][m]);
		free(p->memory);
		if (p->outer != NULL)
			dnnl_memory_destroy(p->outer);
		if (p->inner != NULL)
			dnnl_memory_destroy(p->inner);
		if (p->reorder != NULL)
			dnnl_primitive_destroy(p->reorder);
		if (p->prim != NULL)
			dnnl_primitive_destroy(p->prim);
		if (p->pd != NULL)
			dnnl_primitive_desc_destroy(p->pd);
	}
	free(c);
}

size_t
dnnl_conv_weights(const struct dnnl_conv *c, enum conv_pass pass)
{
	return c->pass[pass].weights;
}

size_t
dnnl_conv_scratch(const struct dnnl_conv *c)
{
	size_t most = 0;

	for (int i = 0; i < CONV_PASSES; i++)
		if (c->pass[i].scratch > most)
			most = c->pass[i].scratch;
	return most;
}

const char *
dnnl_conv_name(const struct dnnl_conv *c, enum conv_pass pass)
{
	return c->pass[pass].name;
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

void
dnnl_conv_reorder(struct dnnl_conv *c, enum conv_pass pass, const float *from,
    void *to)
{
	struct pass *p = &c->pass[pass];

	dnnl_memory_set_data_handle(p->outer, (void *)from);
	dnnl_memory_set_data_handle(p->inner, to);
	execute(c->dnnl, p->reorder, 0, 2, (dnnl_exec_arg_t[]){
	    { DNNL_ARG_FROM, p->outer }, { DNNL_ARG_TO, p->inner } });
}

void
dnnl_conv_reorder_out(struct dnnl_conv *c, const void *from, float *to)
{
	struct pass *p = &c->pass[CONV_WEIGHTS];

	dnnl_memory_set_data_handle(p->inner, (void *)from);
	dnnl_memory_set_data_handle(p->outer, to);
	execute(c->dnnl, p->reorder, 0, 2, (dnnl_exec_arg_t[]){
	    { DNNL_ARG_FROM, p->inner }, { DNNL_ARG_TO, p->outer } });
}

void
dnnl_conv_run(struct dnnl_conv *c, int thread, enum conv_pass pass, void *x,
    void *w, void *b, void *y, void *scratch)
{
	static const int names[CONV_PASSES][MEMORIES] = {
		{ DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS,
		    DNNL_ARG_SCRATCHPAD },
		{ DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST,
		    DNNL_ARG_DIFF_BIAS, DNNL_ARG_SCRATCHPAD },
		{ DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST, 0,
		    DNNL_ARG_SCRATCHPAD } };
	void *const at[MEMORIES] = { x, w, y, b, scratch };
	dnnl_memory_t *m = c->pass[pass].memory[thread];
	dnnl_exec_arg_t args[MEMORIES];
	int n = 0;

	for (int i = 0; i < MEMORIES; i++) {
		if (m[i] == NULL || at[i] == NULL || names[pass][i] == 0)
			continue;
		dnnl_memory_set_data_handle(m[i], at[i]);
		args[n++] = (dnnl_exec_arg_t){ names[pass][i], m[i] };
	}
	execute(c->dnnl, c->pass[pass].prim, thread, n, args);
}
