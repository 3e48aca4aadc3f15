/* The operator softmax, and the kernels of the exponential function. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/exp_kernels.h"

const struct exp_kernels *
exp_kernels_pick(void)
{
	return ISA_PICK(&exp_kernels);
}

/*
 * ---- softmax ----
 *
 * Over the channels of blocked planes, the case of attention, the kernels take
 * SOFTMAX_POSITIONS positions at a time. All other axes and layouts go element
 * by element, in double precision.
 */

static int
cpu_exp_over_channels(const struct task *t)
{
	return t->op->softmax.axes == OVER_C && !cpu_is_pixels(&t->out);
}

/*
 * Part ${i} is up to SOFTMAX_POSITIONS consecutive positions of an image.
 * Describe them in ${s} and return the offset of the first, in floats.
 */
static size_t
cpu_exp_shares_of(const struct task *t, int i, struct softmax_span *s)
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
cpu_softmax_part(int i, int thread, void *arg)
{
	struct task *t = arg;
	struct softmax_span s;
	size_t at = cpu_exp_shares_of(t, i, &s);

	(void)thread;
	exp_kernels_pick()->softmax((float *)t->y + at,
	    (const float *)t->x[0] + at, &s);
}

static void
cpu_softmax_back_part(int i, int thread, void *arg)
{
	struct task *t = arg;
	struct softmax_span s;
	size_t at = cpu_exp_shares_of(t, i, &s);

	(void)thread;
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

/*
 * The shape of the maxima and sums: 1 on each axis that the softmax sums over.
 */
static struct dims
cpu_exp_groups_of(const struct task *t)
{
	int over = t->op->softmax.axes;
	const struct dims *d = &t->out;

	return (struct dims){ d->n, over & OVER_T ? 1 : d->t,
		over & OVER_H ? 1 : d->h, over & OVER_W ? 1 : d->w,
		over & OVER_C ? 1 : d->c };
}

static size_t
cpu_softmax_scratch(const struct task *t)
{
	struct dims g = cpu_exp_groups_of(t);

	return cpu_exp_over_channels(t) ? 0 : 2 * dims_count(&g) *
	    sizeof(double);
}

/* A loop over the elements of a clip in logical order, for any set of axes. */
struct cpu_exp_walk {
	struct task *t;
	struct dims g;
	double *v;			/* [2][groups]: maximum and sum */
	void (*visit)(const struct cpu_exp_walk *, size_t group, int image,
	    size_t place, int c);
};

static void
cpu_exp_walk_clip(int n, int thread, void *arg)
{
	const struct cpu_exp_walk *k = arg;
	const struct dims *d = &k->t->out, *g = &k->g;

	(void)thread;
	for (int t = 0; t < d->t; t++)
	for (int h = 0; h < d->h; h++)
	for (int w = 0; w < d->w; w++)
		for (int c = 0; c < d->c; c++)
			k->visit(k, ((((size_t)n * g->t + t % g->t) * g->h +
			    h % g->h) * g->w + w % g->w) * g->c + c % g->c,
			    n * d->t + t, (size_t)h * d->w + w, c);
}

static void
cpu_exp_walk(struct task *t, void (*visit)(const struct cpu_exp_walk *,
    size_t, int, size_t, int))
{
	struct cpu_exp_walk k = { t, cpu_exp_groups_of(t), t->scratch,
	    visit };

	cpu_run(t, t->out.n, cpu_exp_walk_clip, &k);
}

static void
cpu_exp_visit_top(const struct cpu_exp_walk *k, size_t g, int image,
    size_t place, int c)
{
	double x = *cpu_element(&k->t->out, k->t->x[0], image, place, c);

	k->v[g] = x > k->v[g] ? x : k->v[g];
}

static void
cpu_exp_visit_sum(const struct cpu_exp_walk *k, size_t g, int image,
    size_t place, int c)
{
	k->v[dims_count(&k->g) + g] += exp(*cpu_element(&k->t->out, k->t->x[0],
	    image, place, c) - k->v[g]);
}

static void
cpu_exp_visit_share(const struct cpu_exp_walk *k, size_t g, int image,
    size_t place, int c)
{
	*cpu_element(&k->t->out, k->t->y, image, place, c) = (float)
	    (exp(*cpu_element(&k->t->out, k->t->x[0], image, place, c) -
	    k->v[g]) / k->v[dims_count(&k->g) + g]);
}

static void
cpu_exp_visit_dot(const struct cpu_exp_walk *k, size_t g, int image,
    size_t place, int c)
{
	k->v[g] += (double)*cpu_element(&k->t->out, k->t->y, image, place, c) *
	    *cpu_element(&k->t->out, k->t->dy, image, place, c);
}

static void
cpu_exp_visit_slope(const struct cpu_exp_walk *k, size_t g, int image,
    size_t place, int c)
{
	const struct dims *d = &k->t->out;

	*cpu_element(d, k->t->dx[0], image, place, c) += (float)
	    (*cpu_element(d, k->t->y, image, place, c) *
	    (*cpu_element(d, k->t->dy, image, place, c) - k->v[g]));
}

static void
cpu_softmax_forward(struct task *t)
{
	struct dims g = cpu_exp_groups_of(t);
	double *v = t->scratch;

	if (cpu_exp_over_channels(t)) {
		cpu_run(t, cpu_softmax_parts(t), cpu_softmax_part, t);
		return;
	}
	for (size_t i = 0, n = dims_count(&g); i < n; i++) {
		v[i] = -INFINITY;
		v[n + i] = 0;
	}
	memset(t->y, 0, cpu_floats(&t->out) * sizeof(float));
	cpu_exp_walk(t, cpu_exp_visit_top);
	cpu_exp_walk(t, cpu_exp_visit_sum);
	cpu_exp_walk(t, cpu_exp_visit_share);
}

static void
cpu_softmax_backward(struct task *t)
{
	if (t->dx[0] == NULL)
		return;
	if (cpu_exp_over_channels(t)) {
		cpu_run(t, cpu_softmax_parts(t), cpu_softmax_back_part, t);
		return;
	}
	memset(t->scratch, 0, cpu_softmax_scratch(t));
	if (!t->accumulate[0])
		memset(t->dx[0], 0, cpu_floats(&t->out) * sizeof(float));
	cpu_exp_walk(t, cpu_exp_visit_dot);
	cpu_exp_walk(t, cpu_exp_visit_slope);
}

const struct op_impl cpu_softmax = {
	.reads = READS_Y, .scratch = cpu_softmax_scratch,
	.forward = cpu_softmax_forward, .backward = cpu_softmax_backward,
};
