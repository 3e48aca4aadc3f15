/*
 * Convolutions by Winograd's algorithm (winograd.h), as a candidate algorithm.
 */
#include "backend/cpu/conv/conv.h"
#include "backend/cpu/winograd.h"
#include "base/mem.h"

enum { TAPS = 9 };

/*
 * Winograd's algorithm runs 3x3 kernels of stride 1 where it pays.  That needs
 * at least 32 channels on both sides, and outputs that fill 9 of 16 of the 4 x
 * 4 tiles.  There must also be enough outputs to pay for the transform of the
 * weights, 17 ns per pair of channels.  Effective GF/s of one thread, 16
 * images, where oneDNN gets 4 images per call:
 *
 *					ours	direct	oneDNN
 *	64 channels, 56 x 56		320	149	221
 *	128 channels, 28 x 28		333	112	231
 *	256 channels, 14 x 14		259	161	153
 *	512 channels, 7 x 7		203	173	68
 *	64 channels, 6 x 6, 64 images	183		146
 *	the same, backward		155		138
 *	16 channels, 24 x 24		93		121
 *
 * At 7 x 7, the transform takes 4 ms and the products 13.  Weight gradients of
 * a busy thread, ours and oneDNN's in the same order: 212 and 173; 198 and 184;
 * 156 and 136; 161, and 67 direct.  For them, half of the outputs are enough.
 * The relative error, about 1e-6, is that of the direct sum.
 *
 * In bf16 the products are fp32 too.  They need a quarter of the
 * multiplications, while avx512_bf16 has only twice the rate.  With AMX, other
 * algorithms run.  ms for all three passes of 16 images on two threads of a
 * Zen 4, ours and oneDNN 2.6 with avx512_bf16:
 *
 *	64 channels, 56 x 56		20.9	27.9
 *	128 channels, 28 x 28		19.0	26.0
 *	256 channels, 14 x 14		22.8	26.4
 *	512 channels, 7 x 7		27.0	33.6
 */
static int
conv_winograd_runs(const struct cpu_conv_pass *p)
{
	const struct task *t = p->t;
	const struct op *op = t->op;
	int tiles = div_up(p->out.h, 4) * div_up(p->out.w, 4);
	size_t positions = cpu_positions(&p->out);

	if (p->bf16 && cpu_of(t)->amx != NULL)
		return 0;
	return !conv_pass_timed(p) && p->k[1] == 3 && p->k[2] == 3 &&
	    p->s[1] == 1 && p->s[2] == 1 && op->conv.groups == 1 &&
	    p->in.c >= 32 && p->out.c >= 32 &&
	    p->p[1] <= 2 && p->p[2] <= 2 && positions >= (size_t)tiles * 9 &&
	    positions * (size_t)cpu_images(&p->out) >=
	    (p->kind == CONV_WEIGHTS ? 512 : 1024);
}

/*
 * The data gradient is a convolution from dy to dx with the taps rotated.  A
 * weight gradient has the shape of the forward pass.
 */
static struct winograd
conv_winograd_shape_of(const struct cpu_conv_pass *p)
{
	int back = p->kind == CONV_DATA, row = TAPS * p->in.c;
	const struct dims *in = back ? &p->out : &p->in;
	const struct dims *out = back ? &p->in : &p->out;

	return (struct winograd){ .bf16 = p->bf16, .images = cpu_images(out),
		.in = in->c, .in_h = in->h, .in_w = in->w, .out = out->c,
		.out_h = out->h, .out_w = out->w, .rotated = back,
		.p = { back ? 2 - p->p[1] : p->p[1],
		    back ? 2 - p->p[2] : p->p[2] },
		.in_step = back ? row : TAPS, .out_step = back ? TAPS : row };
}

static int
conv_winograd_make(struct cpu_conv_pass *p)
{
	struct winograd *g = p->state = xcalloc(1, sizeof(*g));

	*g = conv_winograd_shape_of(p);
	if (p->kind == CONV_WEIGHTS) {
		p->workspace = winograd_gradient_bytes(g);
		p->scratch = winograd_gradient_scratch(g);
		p->run[0] = (struct conv_phase){ winograd_gradient_run,
			winograd_gradient_jobs(g) };
		p->run[1] = (struct conv_phase){ winograd_gradient_add,
			winograd_gradient_sums(g) };
		return 0;
	}
	g->tiles = winograd_call_tiles(g, conv_pass_threads(p));
	p->packed = winograd_weights(g);
	p->scratch = winograd_scratch(g);
	p->order[0] = (struct conv_phase){ winograd_pack, winograd_slices(g) };
	p->run[0] = (struct conv_phase){ winograd_run,
		div_up(winograd_tiles(g), g->tiles) };
	return 0;
}

const struct conv_algorithm conv_by_winograd = {
	.name = "winograd", .runs = conv_winograd_runs,
	.make = conv_winograd_make, .adds = 1,
};
