/*
 * Graphs of convolutions with a norm before them, or sums behind.  What engines
 * there are match these graphs alone, operation by operation and type by type:
 * scale and offset of a norm must be fp16 forward, or an engine for another device
 * is compiled, and bf16 is refused (cuDNN 9.19, found by trying).
 */
#include "backend/cuda/cudnn_graph.h"

enum { OPS = 8 };

/* A graph as it grows. */
struct build {
	struct maker *m;
	const struct conv_shape *s;
	cudnnBackendDescriptor_t op[OPS];
	int ops;
	int64_t inner;			/* the next tensor's that is not in
					 * memory */
};

/* ---- tensors ---- */

static cudnnBackendDescriptor_t
x_tensor(struct build *b, int64_t uid, enum gpu_type type)
{
	return graph_tensor(b->m, uid, &(struct shape){ type, b->s->n,
		b->s->in, b->s->dims, b->s->from });
}

static cudnnBackendDescriptor_t
y_tensor(struct build *b)
{
	return graph_tensor(b->m, UID_Y, &(struct shape){ b->s->type, b->s->n,
		b->s->out, b->s->dims, b->s->to });
}

static cudnnBackendDescriptor_t
w_tensor(struct build *b)
{
	return graph_tensor(b->m, UID_W, &(struct shape){ b->s->type,
		b->s->out, b->s->in / b->s->groups, b->s->dims, b->s->kernel });
}

/* A number a channel. */
static cudnnBackendDescriptor_t
channels(struct build *b, int64_t uid, enum gpu_type type, int c)
{
	static const int one[3] = { 1, 1, 1 };

	return graph_tensor(b->m, uid, &(struct shape){ type, 1, c, b->s->dims,
		one });
}

/* ---- operations ---- */

static void
add(struct build *b, cudnnBackendDescriptor_t op)
{
	maker_finish(b->m, op);
	b->op[b->ops++] = op;
}

static cudnnBackendDescriptor_t
pointwise(struct build *b, cudnnPointwiseMode_t mode)
{
	cudnnBackendDescriptor_t how = maker_make(b->m,
	    CUDNN_BACKEND_POINTWISE_DESCRIPTOR), op;
	cudnnDataType_t floats = CUDNN_DATA_FLOAT;

	maker_set(b->m, how, CUDNN_ATTR_POINTWISE_MODE,
	    CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
	maker_set(b->m, how, CUDNN_ATTR_POINTWISE_MATH_PREC,
	    CUDNN_TYPE_DATA_TYPE, 1, &floats);
	maker_finish(b->m, how);
	op = maker_make(b->m, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
	    how);
	return op;
}

/* x by a number a channel, ${with}; NULL: by itself.  What it gives, of ${type},
 * is not in memory. */
static cudnnBackendDescriptor_t
apply(struct build *b, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
    cudnnBackendDescriptor_t with, enum gpu_type type)
{
	cudnnBackendDescriptor_t op = pointwise(b, mode);
	cudnnBackendDescriptor_t y = x_tensor(b, b->inner++, type);

	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
	if (with != NULL)
		maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
		    with);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
	add(b, op);
	return y;
}

/* max(x scale + offset, 0), of ${between} until it is whole. */
static cudnnBackendDescriptor_t
norm(struct build *b, enum gpu_type between)
{
	const struct conv_shape *s = b->s;
	cudnnBackendDescriptor_t x = x_tensor(b, UID_X, s->type);

	x = apply(b, CUDNN_POINTWISE_MUL, x, channels(b, UID_SCALE, s->type,
	    s->in), between);
	x = apply(b, CUDNN_POINTWISE_ADD, x, channels(b, UID_OFFSET, s->type,
	    s->in), between);
	return apply(b, CUDNN_POINTWISE_RELU_FWD, x, NULL, s->type);
}

static void
add_sums(struct build *b, cudnnBackendDescriptor_t y)
{
	cudnnBackendDescriptor_t op = maker_make(b->m,
	    CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
	cudnnGenStatsMode_t mode = CUDNN_GENSTATS_SUM_SQSUM;
	cudnnDataType_t floats = CUDNN_DATA_FLOAT;

	maker_set(b->m, op, CUDNN_ATTR_OPERATION_GENSTATS_MODE,
	    CUDNN_TYPE_GENSTATS_MODE, 1, &mode);
	maker_set(b->m, op, CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC,
	    CUDNN_TYPE_DATA_TYPE, 1, &floats);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_GENSTATS_XDESC, y);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC,
	    channels(b, UID_SUM, GPU_F32, b->s->out));
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC,
	    channels(b, UID_SQUARES, GPU_F32, b->s->out));
	add(b, op);
}

static void
add_forward(struct build *b)
{
	cudnnBackendDescriptor_t y = y_tensor(b), x;

	x = b->s->pattern == CONV_SUMS ? x_tensor(b, UID_X, b->s->type) :
	    norm(b, GPU_F32);
	b->op[b->ops++] = graph_conv(b->m, b->s, x, w_tensor(b), y);
	add_sums(b, y);
}

static void
add_weights(struct build *b)
{
	cudnnBackendDescriptor_t x = norm(b, b->s->type);

	b->op[b->ops++] = graph_conv(b->m, b->s, x, w_tensor(b), y_tensor(b));
}

/* The gradients of the norm's scale and offset, and what follows from them. */
static void
add_norm_sums(struct build *b, cudnnBackendDescriptor_t x,
    cudnnBackendDescriptor_t dx, cudnnBackendDescriptor_t mean,
    cudnnBackendDescriptor_t rstd, cudnnBackendDescriptor_t scale)
{
	static const cudnnBackendAttributeName_t made[] = {
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS };
	cudnnBackendDescriptor_t op = maker_make(b->m,
	    CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR);
	cudnnDataType_t floats = CUDNN_DATA_FLOAT;

	maker_set(b->m, op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC,
	    CUDNN_TYPE_DATA_TYPE, 1, &floats);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, x);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC,
	    dx);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC,
	    mean);
	maker_set_part(b->m, op,
	    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, rstd);
	maker_set_part(b->m, op,
	    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, scale);
	for (int i = 0; i < 5; i++)
		maker_set_part(b->m, op, made[i], channels(b, i < 2 ?
		    UID_SUM + i : UID_REST + i - 2, GPU_F32, b->s->in));
	add(b, op);
}

/* The relu was open where ((x - mean) rstd) scale + offset > 0. */
static void
add_data(struct build *b)
{
	const struct conv_shape *s = b->s;
	cudnnBackendDescriptor_t x = x_tensor(b, UID_NORMED, s->type);
	cudnnBackendDescriptor_t mean = channels(b, UID_MEAN, GPU_F32, s->in);
	cudnnBackendDescriptor_t rstd = channels(b, UID_RSTD, GPU_F32, s->in);
	cudnnBackendDescriptor_t scale = channels(b, UID_SCALE, GPU_F32, s->in);
	cudnnBackendDescriptor_t g = x_tensor(b, b->inner++, GPU_F32);
	cudnnBackendDescriptor_t dx = x_tensor(b, UID_X, s->type), op, v;

	b->op[b->ops++] = graph_conv(b->m, s, g, w_tensor(b), y_tensor(b));
	v = apply(b, CUDNN_POINTWISE_SUB, x, mean, GPU_F32);
	v = apply(b, CUDNN_POINTWISE_MUL, v, rstd, GPU_F32);
	v = apply(b, CUDNN_POINTWISE_MUL, v, scale, GPU_F32);
	v = apply(b, CUDNN_POINTWISE_ADD, v, channels(b, UID_OFFSET, GPU_F32,
	    s->in), GPU_F32);
	op = pointwise(b, CUDNN_POINTWISE_RELU_BWD);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, v);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, g);
	maker_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, dx);
	add(b, op);
	add_norm_sums(b, x, dx, mean, rstd, scale);
}

cudnnBackendDescriptor_t
graph_of_pattern(struct maker *m, const struct conv_shape *s)
{
	struct build b = { .m = m, .s = s, .inner = UID_INNER };

	if (s->pass == CONV_FORWARD)
		add_forward(&b);
	else if (s->pass == CONV_WEIGHTS)
		add_weights(&b);
	else
		add_data(&b);
	return graph_of_ops(m, b.op, b.ops);
}

/* ---- binding ---- */

int
pattern_binds(const struct conv_shape *s, void *const at[4],
    const struct conv_beside *beside, int64_t uid[BINDS], void *to[BINDS])
{
	int channels = s->pattern == CONV_NORM_BACK ? s->in : s->out, n = 0;

	for (; n < 3; n++) {
		uid[n] = UID_X + n;
		to[n] = at[n];
	}
	if (s->pattern == CONV_PLAIN)
		return n;
#define BIND(which, where)	(uid[n] = (which), to[n++] = (void *)(where))
	if (s->pattern != CONV_SUMS) {
		BIND(UID_SCALE, beside->scale);
		BIND(UID_OFFSET, beside->offset);
	}
	if (s->pattern == CONV_NORM_BACK) {
		BIND(UID_MEAN, beside->mean);
		BIND(UID_RSTD, beside->rstd);
		BIND(UID_NORMED, beside->normed);
		for (int i = 0; i < 3; i++)
			BIND(UID_REST + i, beside->rest + i * channels);
	}
	if (s->pattern != CONV_NORMED) {
		BIND(UID_SUM, beside->sums);
		BIND(UID_SQUARES, beside->sums + channels);
	}
#undef BIND
	return n;
}
