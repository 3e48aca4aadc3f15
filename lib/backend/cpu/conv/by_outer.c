/*
 * Weight gradients as sums of outer products (outer.h), as a candidate
 * algorithm.
 */
#include <string.h>

#include "backend/cpu/conv/conv.h"
#include "backend/cpu/outer.h"
#include "base/isa.h"
#include "base/mem.h"

/*
 * Sums of outer products run each weight gradient with one group and blocked
 * channels.  They write it in the order of the graph and are seldom split into
 * parts; oneDNN has an order of its own.  GF/s of each of two busy threads,
 * ResNet-50, 16 images:
 *
 *				ours		oneDNN
 *	256 to 64, 56 x 56	67		53
 *	512 to 128, 28 x 28	72		68
 *	2048 to 512, 7 x 7	66		51
 *	1x1 of stride 2		62 to 58	61 to 46
 *	3x3 of stride 2		71 to 73	54 to 40
 *	3x3 at 7 x 7		80		51
 *
 * Pixels must be gathered first: 89 GF/s for 7x7 kernels where oneDNN reaches
 * 105, and a larger difference for 3x3.  They use oneDNN where it has an
 * implementation.
 */
static int
conv_outer_wins(const struct cpu_conv_pass *p)
{
	return !p->pixels || isa_best() == ISA_BASE;
}

static int
conv_outer_runs(const struct cpu_conv_pass *p)
{
	return p->kind == CONV_WEIGHTS && p->t->op->conv.groups == 1;
}

static int
conv_outer_make(struct cpu_conv_pass *p)
{
	struct outer *g = p->state = xcalloc(1, sizeof(*g));

	*g = (struct outer){ .clips = p->out.n, .in = p->in.c,
		.out = p->out.c, .pixels = p->pixels,
		.x = { p->in.t, p->in.h, p->in.w },
		.y = { p->out.t, p->out.h, p->out.w } };
	memcpy(g->k, p->k, sizeof(g->k));
	memcpy(g->s, p->s, sizeof(g->s));
	memcpy(g->p, p->p, sizeof(g->p));
	if (!conv_pass_timed(p)) {
		g->clips = 1;
		g->x[0] = g->y[0] = cpu_images(&p->out);
	}
	outer_split(g, conv_pass_threads(p));
	p->workspace = outer_parts(g);
	p->scratch = outer_scratch(g);
	p->run[0] = (struct conv_phase){ outer_run, outer_jobs(g) };
	p->run[1] = (struct conv_phase){ outer_add, outer_sums(g) };
	return 0;
}

const struct conv_algorithm conv_by_outer = {
	.name = "products", .runs = conv_outer_runs,
	.wins = conv_outer_wins, .make = conv_outer_make,
};
