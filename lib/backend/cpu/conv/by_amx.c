/*
 * Convolutions in bf16 on AMX tiles, as a candidate algorithm: GEMMs for
 * forward and data (bf16/gemm.h), and weight gradients (bf16/wgrad.h).
 */
#include <string.h>

#include "backend/cpu/conv/conv.h"
#include "backend/cpu/bf16/bf16.h"
#include "backend/cpu/bf16/gemm.h"
#include "backend/cpu/bf16/wgrad.h"

static struct gemm_conv
conv_amx_shape_of(const struct cpu_conv_pass *p)
{
	return (struct gemm_conv){ .images = cpu_images(&p->out),
		.in = p->in.c, .out = p->out.c,
		.in_row = bf16_row(&p->in), .out_row = bf16_row(&p->out),
		.in_h = p->in.h, .in_w = p->in.w,
		.out_h = p->out.h, .out_w = p->out.w,
		.k = { p->k[1], p->k[2] }, .s = { p->s[1], p->s[2] },
		.p = { p->p[1], p->p[2] }, .back = p->kind == CONV_DATA };
}

/*
 * With AMX, our GEMMs run the passes in which they are faster than oneDNN 2.6.
 * GF/s of one thread of a Sapphire Rapids, 16 images, the other thread busy:
 *
 *					oneDNN		ours
 *	data, with strides		63 to 132	225 to 410
 *	data, 1x1			110 to 240	200 to 365
 *	data, 3x3 at 7x7		104 to 138	199 to 247
 *	data, 3x3 at 56x56		314		236
 *	forward, 1x1 at 7x7		225 to 274	235 to 319
 *	the same, idle machine		343 to 555	552 to 762
 *	forward, few channels to more	168 to 430	190 to 485
 *	forward, 3x3			385		238
 */
static int
conv_amx_product_fits(const struct cpu_conv_pass *p)
{
	int taps = conv_pass_tap(p);

	if (p->pixels)
		return 0;
	if (p->kind == CONV_DATA)
		return taps == 1 || p->s[1] > 1 || p->s[2] > 1 ||
		    cpu_positions(&p->out) < 100;
	return taps == 1 && (cpu_positions(&p->out) < 100 || (p->s[1] == 1 &&
	    p->s[2] == 1 && p->out.c >= p->in.c));
}

/*
 * With AMX, our sums run the weight gradients in which they are faster,
 * measured as above:
 *
 *					oneDNN		ours
 *	1x1, 56x56 down to 7x7		80 to 100,	160 to 250
 *					58 to 77,
 *					23 to 36
 *	with strides			21 to 130	140 to 300
 *	3x3 at 56x56, 28x28		equal
 *	3x3 at 14x14			132		240
 *	3x3 at 7x7			66		200
 *	the first layer			43		145
 *	3x3, 16 channels (half a block)	230		175
 */
static int
conv_amx_weights_fit(const struct cpu_conv_pass *p)
{
	struct gemm_conv s = conv_amx_shape_of(p);
	int narrow = s.in_row == 16 || s.out_row == 16;

	return conv_grid_supports(&s) && !(narrow && conv_pass_tap(p) > 1 &&
	    s.s[0] == 1 && s.s[1] == 1);
}

static int
conv_amx_runs(const struct cpu_conv_pass *p)
{
	if (cpu_of(p->t)->amx == NULL)
		return 0;
	return p->kind == CONV_WEIGHTS ? conv_amx_weights_fit(p) :
	    conv_amx_product_fits(p);
}

static void
conv_amx_run_product(const void *state, int i, const struct conv_buffers *o)
{
	struct conv_buffers padded = *o;

	padded.bias = o->bias != NULL ? o->parts : NULL;
	gemm_run(state, i, &padded);
}

/* Copy the bias, padded with zeros to a row of the output. */
static void
conv_amx_fill_bias(const void *state, int i, const struct conv_buffers *o)
{
	const struct dims *d = &o->run->p->out;

	(void)state;
	(void)i;
	memset(o->parts, 0, (size_t)bf16_row(d) * sizeof(float));
	memcpy(o->parts, o->bias, (size_t)d->c * sizeof(float));
}

static int
conv_amx_make(struct cpu_conv_pass *p)
{
	struct gemm_conv s = conv_amx_shape_of(p);
	struct conv_phase *run = p->run;

	if (p->kind == CONV_WEIGHTS) {
		p->state = wgrad_new(&s, conv_pass_threads(p));
		p->workspace = wgrad_sums(p->state);
		p->scratch = wgrad_scratch(p->state);
		run[0] = (struct conv_phase){ wgrad_run, wgrad_jobs(p->state) };
		run[1] = (struct conv_phase){ wgrad_add,
			wgrad_blocks(p->state) };
		return 0;
	}
	p->state = gemm_new(&s, conv_pass_threads(p));
	p->packed = gemm_weights(p->state);
	p->workspace = (size_t)s.out_row * sizeof(float);
	p->scratch = gemm_scratch(p->state);
	p->order[0] = (struct conv_phase){ gemm_order, gemm_slices(p->state) };
	if (p->t->op->conv.bias && p->kind == CONV_FORWARD)
		*run++ = (struct conv_phase){ conv_amx_fill_bias, 1 };
	*run = (struct conv_phase){ conv_amx_run_product, gemm_jobs(p->state) };
	return 0;
}

static void
conv_amx_release(struct cpu_conv_pass *p)
{
	if (p->kind == CONV_WEIGHTS)
		wgrad_free(p->state);
	else
		gemm_free(p->state);
}

static const char *
conv_amx_describe(const struct cpu_conv_pass *p)
{
	return p->kind == CONV_WEIGHTS ? "sum of AMX tiles" :
	    "product of AMX tiles";
}

const struct conv_algorithm conv_by_amx = {
	.name = "tiles", .runs = conv_amx_runs, .make = conv_amx_make,
	.release = conv_amx_release, .adds = 1,
	.describe = conv_amx_describe,
};
