/*
 * Convolutions: passes by algorithms of our own made ready: their shapes, how
 * they are cut, and what memory they need.
 */
#include <string.h>

#include "backend/cpu/conv.h"

static void
make_winograd(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	const struct op *op = t->op;
	struct winograd *g = &p->winograd;
	int threads = pool_threads(cpu_of(t)->pool), one = conv_tap(op);
	int back = pass == CONV_DATA;
	size_t scratch;

	p->by = CONV_WINOGRAD;
	*g = (struct winograd){ .images = cpu_images(&t->out), .turned = back,
		.in = t->in[0].c, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out = t->out.c, .out_h = t->out.h, .out_w = t->out.w,
		.p = { op->p[1], op->p[2] },
		.in_step = one, .out_step = one * t->in[0].c };
	if (back)
		*g = (struct winograd){ .images = g->images, .turned = 1,
			.in = g->out, .in_h = g->out_h, .in_w = g->out_w,
			.out = g->in, .out_h = g->in_h, .out_w = g->in_w,
			.p = { 2 - op->p[1], 2 - op->p[2] },
			.in_step = g->out_step, .out_step = g->in_step };
	p->tiles = winograd_call_tiles(g, threads);
	p->runs = (winograd_tiles(g) + p->tiles - 1) / p->tiles;
	p->bytes = cpu_pages(winograd_weights(g));
	scratch = winograd_scratch(g, p->tiles);
	c->library = scratch > c->library ? scratch : c->library;
}

/* A weight gradient of ours: runs are its parts. */
static void
make_products(struct task *t)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[CONV_WEIGHTS];
	const struct op *op = t->op;
	struct outer *g = &p->outer;
	size_t scratch;

	*g = (struct outer){ .clips = t->out.n, .in = t->in[0].c,
		.out = t->out.c, .pixels = cpu_is_pixels(&t->in[0]),
		.x = { t->in[0].t, t->in[0].h, t->in[0].w },
		.y = { t->out.t, t->out.h, t->out.w } };
	memcpy(g->k, op->k, sizeof(g->k));
	memcpy(g->s, op->s, sizeof(g->s));
	memcpy(g->p, op->p, sizeof(g->p));
	if (!c->timed) {
		g->clips = 1;
		g->x[0] = g->y[0] = cpu_images(&t->out);
	}
	outer_cut(g, pool_threads(cpu_of(t)->pool));
	p->by = CONV_PRODUCTS;
	p->runs = g->parts;
	p->bytes = cpu_pages(outer_parts(g)) / (size_t)g->parts;
	scratch = outer_scratch(g);
	c->library = scratch > c->library ? scratch : c->library;
}

static void
make_direct(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	struct direct *g = &p->direct;
	const struct op *op = t->op;
	int tap = op->k[0] * conv_tap(op), row = tap * t->in[0].c;
	int back = pass == CONV_DATA;

	p->by = CONV_DIRECT;
	*g = (struct direct){ .in = back ? t->out : t->in[0],
		.out = back ? t->in[0] : t->out, .back = back,
		.k = { op->k[0], op->k[1], op->k[2] },
		.s = { op->s[0], op->s[1], op->s[2] },
		.p = { op->p[0], op->p[1], op->p[2] },
		.in_step = back ? row : tap, .out_step = back ? tap : row };
	direct_cut(g, pool_threads(cpu_of(t)->pool));
	p->bytes = cpu_pages(direct_weights(g));
	if (direct_scratch(g) > c->library)
		c->library = direct_scratch(g);
}

static void
make_grouped(struct task *t, enum conv_pass pass)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[pass];
	struct grouped *g = &p->grouped;
	const struct op *op = t->op;

	p->by = CONV_GROUPED;
	*g = (struct grouped){ .x = t->in[0], .y = t->out,
		.groups = op->groups };
	memcpy(g->k, op->k, sizeof(g->k));
	memcpy(g->s, op->s, sizeof(g->s));
	memcpy(g->p, op->p, sizeof(g->p));
	if (pass == CONV_WEIGHTS)
		p->runs = grouped_parts(g);
	p->bytes = grouped_weights(g, pass == CONV_DATA);
	if (pass != CONV_WEIGHTS)
		p->bytes = cpu_pages(p->bytes);
	if (grouped_scratch(g) > c->library)
		c->library = grouped_scratch(g);
}

static void
make_winograd_gradient(struct task *t)
{
	struct conv *c = t->priv;
	struct pass *p = &c->pass[CONV_WEIGHTS];
	struct winograd_gradient *g = &p->gradient;
	size_t scratch;

	p->by = CONV_WINOGRAD;
	*g = (struct winograd_gradient){ .images = cpu_images(&t->out),
		.in = t->in[0].c, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out = t->out.c, .out_h = t->out.h, .out_w = t->out.w,
		.p = { t->op->p[1], t->op->p[2] } };
	p->runs = winograd_gradient_parts(g);
	p->bytes = cpu_pages(winograd_gradient_bytes(g)) / (size_t)p->runs;
	scratch = winograd_gradient_scratch(g);
	c->library = scratch > c->library ? scratch : c->library;
}

void
conv_make_ours(struct task *t, enum conv_pass pass, enum conv_by by)
{
	if (by == CONV_WINOGRAD && pass == CONV_WEIGHTS)
		make_winograd_gradient(t);
	else if (by == CONV_WINOGRAD)
		make_winograd(t, pass);
	else if (by == CONV_DIRECT)
		make_direct(t, pass);
	else if (by == CONV_PRODUCTS)
		make_products(t);
	else
		make_grouped(t, pass);
}
