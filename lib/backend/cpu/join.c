/* The operators frames, concat and mul, which select or combine activations. */
#include <string.h>

#include "backend/cpu/cpu.h"

/* ---- frames: y[t] = x[op_frame(t)]; whole images, in either layout ---- */

static void
cpu_frames_part(struct task *t, int i)
{
	const struct dims *in = &t->in[0], *out = &t->out;
	size_t size = cpu_image(out);

	memcpy((float *)t->y + (size_t)i * size, (const float *)t->x[0] +
	    (size_t)(i / out->t * in->t + op_frame(t->op, in->t, i % out->t)) *
	    size, size * sizeof(float));
}

static void
cpu_frames_forward(struct task *t)
{
	cpu_run_task(t, cpu_images(&t->out), cpu_frames_part);
}

static void
cpu_frames_back_part(struct task *t, int i)
{
	const struct dims *in = &t->in[0], *out = &t->out;
	size_t size = cpu_image(in);
	float *dx = (float *)t->dx[0] + (size_t)i * size;
	int k = 0;

	while (k < out->t && op_frame(t->op, in->t, k) != i % in->t)
		k++;
	if (k < out->t)
		cpu_k(t)->scale(dx, 1, (const float *)t->dy +
		    (size_t)(i / in->t * out->t + k) * size, size,
		    t->accumulate[0]);
	else if (!t->accumulate[0])
		memset(dx, 0, size * sizeof(float));
}

static void
cpu_frames_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cpu_run_task(t, cpu_images(&t->in[0]), cpu_frames_back_part);
}

const struct op_impl cpu_frames = {
	.forward = cpu_frames_forward, .backward = cpu_frames_backward,
};

/*
 * ---- concat: along the channels ----
 *
 * Image by image and input by input.  Planes that one input fills are copied
 * whole, the other channels one by one.
 */

/* An activation from channel ${c}. */
struct cpu_join_from { const struct dims *d; float *x; int c; };

/* Clear the lanes beyond the last channel of image ${i}. */
static void
cpu_join_pad(const struct dims *d, float *x, int i)
{
	if (!cpu_is_pixels(d) && d->c % cpu_lanes() != 0)
		memset(cpu_plane(d, x, i, cpu_blocks(d->c) - 1), 0,
		    cpu_positions(d) * (size_t)cpu_lanes() * sizeof(float));
}

/* to (+)= from, for ${n} channels of image ${i} */
static void
cpu_join_copy(const struct task *t, int i, struct cpu_join_from to,
    struct cpu_join_from from, int n, int more)
{
	int lanes = cpu_lanes(), planes = !cpu_is_pixels(to.d) &&
	    !cpu_is_pixels(from.d) && to.c % lanes == 0 && from.c % lanes == 0;
	int whole = planes ? n / lanes * lanes : 0;
	size_t hw = cpu_positions(to.d), step = cpu_step(from.d);
	size_t to_step = cpu_step(to.d);

	if (whole > 0)
		cpu_k(t)->scale(cpu_element(to.d, to.x, i, 0, to.c), 1,
		    cpu_element(from.d, from.x, i, 0, from.c), hw *
		    (size_t)whole, more);
	for (int c = whole; c < n; c++) {
		float *y = cpu_element(to.d, to.x, i, 0, to.c + c);
		const float *x = cpu_element(from.d, from.x, i, 0, from.c + c);

		for (size_t p = 0; p < hw; p++, y += to_step, x += step)
			*y = more ? *y + *x : *x;
	}
}

static void
cpu_concat_part(struct task *t, int i)
{
	struct cpu_join_from y = { &t->out, t->y, 0 };

	cpu_join_pad(&t->out, t->y, i);
	for (int j = 0; j < t->op->nin; y.c += t->in[j++].c)
		cpu_join_copy(t, i, y, (struct cpu_join_from){ &t->in[j],
		    (float *)t->x[j], 0 }, t->in[j].c, 0);
}

static void
cpu_concat_forward(struct task *t)
{
	cpu_run_task(t, cpu_images(&t->out), cpu_concat_part);
}

static void
cpu_concat_back_part(struct task *t, int i)
{
	struct cpu_join_from dy = { &t->out, (float *)t->dy, 0 };

	for (int j = 0; j < t->op->nin; dy.c += t->in[j++].c) {
		if (t->dx[j] == NULL)
			continue;
		if (!t->accumulate[j])
			cpu_join_pad(&t->in[j], t->dx[j], i);
		cpu_join_copy(t, i, (struct cpu_join_from){ &t->in[j],
		    t->dx[j], 0 }, dy, t->in[j].c, t->accumulate[j]);
	}
}

static void
cpu_concat_backward(struct task *t)
{
	cpu_run_task(t, cpu_images(&t->out), cpu_concat_back_part);
}

const struct op_impl cpu_concat = {
	.forward = cpu_concat_forward, .backward = cpu_concat_backward,
};

/* ---- mul: y = a b, where an axis of b of length 1 is broadcast ---- */

/* Return the plane of ${b} for block ${block} of image ${image} of a. */
static float *
cpu_join_gate(const struct task *t, const void *b, int image, int block)
{
	const struct dims *a = &t->in[0], *d = &t->in[1];

	return cpu_plane(d, b, d->t == a->t ? image : image / a->t, block);
}

/*
 * How the positions of a plane of a match those of b.  A plane of a has ${rows}
 * rows of ${positions} positions.  In floats of b, ${step} leads to the next
 * position and ${row_step} to the next row; 0: all use the same one.
 */
struct cpu_join_run { size_t positions, step, rows, row_step; };

static struct cpu_join_run
cpu_join_run_of(const struct task *t)
{
	const struct dims *a = &t->in[0], *b = &t->in[1];
	size_t lanes = (size_t)cpu_lanes();

	if (cpu_positions(a) == cpu_positions(b) || cpu_positions(b) == 1)
		return (struct cpu_join_run){ cpu_positions(a),
		    cpu_positions(b) == 1 ? 0 :
			lanes, 1, 0 };
	return (struct cpu_join_run){ (size_t)a->w, b->w == 1 ? 0 : lanes,
	    (size_t)a->h,
		b->h == 1 ? 0 : (size_t)b->w * lanes };
}

/* y (+)= x b for one plane */
static void
cpu_mul_plane(const struct task *t, float *y, const float *x, const float *b,
    int more)
{
	struct cpu_join_run r = cpu_join_run_of(t);
	size_t row = r.positions * (size_t)cpu_lanes();

	for (size_t h = 0; h < r.rows; h++)
		cpu_k(t)->mul(y + h * row, x + h * row, b + h * r.row_step,
		    r.positions, r.step, more);
}

static void
cpu_mul_block(struct task *t, int n, int b)
{
	cpu_mul_plane(t, cpu_plane(&t->out, t->y, n, b), cpu_plane(&t->out,
	    t->x[0], n, b), cpu_join_gate(t, t->x[1], n, b), 0);
}

static void
cpu_mul_forward(struct task *t)
{
	cpu_run_blocks(t, cpu_images(&t->out), cpu_mul_block);
}

static void
cpu_mul_back_block(struct task *t, int n, int b)
{
	cpu_mul_plane(t, cpu_plane(&t->out, t->dx[0], n, b), cpu_plane(&t->out,
	    t->dy, n, b), cpu_join_gate(t, t->x[1], n, b), t->accumulate[0]);
}

static size_t
cpu_mul_scratch(const struct task *t)
{
	return t->no_grad ? 0 : cpu_floats(&t->in[1]) * sizeof(double);
}

/*
 * db (+)= sum of a dy over the positions that b is broadcast to, in frame order
 */
static void
cpu_mul_sum_block(struct task *t, int clip, int block)
{
	const struct dims *a = &t->in[0], *b = &t->in[1];
	struct cpu_join_run r = cpu_join_run_of(t);
	size_t row = r.positions * (size_t)cpu_lanes();
	size_t plane = cpu_positions(b) * (size_t)cpu_lanes();

	for (int f = 0; f < a->t; f++) {
		int image = clip * a->t + f;
		float *db = cpu_join_gate(t, t->dx[1], image, block);
		double *sum = (double *)t->scratch + (db -
		    (const float *)t->dx[1]);

		if (f == 0 || b->t > 1)
			memset(sum, 0, plane * sizeof(double));
		for (size_t h = 0; h < r.rows; h++)
			cpu_k(t)->mul_sum(sum + h * r.row_step, cpu_plane(a,
			    t->x[0], image, block) + h * row, cpu_plane(a,
			    t->dy, image, block) + h * row, r.positions,
			    r.step);
		for (size_t k = 0; k < plane && (f == a->t - 1 || b->t > 1);
		    k++)
			db[k] =
			    (float)(sum[k] + (t->accumulate[1] ? db[k] : 0));
	}
}

static void
cpu_mul_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cpu_run_blocks(t, cpu_images(&t->out), cpu_mul_back_block);
	if (t->dx[1] != NULL)
		cpu_run_blocks(t, t->out.n, cpu_mul_sum_block);
}

const struct op_impl cpu_mul = {
	.reads = READS_X, .prepare = cpu_blocked, .scratch = cpu_mul_scratch,
	.forward = cpu_mul_forward, .backward = cpu_mul_backward,
};
