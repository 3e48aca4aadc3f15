/* Convolutions in bf16 on AMX's tiles: products of matrices (half/product.h) and
 * sums of them (half/weights.h). */
#include <string.h>

#include "backend/cpu/conv/conv.h"
#include "backend/cpu/half/half.h"
#include "backend/cpu/half/product.h"
#include "backend/cpu/half/weights.h"

static struct product_shape
shape_of(const struct pass *p)
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
 * Passes as products of our own, where there is AMX, rather than by oneDNN
 * 2.6.  GF/s of one thread of a Sapphire Rapids, 16 images, the other busy,
 * oneDNN's beside ours: gradients of the input with strides 63 to 132 beside
 * 225 to 410; 1x1 110 to 240 beside 200 to 365; 3x3 at 7x7 104 to 138 beside
 * 199 to 247, but 3x3 at 56x56 314 beside 236.  Forward, 1x1 at 7x7 225 to 274
 * beside 235 to 319 (343 to 555 beside 552 to 762 in a quiet minute), from few
 * channels to more 168 to 430 beside 190 to 485, and 3x3 385 beside 238.
 */
static int
product_fits(const struct pass *p)
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
 * Weights' gradients by sums of our own, where there is AMX, measured as
 * above: 1x1 of 56x56 to 7x7 80 to 100, 58 to 77, 23 to 36 by oneDNN beside 160
 * to 250; with strides 21 to 130 beside 140 to 300; 3x3 at 56x56, 28x28 alike,
 * at 14x14 and 7x7 132 and 66 beside 240 and 200; the stem 43 beside 145.  But
 * 3x3 of 16 channels, half a block: 230 beside 175.
 */
static int
weights_fit(const struct pass *p)
{
	struct product_shape s = shape_of(p);
	int narrow = s.in_row == 16 || s.out_row == 16;

	return places_can(&s) && !(narrow && pass_tap(p) > 1 && s.s[0] == 1 &&
	    s.s[1] == 1);
}

static int
fits(const struct pass *p)
{
	if (cpu_of(p->t)->amx == NULL)
		return 0;
	return p->kind == CONV_WEIGHTS ? weights_fit(p) : product_fits(p);
}

static void
order_slice(int i, int thread, void *arg)
{
	const struct run *r = arg;

	(void)thread;
	product_order(r->p->own, i, r->p->t->w[0], r->kept);
}

static void
run_product(int i, int thread, void *arg)
{
	const struct run *r = arg;

	product_run(r->p->own, i, run_from(r), r->kept, run_bias(r) != NULL ?
	    r->spare : NULL, run_to(r), r->more, run_scratch(r, thread));
}

static void
gradient(int i, int thread, void *arg)
{
	const struct run *r = arg;

	weights_run(r->p->own, i, r->x, r->y, r->p->t->dw[0], r->spare,
	    run_scratch(r, thread));
}

static void
add_block(int i, int thread, void *arg)
{
	const struct run *r = arg;

	(void)thread;
	weights_add(r->p->own, i, r->p->t->dw[0], r->spare);
}

/* Copy the bias and fill it up with zeros to a row of the output. */
static void
fill_bias(int i, int thread, void *arg)
{
	const struct run *r = arg;
	const struct dims *d = &r->p->out;

	(void)i;
	(void)thread;
	memset(r->spare, 0, (size_t)half_row(d) * sizeof(float));
	memcpy(r->spare, run_bias(r), (size_t)d->c * sizeof(float));
}

static int
make(struct pass *p)
{
	struct product_shape s = shape_of(p);
	struct phase *run = p->run;

	if (p->kind == CONV_WEIGHTS) {
		p->own = weights_new(&s, pass_threads(p));
		p->spare = weights_sums(p->own);
		p->scratch = weights_scratch(p->own);
		run[0] = (struct phase){ gradient, weights_jobs(p->own) };
		run[1] = (struct phase){ add_block, weights_blocks(p->own) };
		return 0;
	}
	p->own = product_new(&s, pass_threads(p));
	p->kept = product_weights(p->own);
	p->spare = (size_t)s.out_row * sizeof(float);
	p->scratch = product_scratch(p->own);
	p->order[0] = (struct phase){ order_slice, product_slices(p->own) };
	if (p->t->op->bias && p->kind == CONV_FORWARD)
		*run++ = (struct phase){ fill_bias, 1 };
	*run = (struct phase){ run_product, product_jobs(p->own) };
	return 0;
}

static void
release(struct pass *p)
{
	if (p->kind == CONV_WEIGHTS)
		weights_free(p->own);
	else
		product_free(p->own);
}

static const char *
describe(const struct pass *p)
{
	return p->kind == CONV_WEIGHTS ? "sum of AMX tiles" :
	    "product of AMX tiles";
}

const struct algorithm conv_by_tiles = {
	.name = "tiles", .fits = fits, .make = make, .release = release,
	.adds = 1, .describe = describe,
};
