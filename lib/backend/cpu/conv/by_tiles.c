/*
 * Convolutions in bf16 on AMX tiles, as a candidate algorithm: GEMMs for
 * forward and data (half/product.h), and weight gradients (half/weights.h).
 */
#include <string.h>

#include "backend/cpu/conv/conv.h"
#include "backend/cpu/half/half.h"
#include "backend/cpu/half/product.h"
#include "backend/cpu/half/weights.h"

static struct product_shape
conv_tiles_shape_of(const struct cpu_conv_pass *p)
{
	return (struct product_shape){ .images = cpu_images(&p->out),
		.in = p->in.c, .out = p->out.c,
		.in_row = half_row(&p->in), .out_row = half_row(&p->out),
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
conv_tiles_product_fits(const struct cpu_conv_pass *p)
{
	int taps = pass_tap(p);

	if (cpu_is_pixels(&p->in))
		return 0;
	if (p->kind == CONV_DATA)
		return taps == 1 || p->s[1] > 1 || p->s[2] > 1 ||
		    cpu_places(&p->out) < 100;
	return taps == 1 && (cpu_places(&p->out) < 100 || (p->s[1] == 1 &&
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
conv_tiles_weights_fit(const struct cpu_conv_pass *p)
{
	struct product_shape s = conv_tiles_shape_of(p);
	int narrow = s.in_row == 16 || s.out_row == 16;

	return places_can(&s) && !(narrow && pass_tap(p) > 1 && s.s[0] == 1 &&
	    s.s[1] == 1);
}

static int
conv_tiles_fits(const struct cpu_conv_pass *p)
{
	if (cpu_of(p->t)->amx == NULL)
		return 0;
	return p->kind == CONV_WEIGHTS ? conv_tiles_weights_fit(p) :
	    conv_tiles_product_fits(p);
}

static void
conv_tiles_order_slice(int i, int thread, void *arg)
{
	const struct conv_run *r = arg;

	(void)thread;
	product_order(r->p->own, i, r->p->t->w[0], r->kept);
}

static void
conv_tiles_run_product(int i, int thread, void *arg)
{
	const struct conv_run *r = arg;

	product_run(r->p->own, i, conv_run_from(r), r->kept,
	    conv_run_bias(r) != NULL ? r->spare : NULL, conv_run_to(r), r->more,
	    conv_run_scratch(r, thread));
}

static void
conv_tiles_gradient(int i, int thread, void *arg)
{
	const struct conv_run *r = arg;

	weights_run(r->p->own, i, r->x, r->y, r->p->t->dw[0], r->spare,
	    conv_run_scratch(r, thread));
}

static void
conv_tiles_add_block(int i, int thread, void *arg)
{
	const struct conv_run *r = arg;

	(void)thread;
	weights_add(r->p->own, i, r->p->t->dw[0], r->spare);
}

/* Copy the bias, padded with zeros to a row of the output. */
static void
conv_tiles_fill_bias(int i, int thread, void *arg)
{
	const struct conv_run *r = arg;
	const struct dims *d = &r->p->out;

	(void)i;
	(void)thread;
	memset(r->spare, 0, (size_t)half_row(d) * sizeof(float));
	memcpy(r->spare, conv_run_bias(r), (size_t)d->c * sizeof(float));
}

static int
conv_tiles_make(struct cpu_conv_pass *p)
{
	struct product_shape s = conv_tiles_shape_of(p);
	struct conv_phase *run = p->run;

	if (p->kind == CONV_WEIGHTS) {
		p->own = weights_new(&s, pass_threads(p));
		p->spare = weights_sums(p->own);
		p->scratch = weights_scratch(p->own);
		run[0] = (struct conv_phase){ conv_tiles_gradient,
		    weights_jobs(p->own) };
		run[1] = (struct conv_phase){ conv_tiles_add_block,
		    weights_blocks(p->own) };
		return 0;
	}
	p->own = product_new(&s, pass_threads(p));
	p->kept = product_weights(p->own);
	p->spare = (size_t)s.out_row * sizeof(float);
	p->scratch = product_scratch(p->own);
	p->order[0] = (struct conv_phase){ conv_tiles_order_slice,
	    product_slices(p->own) };
	if (p->t->op->bias && p->kind == CONV_FORWARD)
		*run++ = (struct conv_phase){ conv_tiles_fill_bias, 1 };
	*run = (struct conv_phase){ conv_tiles_run_product, product_jobs(p->own) };
	return 0;
}

static void
conv_tiles_release(struct cpu_conv_pass *p)
{
	if (p->kind == CONV_WEIGHTS)
		weights_free(p->own);
	else
		product_free(p->own);
}

static const char *
conv_tiles_describe(const struct cpu_conv_pass *p)
{
	return p->kind == CONV_WEIGHTS ? "sum of AMX tiles" :
	    "product of AMX tiles";
}

const struct conv_algorithm conv_by_tiles = {
	.name = "tiles", .fits = conv_tiles_fits, .make = conv_tiles_make,
	.release = conv_tiles_release, .adds = 1,
	.describe = conv_tiles_describe,
};
