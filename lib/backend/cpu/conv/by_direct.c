/* Convolutions as sums over taps and channels (direct.h). */
#include "backend/cpu/conv/conv.h"
#include "backend/cpu/direct.h"
#include "base/isa.h"
#include "base/mem.h"

/*
 * A direct convolution of ours: kernels of one place, where gradients are added
 * to others without a pass of their own; and what oneDNN lacks, which are data
 * gradients of unequal strides with AVX2 and all that is base.  ResNet-50, 16
 * images of 224, GF/s of two threads, ours and oneDNN's: 256 to 64 channels of
 * 56 x 56 276, 250; 128 to 512 of 28 x 28 303, 308; 2048 to 512 of 7 x 7 251,
 * 244; of stride 2 267, 271; data 243, 196; 298, 267; 280, 258; of stride 2
 * 228, 213.  Where places do not follow one another they are
 * gathered, which costs 15 % of three by three taps, and half of what few
 * channels take: 64 to 128 of stride 2 72, 86; 16 to 32 24, 37.
 */
static int
conv_direct_fits(const struct cpu_conv_pass *p)
{
	const struct task *t = p->t;
	const struct op *op = t->op;
	int strided = p->s[1] > 1 || p->s[2] > 1;

	if (p->kind == CONV_WEIGHTS || op->groups > 1 || cpu_is_pixels(&p->in))
		return 0;
	if (isa_best() == ISA_BASE || p->s[1] != p->s[2])
		return 1;
	return p->k[0] * p->k[1] * p->k[2] == 1 && (!strided ||
	    (cpu_lanes() == 16 && p->in.c >= 256 && p->out.c >= 256));
}

static void
conv_direct_order_slice(int i, int thread, void *arg)
{
	const struct conv_run *r = arg;

	(void)thread;
	direct_order(r->p->own, i, r->p->t->w[0], r->kept);
}

static void
conv_direct_run_job(int i, int thread, void *arg)
{
	const struct conv_run *r = arg;

	direct_run(r->p->own, i, conv_run_from(r), r->kept, conv_run_bias(r),
	    conv_run_to(r), r->more, conv_run_scratch(r, thread));
}

static int
conv_direct_make(struct cpu_conv_pass *p)
{
	int tap = p->k[0] * pass_tap(p), row = tap * p->in.c;
	int back = p->kind == CONV_DATA;
	struct direct *g = p->own = xcalloc(1, sizeof(*g));

	*g = (struct direct){ .in = back ? p->out : p->in,
		.out = back ? p->in : p->out, .back = back,
		.k = { p->k[0], p->k[1], p->k[2] },
		.s = { p->s[0], p->s[1], p->s[2] },
		.p = { p->p[0], p->p[1], p->p[2] },
		.in_step = back ? row : tap, .out_step = back ? tap : row };
	direct_cut(g, pass_threads(p));
	p->kept = direct_weights(g);
	p->scratch = direct_scratch(g);
	p->order[0] = (struct conv_phase){ conv_direct_order_slice,
	    direct_slices(g) };
	p->run[0] = (struct conv_phase){ conv_direct_run_job, g->jobs };
	return 0;
}

const struct conv_algorithm conv_by_direct = {
	.name = "direct", .fits = conv_direct_fits, .make = conv_direct_make,
	.adds = 1,
};
