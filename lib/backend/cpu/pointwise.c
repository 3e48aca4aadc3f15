/*
 * Operators that treat each element by itself, and shift, which moves whole
 * frames of a channel.
 */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/exp_kernels.h"
#include "base/rng.h"

#define GRAIN 16384		/* floats per part */

/*
 * ---- input: y = (x / 255 - mean) / sd of bytes, by a table ----
 *
 * The table has one float per channel and byte value.  The output has the pixel
 * layout, or is blocked and then padded with zeros.
 */

static void
cpu_input_image(struct task *t, int i)
{
	size_t hw = cpu_positions(&t->out), C = (size_t)t->out.c;
	size_t step = cpu_step(&t->out);
	const uint8_t *from = t->feed->stream[t->op->input.stream].bytes +
	    (size_t)i * hw * C;
	const float *value = t->scratch;	/* [C][256] */

	if (step > 1)
		memset(cpu_plane(&t->out, t->y, i, 0), 0,
		    cpu_image(&t->out) * sizeof(float));
	for (size_t c = 0; c < C; c++) {
		float *to = cpu_element(&t->out, t->y, i, 0, (int)c);

		for (size_t p = 0; p < hw; p++)
			to[p * step] = value[c * 256 + from[C * p + c]];
	}
}

static size_t
cpu_input_scratch(const struct task *t)
{
	return (size_t)t->out.c * 256 * sizeof(float);
}

static void
cpu_input_forward(struct task *t)
{
	float *value = t->scratch;

	for (int c = 0; c < t->out.c; c++)
		for (int v = 0; v < 256; v++)
			value[c * 256 + v] = (float)((v / 255.0 -
			    t->op->input.mean.v[c]) / t->op->input.sd.v[c]);
	cpu_run_task(t, cpu_images(&t->out), cpu_input_image);
}

const struct op_impl cpu_input = {
	.scratch = cpu_input_scratch, .forward = cpu_input_forward,
};

/*
 * ---- relu, relu6, swish, sigmoid ----
 *
 * A row defines the functions of an operator by its kernels, which compute y
 * from x, and dx from dy and ${saved}, x or y.
 */
#define CPU_FORWARD(name, kernels) \
	static void cpu_ ## name ## _range(size_t from, size_t to, void *arg) \
	{ \
		struct task *t = arg; \
		(kernels)->name((float *)t->y + from, \
		    (const float *)t->x[0] + from, to - from); \
	} \
	static void cpu_ ## name ## _forward(struct task *t) \
	{ \
		cpu_ranges(cpu_of(t), cpu_floats(&t->out), GRAIN, \
		    cpu_ ## name ## _range, t); \
	}
#define CPU_BACKWARD(name, kernels, saved, ...) \
	static void cpu_ ## name ## _back_range(size_t from, size_t to, \
	    void *arg) \
	{ \
		struct task *t = arg; \
		(kernels)->name ## _back((float *)t->dx[0] + from, \
		    (const float *)t->dy + from, \
		    (const float *)(saved) + from, to - from, \
		    t->accumulate[0]); \
	} \
	static void cpu_ ## name ## _backward(struct task *t) \
	{ \
		if (t->dx[0] != NULL) \
			cpu_ranges(cpu_of(t), cpu_floats(&t->out), GRAIN, \
			    cpu_ ## name ## _back_range, t); \
	} \
	const struct op_impl cpu_ ## name = { __VA_ARGS__, \
		.forward = cpu_ ## name ## _forward, \
		.backward = cpu_ ## name ## _backward }
#define CPU_POINTWISE(name, kernels, saved, ...) \
	CPU_FORWARD(name, kernels) \
	CPU_BACKWARD(name, kernels, saved, __VA_ARGS__)

CPU_POINTWISE(relu, cpu_k(t), t->y, .reads = READS_Y);
CPU_POINTWISE(relu6, cpu_k(t), t->y, .reads = READS_Y);
CPU_POINTWISE(swish, exp_kernels_pick(), t->x[0], .reads = READS_X);

/* By planes, because padding must stay 0 and sigmoid(0) is not. */
static void
cpu_sigmoid_block(struct task *t, int i, int b)
{
	exp_kernels_pick()->sigmoid(cpu_plane(&t->out, t->y, i, b),
	    cpu_plane(&t->out, t->x[0], i, b), cpu_positions(&t->out),
	    t->out.c - b * cpu_lanes());
}

static void
cpu_sigmoid_forward(struct task *t)
{
	cpu_run_blocks(t, cpu_images(&t->out), cpu_sigmoid_block);
}

CPU_BACKWARD(sigmoid, exp_kernels_pick(), t->y, .reads = READS_Y,
    .prepare = cpu_blocked);

/*
 * ---- scale: y = factor x, where the factor is a constant or a parameter ----
 */

static float
cpu_scale_factor(const struct task *t)
{
	return t->op->scale.trained ? *(const float *)t->w[0] :
	    (float)op_factor(t->op, t->in[0].c);
}

static void
cpu_scale_range(size_t from, size_t to, void *arg)
{
	struct task *t = arg;

	cpu_k(t)->scale((float *)t->y + from, cpu_scale_factor(t),
	    (const float *)t->x[0] + from, to - from, 0);
}

static void
cpu_scale_forward(struct task *t)
{
	cpu_ranges(cpu_of(t), cpu_floats(&t->out), GRAIN, cpu_scale_range, t);
}

/* dx (+)= factor dy, and this range's part of dfactor = sum of x dy. */
static void
cpu_scale_back_range(size_t from, size_t to, void *arg)
{
	struct task *t = arg;
	const float *dy = (const float *)t->dy + from;

	if (t->dx[0] != NULL)
		cpu_k(t)->scale((float *)t->dx[0] + from, cpu_scale_factor(t),
		    dy, to - from, t->accumulate[0]);
	if (t->needs_weight_grad)
		((double *)t->scratch)[from / GRAIN] = cpu_k(t)->dot(dy,
		    (const float *)t->x[0] + from, to - from);
}

static size_t
cpu_scale_scratch(const struct task *t)
{
	return t->needs_weight_grad ? (cpu_floats(&t->out) / GRAIN + 1) *
	    sizeof(double) : 0;
}

static void
cpu_scale_backward(struct task *t)
{
	size_t n = cpu_floats(&t->out);
	double sum = 0;

	cpu_ranges(cpu_of(t), n, GRAIN, cpu_scale_back_range, t);
	for (size_t i = 0; i < (n + GRAIN - 1) / GRAIN && t->needs_weight_grad;
	    i++)
		sum += ((const double *)t->scratch)[i];
	if (t->needs_weight_grad)
		*(float *)t->dw[0] = (float)sum;
}

const struct op_impl cpu_scale = {
	.reads = READS_X_DW, .scratch = cpu_scale_scratch,
	.forward = cpu_scale_forward, .backward = cpu_scale_backward,
};

/* ---- add ---- */

static void
cpu_add_range(size_t from, size_t to, void *arg)
{
	struct task *t = arg;
	float *y = (float *)t->y + from;

	cpu_k(t)->add(y, (const float *)t->x[0] + from,
	    (const float *)t->x[1] + from, to - from);
	for (int j = 2; j < t->op->nin; j++)
		cpu_k(t)->add(y, y, (const float *)t->x[j] + from, to - from);
}

static void
cpu_add_forward(struct task *t)
{
	cpu_ranges(cpu_of(t), cpu_floats(&t->out), GRAIN, cpu_add_range, t);
}

static void
cpu_add_back_range(size_t from, size_t to, void *arg)
{
	struct task *t = arg;

	for (int j = 0; j < t->op->nin; j++)
		if (t->dx[j] != NULL)
			cpu_k(t)->scale((float *)t->dx[j] + from, 1,
			    (const float *)t->dy + from, to - from,
			    t->accumulate[j]);
}

static void
cpu_add_backward(struct task *t)
{
	cpu_ranges(cpu_of(t), cpu_floats(&t->out), GRAIN, cpu_add_back_range,
	    t);
}

const struct op_impl cpu_add = {
	.forward = cpu_add_forward, .backward = cpu_add_backward,
};

/*
 * ---- shift: the temporal shift of TSM (Lin et al. 2019) ----
 *
 * The first c / fold channels come from the next frame, the next c / fold from
 * the previous frame, and all others from the same frame.  Frames beyond the
 * clip are 0.  Blocks are copied whole; only a block whose channels come from
 * different frames is copied lane by lane.
 */

/*
 * Move block ${b} of image ${i}.  ${sign} is 1 for activations and -1 for their
 * gradients, which move back.
 */
static void
cpu_shift_block(struct task *t, int i, int b, int sign)
{
	const struct dims *d = &t->out;
	const float *from = sign > 0 ? t->x[0] : t->dy;
	size_t hw = cpu_positions(d);
	int lanes = cpu_lanes(), frame = i % d->t;
	int more = sign < 0 && t->accumulate[0];
	float *y = cpu_plane(d, sign > 0 ? t->y : t->dx[0], i, b);

	for (int c = 0; c < lanes;) {
		int by = sign * op_shift(t->op, t->out.c, b * lanes + c),
		    end = c + 1;
		const float *x = frame + by < 0 || frame + by >= d->t ? NULL :
		    cpu_plane(d, from, i + by, b);

		while (end < lanes && sign * op_shift(t->op, t->out.c,
		    b * lanes + end) == by)
			end++;
		if (c == 0 && end == lanes && x != NULL)
			cpu_k(t)->scale(y, 1, x, hw * (size_t)lanes, more);
		else
			for (size_t p = 0; p < hw; p++)
				for (int k = c; k < end; k++) {
					float v = x != NULL ?
					    x[p * (size_t)lanes + k] : 0;
					float *o = &y[p * (size_t)lanes + k];

					*o = more ? *o + v : v;
				}
		c = end;
	}
}

int
cpu_shift_ranges(const struct task *shift, int row,
    struct cpu_shift_range r[8])
{
	int n = 0, c = 0, channels = shift->out.c;

	while (c < row) {
		int by = c < channels ? op_shift(shift->op, channels, c) : 0;

		r[n] = (struct cpu_shift_range){ c, c, by };
		while (c < row && (c < channels ? op_shift(shift->op, channels,
		    c) : 0) == by)
			c++;
		r[n++].to = c;
	}
	return n;
}

static void
cpu_shift_forward_block(struct task *t, int i, int b)
{
	cpu_shift_block(t, i, b, 1);
}

static void
cpu_shift_forward(struct task *t)
{
	cpu_run_blocks(t, cpu_images(&t->out), cpu_shift_forward_block);
}

static void
cpu_shift_back_block(struct task *t, int i, int b)
{
	cpu_shift_block(t, i, b, -1);
}

static void
cpu_shift_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cpu_run_blocks(t, cpu_images(&t->out), cpu_shift_back_block);
}

const struct op_impl cpu_shift = {
	.prepare = cpu_blocked, .forward = cpu_shift_forward,
	.backward = cpu_shift_backward,
};

/*
 * ---- dropout ----
 *
 * The random number depends on seed, clip, operator and position only, as in
 * backend/ref.
 */

static size_t
cpu_dropout_scratch(const struct task *t)
{
	return dims_count(&t->out) * sizeof(float);
}

/*
 * to (+)= from * (0 with probability rate, otherwise 1 / (1 - rate)), on rows
 */
static void
cpu_dropout_run(struct task *t, const void *from, void *to, int more)
{
	size_t n = dims_count(&t->out), each = n / (size_t)t->out.n;
	float keep = (float)(1 / (1 - t->op->dropout.rate));
	float *v = t->scratch;
	struct rng_block draw = { { 0 } };

	cpu_rows_read(t, &t->out, v, from);
	for (size_t i = 0; i < n; i++) {
		if (i % each % 4 == 0)
			draw = rng_dropout(t->feed->seed,
			    t->feed->clip[i / each], (uint32_t)t->index,
			    i % each);
		v[i] = rng_unit(draw.w[i % each % 4]) < t->op->dropout.rate ?
		    0 : keep * v[i];
	}
	cpu_rows_write(t, &t->out, to, v, more);
}

static void
cpu_dropout_forward(struct task *t)
{
	if (t->training)
		cpu_dropout_run(t, t->x[0], t->y, 0);
	else
		memcpy(t->y, t->x[0], cpu_floats(&t->out) * sizeof(float));
}

static void
cpu_dropout_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cpu_dropout_run(t, t->dy, t->dx[0], t->accumulate[0]);
}

const struct op_impl cpu_dropout = {
	.prepare = cpu_blocked, .scratch = cpu_dropout_scratch,
	.forward = cpu_dropout_forward, .backward = cpu_dropout_backward,
};
