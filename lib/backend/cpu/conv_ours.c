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

	p->by = CONV_WINOGRAD;
	conv_winograd_make(&p->winograd, t, pass, 0);
	p->runs = 1;
	p->bytes = p->winograd.weights;
	if (p->winograd.scratch > c->library)
		c->library = p->winograd.scratch;
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

void
conv_make_ours(struct task *t, enum conv_pass pass, enum conv_by by)
{
	if (by == CONV_WINOGRAD)
		make_winograd(t, pass);
	else if (by == CONV_DIRECT)
		make_direct(t, pass);
	else if (by == CONV_PRODUCTS)
		make_products(t);
	else
		make_grouped(t, pass);
}
