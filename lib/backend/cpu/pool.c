/*
 * The operators maxpool and avgpool: maxima and means over windows, and means
 * over whole axes.
 */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/fail.h"

#define REAL float
#include "backend/ref/ref.h"

/*
 * ---- windows ----
 *
 * The planar kernels handle h and w; the loop over the frames of a window is
 * here.  Forward, output frame t takes the input frames it covers in their
 * order.  Backward, input frame t takes the output frames that cover it.
 */

struct plane_window
cpu_pool_window(const struct task *t)
{
	const struct op *op = t->op;

	return (struct plane_window){ t->in[0].h, t->in[0].w, t->out.h,
		t->out.w, { op->k[1], op->k[2] }, { op->s[1], op->s[2] },
		{ op->p[1], op->p[2] } };
}

/*
 * Return the input image under tap ${a} in time of output image ${image}, or -1
 * for padding.
 */
static int
cpu_pool_under(const struct task *t, int image, int a)
{
	int frame = image % t->out.t * t->op->s[0] - t->op->p[0] + a;

	return frame < 0 || frame >= t->in[0].t ? -1 :
	    image / t->out.t * t->in[0].t + frame;
}

/*
 * Return the output image whose tap ${a} in time covers input image ${image},
 * or -1 if there is none.
 */
static int
cpu_pool_over(const struct task *t, int image, int a)
{
	int from = image % t->in[0].t + t->op->p[0] - a;
	int frame = from / t->op->s[0];

	return from < 0 || from % t->op->s[0] != 0 || frame >= t->out.t ? -1 :
	    image / t->in[0].t * t->out.t + frame;
}

static int
cpu_maxpool_prepare(struct task *t)
{
	const struct op *op = t->op;

	if (op->k[0] * op->k[1] * op->k[2] > 255)
		return fail("%s: the cpu back end pools windows of up to 255 "
		    "positions; use the ref back end", op->name);
	return cpu_blocked(t);
}

static size_t
cpu_maxpool_saved(const struct task *t)
{
	return cpu_floats(&t->out);	/* one byte per element: its tap */
}

static uint8_t *
cpu_pool_taps_of(const struct task *t, int image, int block)
{
	return (uint8_t *)t->saved + (cpu_plane(&t->out, t->y, image,
	    block) - (const float *)t->y);
}

/*
 * Return the factor of the sum over one frame of a window at output image
 * ${image}.  If the mean excludes padding, the kernel divides by the positions
 * inside the plane, and only the frames remain to be counted here.
 */
static float
cpu_pool_frame_weight(const struct task *t, int image)
{
	const int *k = t->op->k;
	int inside = 0;

	for (int a = 0; a < k[0]; a++)
		inside += cpu_pool_under(t, image, a) >= 0;
	return t->op->avgpool.exclude_pad ? 1.0f / (float)inside :
	    1.0f / (float)(k[0] * k[1] * k[2]);
}

/* y = maximum or mean over windows */
static void
cpu_pool_block(struct task *t, int i, int b)
{
	struct plane_window v = cpu_pool_window(t);
	float *y = cpu_plane(&t->out, t->y, i, b);
	int more = 0;

	for (int a = 0; a < t->op->k[0]; a++) {
		int from = cpu_pool_under(t, i, a);
		const float *x;

		if (from < 0)
			continue;
		x = cpu_plane(&t->in[0], t->x[0], from, b);
		if (t->op->kind == OP_MAXPOOL)
			cpu_k(t)->maxpool(y, cpu_pool_taps_of(t, i, b), x, &v,
			    a * v.k[0] * v.k[1], more);
		else
			cpu_k(t)->avgpool(y, x, &v, cpu_pool_frame_weight(t, i),
			    t->op->avgpool.exclude_pad, more);
		more = 1;
	}
}

static void
cpu_pool_back_block(struct task *t, int i, int b)
{
	struct plane_window v = cpu_pool_window(t);
	float *dx = cpu_plane(&t->in[0], t->dx[0], i, b);
	int more = t->accumulate[0];

	for (int a = 0; a < t->op->k[0]; a++) {
		int from = cpu_pool_over(t, i, a);
		const float *dy;

		if (from < 0)
			continue;
		dy = cpu_plane(&t->out, t->dy, from, b);
		if (t->op->kind == OP_MAXPOOL)
			cpu_k(t)->maxpool_back(dx, dy, cpu_pool_taps_of(t,
			    from, b), &v, a * v.k[0] * v.k[1], more);
		else
			cpu_k(t)->avgpool_back(dx, dy, &v,
			    cpu_pool_frame_weight(t, from),
			    t->op->avgpool.exclude_pad, more);
		more = 1;
	}
	if (!more)
		memset(dx, 0, cpu_positions(&t->in[0]) * (size_t)cpu_lanes() *
		    sizeof(float));
}

static void
cpu_pool_forward(struct task *t)
{
	cpu_run_blocks(t, cpu_images(&t->out), cpu_pool_block);
}

static void
cpu_pool_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cpu_run_blocks(t, cpu_images(&t->in[0]), cpu_pool_back_block);
}

const struct op_impl cpu_maxpool = {
	.prepare = cpu_maxpool_prepare, .saved = cpu_maxpool_saved,
	.forward = cpu_pool_forward, .backward = cpu_pool_backward,
};

/* ---- avgpool over whole axes ---- */

/*
 * Return 1 if the mean is over h and w together, over t, or over both, on
 * blocked planes.  These cases process whole planes; all others run on copies
 * in rows.
 */
static int
cpu_pool_whole_planes(const struct task *t)
{
	int over = t->op->avgpool.axes;

	if (cpu_is_pixels(&t->in[0]) || cpu_is_pixels(&t->out))
		return 0;
	return !(over & OVER_H) == !(over & OVER_W) ||
	    cpu_positions(&t->in[0]) == 1;
}

/* Return the number of input images that an output image averages. */
static int
cpu_pool_frames(const struct task *t)
{
	return t->in[0].t / t->out.t;
}

/* Return 1 / n for outputs that average n inputs. */
static double
cpu_pool_share(const struct task *t)
{
	return (double)dims_count(&t->out) / (double)dims_count(&t->in[0]);
}

static void
cpu_avgpool_block(struct task *t, int i, int b)
{
	int lanes = cpu_lanes(), n = cpu_pool_frames(t);
	size_t hw = cpu_positions(&t->in[0]), out = cpu_positions(&t->out);
	float *y = cpu_plane(&t->out, t->y, i, b);
	float factor = (float)cpu_pool_share(t), sum[LANES_MAX];

	for (int f = 0; f < n; f++) {
		const float *x = cpu_plane(&t->in[0], t->x[0], i * n + f, b);

		if (out > 1) {		/* over t alone: each position */
			cpu_k(t)->scale(y, factor, x, hw * (size_t)lanes,
			    f > 0);
			continue;
		}
		cpu_k(t)->plane_sum(x, hw, sum);
		for (int c = 0; c < lanes; c++)
			y[c] = (f > 0 ? y[c] : 0) + sum[c] * factor;
	}
}

static void
cpu_avgpool_forward(struct task *t)
{
	if (t->op->avgpool.axes == 0)
		cpu_pool_forward(t);
	else if (cpu_pool_whole_planes(t))
		cpu_run_blocks(t, cpu_images(&t->out), cpu_avgpool_block);
	else
		cpu_fallback_forward(t);
}

static void
cpu_avgpool_back_block(struct task *t, int i, int b)
{
	int lanes = cpu_lanes(), n = cpu_pool_frames(t);
	size_t hw = cpu_positions(&t->in[0]), out = cpu_positions(&t->out);
	const float *dy = cpu_plane(&t->out, t->dy, i, b);
	float factor = (float)cpu_pool_share(t), v[LANES_MAX];

	for (int f = 0; f < n; f++) {
		float *dx = cpu_plane(&t->in[0], t->dx[0], i * n + f, b);

		if (out > 1) {
			cpu_k(t)->scale(dx, factor, dy, hw * (size_t)lanes,
			    t->accumulate[0]);
			continue;
		}
		for (int c = 0; c < lanes; c++)
			v[c] = dy[c] * factor;
		cpu_k(t)->plane_fill(dx, hw, v, t->accumulate[0]);
	}
}

/* dx (+)= dy / n, divided in float, on rows */
static void
cpu_avgpool_rows_back(struct task *t)
{
	const struct dims *in = &t->in[0], *out = &t->out;
	size_t n = dims_count(in);
	float share = (float)cpu_pool_share(t), *dx = t->scratch, *dy = dx + n;

	cpu_rows_read(t, out, dy, t->dy);
	for (size_t i = 0; i < n; i++)
		dx[i] = dy[ref_broadcast(in, out, i)] * share;
	cpu_rows_write(t, in, t->dx[0], dx, t->accumulate[0]);
}

static void
cpu_avgpool_backward(struct task *t)
{
	if (t->dx[0] == NULL)
		return;
	if (t->op->avgpool.axes == 0)
		cpu_pool_backward(t);
	else if (cpu_pool_whole_planes(t))
		cpu_run_blocks(t, cpu_images(&t->out), cpu_avgpool_back_block);
	else
		cpu_avgpool_rows_back(t);
}

static int
cpu_avgpool_prepare(struct task *t)
{
	return t->op->avgpool.axes == 0 ? cpu_blocked(t) : 0;
}

static size_t
cpu_avgpool_scratch(const struct task *t)
{
	return t->op->avgpool.axes == 0 || cpu_pool_whole_planes(t) ? 0 :
	    cpu_fallback_scratch(t);
}

const struct op_impl cpu_avgpool = {
	.prepare = cpu_avgpool_prepare, .scratch = cpu_avgpool_scratch,
	.forward = cpu_avgpool_forward, .backward = cpu_avgpool_backward,
};
