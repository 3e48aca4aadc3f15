/* The operator softmax. */
#include "backend/cpu/cpu.h"
#include "backend/cpu/exp_kernels.h"

/*
 * ---- softmax ----
 *
 * Over the channels of blocked planes, the case of attention, the kernels take
 * SOFTMAX_POSITIONS positions at a time.  The loops of backend/ref do all other
 * axes and layouts.
 */

static int
cpu_softmax_over_channels(const struct task *t)
{
	return t->op->softmax.axes == OVER_C && !cpu_is_pixels(&t->out);
}

/*
 * Part ${i} is up to SOFTMAX_POSITIONS consecutive positions of an image.
 * Describe them in ${s} and return the offset of the first, in floats.
 */
static size_t
cpu_softmax_span_of(const struct task *t, int i, struct softmax_span *s)
{
	size_t hw = cpu_positions(&t->out);
	size_t parts = (hw + SOFTMAX_POSITIONS - 1) / SOFTMAX_POSITIONS;
	size_t place = (size_t)i % parts * SOFTMAX_POSITIONS;
	size_t lanes = (size_t)cpu_lanes();

	*s = (struct softmax_span){ hw - place < SOFTMAX_POSITIONS ?
		hw - place : SOFTMAX_POSITIONS, hw * lanes,
		cpu_blocks(t->out.c), t->out.c };
	return (size_t)i / parts * cpu_image(&t->out) + place * lanes;
}

static void
cpu_softmax_part(struct task *t, int i)
{
	struct softmax_span s;
	size_t at = cpu_softmax_span_of(t, i, &s);

	exp_kernels_pick()->softmax((float *)t->y + at,
	    (const float *)t->x[0] + at, &s);
}

static void
cpu_softmax_back_part(struct task *t, int i)
{
	struct softmax_span s;
	size_t at = cpu_softmax_span_of(t, i, &s);

	exp_kernels_pick()->softmax_back((float *)t->dx[0] + at,
	    (const float *)t->dy + at, (const float *)t->y + at, &s,
	    t->accumulate[0]);
}

static int
cpu_softmax_parts(const struct task *t)
{
	return cpu_images(&t->out) *
	    (int)((cpu_positions(&t->out) + SOFTMAX_POSITIONS - 1) /
	    SOFTMAX_POSITIONS);
}

static size_t
cpu_softmax_scratch(const struct task *t)
{
	return cpu_softmax_over_channels(t) ? 0 : cpu_fallback_scratch(t);
}

static void
cpu_softmax_forward(struct task *t)
{
	if (cpu_softmax_over_channels(t))
		cpu_run_task(t, cpu_softmax_parts(t), cpu_softmax_part);
	else
		cpu_fallback_forward(t);
}

static void
cpu_softmax_backward(struct task *t)
{
	if (t->dx[0] == NULL)
		return;
	if (cpu_softmax_over_channels(t))
		cpu_run_task(t, cpu_softmax_parts(t), cpu_softmax_back_part);
	else
		cpu_fallback_backward(t);
}

const struct op_impl cpu_softmax = {
	.reads = READS_Y, .scratch = cpu_softmax_scratch,
	.forward = cpu_softmax_forward, .backward = cpu_softmax_backward,
};
