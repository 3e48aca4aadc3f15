/*
 * Convolutions as direct sums over taps and channels (direct.h), as a candidate
 * algorithm.
 */
#include "backend/cpu/conv/conv.h"
#include "backend/cpu/direct.h"
#include "base/isa.h"
#include "base/mem.h"

/*
 * Our direct convolution runs 1x1x1 kernels, because it adds a gradient to
 * another one without a separate pass.  It also runs what oneDNN lacks: data
 * gradients of unequal strides with AVX2, and most passes without AVX2.  GF/s
 * of two threads, ResNet-50, 16 images of 224 x 224:
 *
 *					forward		data gradient
 *	channels, positions		ours	oneDNN	ours	oneDNN
 *	256 to 64, 56 x 56		276	250	243	196
 *	128 to 512, 28 x 28		303	308	298	267
 *	2048 to 512, 7 x 7		251	244	280	258
 *	stride 2			267	271	228	213
 *
 * Where the input positions of a tile are not contiguous they are gathered.
 * That costs 15 % for 3x3 kernels, and up to half with few channels.  With
 * stride 2, ours and oneDNN's: 64 to 128 channels 72 and 86, 16 to 32 channels
 * 24 and 37.
 */
static int
conv_direct_wins(const struct cpu_conv_pass *p)
{
	int strided = p->s[1] > 1 || p->s[2] > 1;

	if (isa_best() == ISA_BASE || p->s[1] != p->s[2])
		return 1;
	return p->k[0] * p->k[1] * p->k[2] == 1 && (!strided ||
	    (cpu_lanes() == 16 && p->in.c >= 256 && p->out.c >= 256));
}

static int
conv_direct_runs(const struct cpu_conv_pass *p)
{
	return p->kind != CONV_WEIGHTS && p->t->op->conv.groups == 1 &&
	    !p->pixels;
}

static int
conv_direct_make(struct cpu_conv_pass *p)
{
	int tap = p->k[0] * conv_pass_tap(p), row = tap * p->in.c;
	int back = p->kind == CONV_DATA;
	struct direct *g = p->state = xcalloc(1, sizeof(*g));

	*g = (struct direct){ .in = back ? p->out : p->in,
		.out = back ? p->in : p->out, .back = back,
		.k = { p->k[0], p->k[1], p->k[2] },
		.s = { p->s[0], p->s[1], p->s[2] },
		.p = { p->p[0], p->p[1], p->p[2] },
		.in_step = back ? row : tap, .out_step = back ? tap : row };
	direct_split(g, conv_pass_threads(p));
	p->packed = direct_weights(g);
	p->scratch = direct_scratch(g);
	p->order[0] = (struct conv_phase){ direct_pack, direct_slices(g) };
	p->run[0] = (struct conv_phase){ direct_run, g->jobs };
	return 0;
}

const struct conv_algorithm conv_by_direct = {
	.name = "direct", .runs = conv_direct_runs, .wins = conv_direct_wins,
	.make = conv_direct_make, .adds = 1,
};
