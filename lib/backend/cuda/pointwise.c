/* Elementwise operators. */
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

/*
 * Launch ${kernel}: to = or += f(from), or f of ${from} and ${dy} if that is
 * not NULL.  All have the shape of the output.
 */
static void
cuda_run_curve(struct task *t, enum gpu_kernel kernel, const void *from,
    const void *dy, void *to, int accumulate)
{
	struct cuda *c = cuda_of(t);
	size_t n = cuda_count(&t->out), bytes = n * cuda_size(c->type);
	struct pointwise a = { .from = from, .dy = dy, .to = to, .n = n,
		.c = (unsigned)t->out.c,
		.pitch = (unsigned)cuda_padded(t->out.c),
		.accumulate = accumulate };
	struct launch k = CUDA_KERNEL(c, kernel, cuda_flat(c, n), 1, a);

	if (kernel == GPU_SCALE && t->op->scale.trained) {
		a.by = t->w[0];
		cuda_reads(&k, a.by, sizeof(float));
	} else if (kernel == GPU_SCALE) {
		a.factor = (float)op_factor(t->op, t->in[0].c);
	}
	cuda_reads(&k, from, bytes);
	cuda_reads(&k, dy, bytes);
	cuda_touches(&k, to, bytes, accumulate);
	cuda_launch(c, &k);
}

/* ---- activation functions; READS_* says what their gradient needs ---- */

static const struct { enum gpu_kernel forward, back; } curves[OP_KINDS] = {
	[OP_RELU] = { GPU_RELU, GPU_RELU_BACK },
	[OP_RELU6] = { GPU_RELU6, GPU_RELU6_BACK },
	[OP_SIGMOID] = { GPU_SIGMOID, GPU_SIGMOID_BACK },
	[OP_SWISH] = { GPU_SWISH, GPU_SWISH_BACK },
};

static void
cuda_curve_forward(struct task *t)
{
	cuda_run_curve(t, curves[t->op->kind].forward, t->x[0], NULL, t->y, 0);
}

static void
cuda_curve_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cuda_run_curve(t, curves[t->op->kind].back,
		    t->op->kind == OP_SWISH ? t->x[0] : t->y, t->dy, t->dx[0],
		    t->accumulate[0]);
}

const struct op_impl cuda_relu = { .forward = cuda_curve_forward,
	.backward = cuda_curve_backward, .reads = READS_Y };
const struct op_impl cuda_relu6 = { .forward = cuda_curve_forward,
	.backward = cuda_curve_backward, .reads = READS_Y };
const struct op_impl cuda_sigmoid = { .forward = cuda_curve_forward,
	.backward = cuda_curve_backward, .reads = READS_Y };
const struct op_impl cuda_swish = { .forward = cuda_curve_forward,
	.backward = cuda_curve_backward, .reads = READS_X };

/* ---- scale: the gradient of the factor is a sum over all elements ---- */

static struct matrix
cuda_scale_matrix(const struct task *t)
{
	return (struct matrix){ 1, cuda_count(&t->out) / 8, 8, 1, 0 };
}

static size_t
cuda_scale_scratch(const struct task *t)
{
	struct matrix m = cuda_scale_matrix(t);

	return t->op->scale.trained ? rows_sum_scratch(cuda_of(t), &m) : 0;
}

static void
cuda_scale_forward(struct task *t)
{
	cuda_run_curve(t, GPU_SCALE, t->x[0], NULL, t->y, 0);
}

static void
cuda_scale_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cuda_run_curve(t, GPU_SCALE, t->dy, NULL, t->dx[0],
		    t->accumulate[0]);
	if (t->needs_weight_grad)
		rows_sum_run(cuda_of(t),
		    &(struct sum){ .matrix = cuda_scale_matrix(t),
			.x = t->x[0], .y = t->dy, .to = t->dw[0], .share = 1,
			.floats = 1, .all = 1 }, t->scratch);
}

const struct op_impl cuda_scale = { .forward = cuda_scale_forward,
	.backward = cuda_scale_backward, .scratch = cuda_scale_scratch,
	.reads = READS_X_DW };

/* ---- add ---- */

static void
cuda_add_forward(struct task *t)
{
	struct cuda *c = cuda_of(t);
	size_t bytes = cuda_bytes(c, &t->out);
	struct add a = { .to = t->y, .n = cuda_count(&t->out),
		.count = t->op->nin };
	struct launch k = CUDA_KERNEL(c, GPU_ADD, cuda_flat(c, a.n), 1, a);

	for (int j = 0; j < a.count; j++) {
		a.from[j] = t->x[j];
		cuda_reads(&k, a.from[j], bytes);
	}
	cuda_writes(&k, a.to, bytes);
	cuda_launch(c, &k);
}

static void
cuda_add_backward(struct task *t)
{
	for (int j = 0; j < t->op->nin; j++)
		if (t->dx[j] != NULL)
			cuda_run_curve(t, GPU_PASS, t->dy, NULL, t->dx[j],
			    t->accumulate[j]);
}

const struct op_impl cuda_add = { .forward = cuda_add_forward,
	.backward = cuda_add_backward };

/* ---- input: bytes to normalized values ---- */

static void
cuda_input_forward(struct task *t)
{
	struct cuda *c = cuda_of(t);
	const struct op *op = t->op;
	struct input a = { .from = t->feed->stream[op->input.stream].bytes,
		.to = t->y,
		.pixels = (size_t)t->out.n * dims_positions(&t->out),
		.channels = (unsigned)t->out.c,
		.vectors = (unsigned)cuda_padded(t->out.c) /
		    cuda_lanes(c->type) };
	struct launch k = CUDA_KERNEL(c, GPU_INPUT, cuda_flat(c,
	    cuda_count(&t->out)), 1, a);

	for (unsigned i = 0; i < a.channels; i++) {
		a.mean[i] = op->input.mean.v[i];
		a.sd[i] = op->input.sd.v[i];
	}
	cuda_reads(&k, a.from, dims_count(&t->out));
	cuda_writes(&k, a.to, cuda_bytes(c, &t->out));
	cuda_launch(c, &k);
}

const struct op_impl cuda_input = { .forward = cuda_input_forward };
