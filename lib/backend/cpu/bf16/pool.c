/*
 * The operators maxpool and avgpool in bf16: windows over h and w, and means
 * over h and w.  All other cases run in fp32 on widened copies.
 */
#include <string.h>

#include "backend/cpu/bf16/bf16.h"
#include "base/fail.h"

/* ---- maxpool ---- */

static int
bf16_maxpool_prepare(struct task *t)
{
	const struct op *op = t->op;

	if (bf16_is(&t->in[0]) && bf16_is(&t->out) && op->k[0] == 1 &&
	    op->s[0] == 1 && op->p[0] == 0 && op->k[1] * op->k[2] <= 255)
		return cpu_blocked(t);
	t->impl = &bf16_fallback;
	return t->impl->prepare(t);
}

static size_t
bf16_maxpool_saved(const struct task *t)
{
	/* One byte per element: its tap. */
	return (size_t)cpu_images(&t->out) * bf16_image(&t->out);
}

/* Row i % h of image i / h. */
static void
bf16_maxpool_row(struct task *t, int i)
{
	struct plane_window v = cpu_pool_window(t);
	int image = i / t->out.h, h = i % t->out.h;
	bf16 *y = bf16_at(&t->out, t->y, image, (size_t)h * t->out.w);

	bf16_k(t)->maxpool(y, (uint8_t *)t->saved + (y - (bf16 *)t->y),
	    bf16_at(&t->in[0], t->x[0], image, 0), bf16_row(&t->out), &v, h);
}

static void
bf16_maxpool_forward(struct task *t)
{
	cpu_run_task(t, cpu_images(&t->out) * t->out.h, bf16_maxpool_row);
}

static void
bf16_maxpool_back_row(struct task *t, int i)
{
	struct plane_window v = cpu_pool_window(t);
	int image = i / t->in[0].h, h = i % t->in[0].h;

	bf16_k(t)->maxpool_back(bf16_at(&t->in[0], t->dx[0], image,
	    (size_t)h * t->in[0].w), bf16_at(&t->out, t->dy, image, 0),
	    (const uint8_t *)t->saved + (size_t)image * bf16_image(&t->out),
	    bf16_row(&t->out), &v, h, t->accumulate[0]);
}

static void
bf16_maxpool_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cpu_run_task(t, cpu_images(&t->in[0]) * t->in[0].h,
		    bf16_maxpool_back_row);
}

const struct op_impl bf16_maxpool = {
	.prepare = bf16_maxpool_prepare, .saved = bf16_maxpool_saved,
	.forward = bf16_maxpool_forward, .backward = bf16_maxpool_backward,
};

/* ---- avgpool: from bf16 positions to one row of fp32 per image ---- */

static int
bf16_avgpool_prepare(struct task *t)
{
	if (bf16_is(&t->in[0]) && t->op->avgpool.axes == (OVER_H | OVER_W) &&
	    !cpu_is_pixels(&t->in[0]))
		return 0;
	t->impl = &bf16_fallback;
	return t->impl->prepare(t);
}

static size_t
bf16_avgpool_scratch(const struct task *t)
{
	return (size_t)bf16_row(&t->out) * (size_t)cpu_images(&t->out) *
	    sizeof(float);
}

static void
bf16_avgpool_image(struct task *t, int i)
{
	const struct dims *in = &t->in[0];
	size_t positions = cpu_positions(in);
	size_t row = cpu_image(&t->out);
	float *sum = (float *)t->scratch + (size_t)i * row;

	bf16_k(t)->sum(bf16_at(in, t->x[0], i, 0), positions, bf16_row(in),
	    sum);
	cpu_k(t)->scale((float *)t->y + (size_t)i * row, 1 / (float)positions,
	    sum, row, 0);
}

static void
bf16_avgpool_forward(struct task *t)
{
	cpu_run_task(t, cpu_images(&t->out), bf16_avgpool_image);
}

static void
bf16_avgpool_back_image(struct task *t, int i)
{
	const struct dims *in = &t->in[0];
	size_t positions = cpu_positions(in), row = cpu_image(&t->out);
	float *v = (float *)t->scratch + (size_t)i * row;

	cpu_k(t)->scale(v, 1 / (float)positions, (const float *)t->dy +
	    (size_t)i * row, row, 0);
	bf16_k(t)->fill(bf16_at(in, t->dx[0], i, 0), positions, bf16_row(in), v,
	    t->accumulate[0]);
}

static void
bf16_avgpool_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cpu_run_task(t, cpu_images(&t->in[0]), bf16_avgpool_back_image);
}

const struct op_impl bf16_avgpool = {
	.prepare = bf16_avgpool_prepare, .scratch = bf16_avgpool_scratch,
	.forward = bf16_avgpool_forward, .backward = bf16_avgpool_backward,
};
