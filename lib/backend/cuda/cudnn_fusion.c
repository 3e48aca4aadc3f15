/*
 * Operation graphs of convolutions with a fused norm or fused sums.  cuDNN's
 * engines match exactly these graphs, operation by operation and type by type.
 * For example, scale and offset of a norm must be fp16 in the forward pass;
 * otherwise an engine for another device is compiled, and bf16 is refused
 * (cuDNN 9.19, found by trying).
 */
#include "backend/cuda/cudnn_graph.h"

enum { OPS = 8 };

/* A graph under construction. */
struct cudnn_fusion_build {
	struct cudnn_builder *m;
	const struct conv_shape *s;
	cudnnBackendDescriptor_t op[OPS];
	int ops;
	int64_t inner;			/* id of the next virtual tensor */
};

/* ---- tensors ---- */

static cudnnBackendDescriptor_t
cudnn_fusion_x_tensor(struct cudnn_fusion_build *b, int64_t uid,
    enum gpu_type type)
{
	return cudnn_graph_tensor(b->m, uid, &(struct cudnn_shape){ type,
		b->s->n, b->s->in, b->s->dims, b->s->from });
}

static cudnnBackendDescriptor_t
cudnn_fusion_operand(struct cudnn_fusion_build *b, int uid)
{
	return cudnn_graph_operand(b->m, b->s, uid);
}

/* A tensor with one value per channel. */
static cudnnBackendDescriptor_t
cudnn_fusion_channels(struct cudnn_fusion_build *b, int64_t uid,
    enum gpu_type type, int c)
{
	static const int one[3] = { 1, 1, 1 };

	return cudnn_graph_tensor(b->m, uid, &(struct cudnn_shape){ type, 1, c,
	    b->s->dims,
		one });
}

/* ---- operations ---- */

static void
cudnn_fusion_add(struct cudnn_fusion_build *b, cudnnBackendDescriptor_t op)
{
	cudnn_builder_finish(b->m, op);
	b->op[b->ops++] = op;
}

static cudnnBackendDescriptor_t
cudnn_fusion_pointwise(struct cudnn_fusion_build *b,
    cudnnPointwiseMode_t mode)
{
	cudnnBackendDescriptor_t how = cudnn_builder_create(b->m,
	    CUDNN_BACKEND_POINTWISE_DESCRIPTOR), op;

	cudnn_builder_set(b->m, how, CUDNN_ATTR_POINTWISE_MODE,
	    CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
	cudnn_builder_set_float(b->m, how, CUDNN_ATTR_POINTWISE_MATH_PREC);
	cudnn_builder_finish(b->m, how);
	op = cudnn_builder_create(b->m,
	    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	cudnn_builder_set_part(b->m, op,
	    CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
	return op;
}

/*
 * Append y = mode(x, with), where ${with} has one value per channel or is NULL.
 * Return y, a virtual tensor of ${type}.
 */
static cudnnBackendDescriptor_t
cudnn_fusion_apply(struct cudnn_fusion_build *b, cudnnPointwiseMode_t mode,
    cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t with,
    enum gpu_type type)
{
	cudnnBackendDescriptor_t op = cudnn_fusion_pointwise(b, mode);
	cudnnBackendDescriptor_t y = cudnn_fusion_x_tensor(b, b->inner++,
	    type);

	cudnn_builder_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
	    x);
	if (with != NULL)
		cudnn_builder_set_part(b->m, op,
		    CUDNN_ATTR_OPERATION_POINTWISE_BDESC, with);
	cudnn_builder_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
	    y);
	cudnn_fusion_add(b, op);
	return y;
}

/*
 * Append max(x scale + offset, 0).  Intermediate tensors are of type
 * ${between}, the result of the storage type.
 */
static cudnnBackendDescriptor_t
cudnn_fusion_norm(struct cudnn_fusion_build *b, enum gpu_type between)
{
	const struct conv_shape *s = b->s;
	cudnnBackendDescriptor_t x = cudnn_fusion_operand(b, UID_X);

	x = cudnn_fusion_apply(b, CUDNN_POINTWISE_MUL, x,
	    cudnn_fusion_channels(b, UID_SCALE, s->type, s->in), between);
	x = cudnn_fusion_apply(b, CUDNN_POINTWISE_ADD, x,
	    cudnn_fusion_channels(b, UID_OFFSET, s->type, s->in), between);
	return cudnn_fusion_apply(b, CUDNN_POINTWISE_RELU_FWD, x, NULL,
	    s->type);
}

static void
cudnn_fusion_add_sums(struct cudnn_fusion_build *b,
    cudnnBackendDescriptor_t y)
{
	cudnnBackendDescriptor_t op = cudnn_builder_create(b->m,
	    CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
	cudnnGenStatsMode_t mode = CUDNN_GENSTATS_SUM_SQSUM;

	cudnn_builder_set(b->m, op, CUDNN_ATTR_OPERATION_GENSTATS_MODE,
	    CUDNN_TYPE_GENSTATS_MODE, 1, &mode);
	cudnn_builder_set_float(b->m, op,
	    CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC);
	cudnn_builder_set_part(b->m, op, CUDNN_ATTR_OPERATION_GENSTATS_XDESC,
	    y);
	cudnn_builder_set_part(b->m, op, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC,
	    cudnn_fusion_channels(b, UID_SUM, GPU_F32, b->s->out));
	cudnn_builder_set_part(b->m, op,
	    CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, cudnn_fusion_channels(b,
	    UID_SQUARES, GPU_F32, b->s->out));
	cudnn_fusion_add(b, op);
}

static void
cudnn_fusion_add_forward(struct cudnn_fusion_build *b)
{
	cudnnBackendDescriptor_t y = cudnn_fusion_operand(b, UID_Y), x;

	x = b->s->fusion == CONV_SUMS ? cudnn_fusion_operand(b, UID_X) :
	    cudnn_fusion_norm(b, GPU_F32);
	b->op[b->ops++] = cudnn_graph_conv(b->m, b->s, x,
	    cudnn_fusion_operand(b, UID_W), y);
	cudnn_fusion_add_sums(b, y);
}

static void
cudnn_fusion_add_weights(struct cudnn_fusion_build *b)
{
	cudnnBackendDescriptor_t x = cudnn_fusion_norm(b, b->s->type);

	b->op[b->ops++] = cudnn_graph_conv(b->m, b->s, x,
	    cudnn_fusion_operand(b, UID_W), cudnn_fusion_operand(b, UID_Y));
}

/*
 * Append the gradients of scale and offset of the norm, from ${given}: x, dx,
 * mean, rstd and scale.  Also append three outputs that cuDNN requires here and
 * we ignore (UID_IGNORED).
 */
static void
cudnn_fusion_add_norm_sums(struct cudnn_fusion_build *b,
    const cudnnBackendDescriptor_t given[5])
{
	static const cudnnBackendAttributeName_t used[] = {
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC };
	static const cudnnBackendAttributeName_t made[] = {
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC,
		CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS };
	cudnnBackendDescriptor_t op = cudnn_builder_create(b->m,
	    CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR);

	cudnn_builder_set_float(b->m, op,
	    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC);
	for (int i = 0; i < 5; i++)
		cudnn_builder_set_part(b->m, op, used[i], given[i]);
	for (int i = 0; i < 5; i++)
		cudnn_builder_set_part(b->m, op, made[i],
		    cudnn_fusion_channels(b, i < 2 ? UID_SUM + i :
		    UID_IGNORED + i - 2, GPU_F32, b->s->in));
	cudnn_fusion_add(b, op);
}

/*
 * Append dx of the convolution, times the slope of the relu, and the gradients
 * of the norm.  The relu was open where ((x - mean) rstd) scale + offset > 0.
 */
static void
cudnn_fusion_add_data(struct cudnn_fusion_build *b)
{
	const struct conv_shape *s = b->s;
	cudnnBackendDescriptor_t x = cudnn_fusion_x_tensor(b, UID_NORMED,
	    s->type);
	cudnnBackendDescriptor_t mean = cudnn_fusion_channels(b, UID_MEAN,
	    GPU_F32, s->in);
	cudnnBackendDescriptor_t rstd = cudnn_fusion_channels(b, UID_RSTD,
	    GPU_F32, s->in);
	cudnnBackendDescriptor_t scale = cudnn_fusion_channels(b, UID_SCALE,
	    GPU_F32, s->in);
	cudnnBackendDescriptor_t g = cudnn_fusion_x_tensor(b, b->inner++,
	    GPU_F32);
	cudnnBackendDescriptor_t dx = cudnn_fusion_operand(b, UID_X),
	    op, v;

	b->op[b->ops++] = cudnn_graph_conv(b->m, s, g,
	    cudnn_fusion_operand(b, UID_W), cudnn_fusion_operand(b, UID_Y));
	v = cudnn_fusion_apply(b, CUDNN_POINTWISE_SUB, x, mean, GPU_F32);
	v = cudnn_fusion_apply(b, CUDNN_POINTWISE_MUL, v, rstd, GPU_F32);
	v = cudnn_fusion_apply(b, CUDNN_POINTWISE_MUL, v, scale, GPU_F32);
	v = cudnn_fusion_apply(b, CUDNN_POINTWISE_ADD, v,
	    cudnn_fusion_channels(b, UID_OFFSET, GPU_F32, s->in), GPU_F32);
	op = cudnn_fusion_pointwise(b, CUDNN_POINTWISE_RELU_BWD);
	cudnn_builder_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
	    v);
	cudnn_builder_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC,
	    g);
	cudnn_builder_set_part(b->m, op, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC,
	    dx);
	cudnn_fusion_add(b, op);
	cudnn_fusion_add_norm_sums(b, (cudnnBackendDescriptor_t[]){ x, dx, mean,
		rstd, scale });
}

cudnnBackendDescriptor_t
cudnn_graph_of_fused_conv(struct cudnn_builder *m, const struct conv_shape *s)
{
	struct cudnn_fusion_build b = { .m = m, .s = s, .inner = UID_INNER };

	if (s->pass == CONV_FORWARD)
		cudnn_fusion_add_forward(&b);
	else if (s->pass == CONV_WEIGHTS)
		cudnn_fusion_add_weights(&b);
	else
		cudnn_fusion_add_data(&b);
	return cudnn_graph_of_ops(m, b.op, b.ops);
}

/* ---- binding ---- */

int
cudnn_graph_bind_list(const struct conv_shape *s, void *const at[4],
    const struct conv_operands *beside, int64_t uid[BINDS], void *to[BINDS])
{
	int channels = s->fusion == CONV_NORM_BACK ? s->in : s->out, n = 0;

	for (; n < 3; n++) {
		uid[n] = UID_X + n;
		to[n] = at[n];
	}
	if (s->fusion == CONV_UNFUSED)
		return n;
#define BIND(which, where)	(uid[n] = (which), to[n++] = (void *)(where))
	if (s->fusion != CONV_SUMS) {
		BIND(UID_SCALE, beside->scale);
		BIND(UID_OFFSET, beside->offset);
	}
	if (s->fusion == CONV_NORM_BACK) {
		BIND(UID_MEAN, beside->mean);
		BIND(UID_RSTD, beside->rstd);
		BIND(UID_NORMED, beside->normed);
		for (int i = 0; i < 3; i++)
			BIND(UID_IGNORED + i, beside->ignored + i * channels);
	}
	if (s->fusion != CONV_NORMED) {
		BIND(UID_SUM, beside->sums);
		BIND(UID_SQUARES, beside->sums + channels);
	}
#undef BIND
	return n;
}
