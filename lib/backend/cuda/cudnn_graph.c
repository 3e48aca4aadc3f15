/* Operation graphs of cuDNN, built from descriptors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cudnn_graph.h"
#include "base/mem.h"

struct cudnn_builder *
cudnn_builder_new(struct runtime *r)
{
	struct cudnn_builder *m = xcalloc(1, sizeof(*m));

	m->r = r;
	return m;
}

void
cudnn_builder_drop(struct cudnn_builder *m, int n)
{
	while (m->n > n)
		m->r->dnn.cudnnBackendDestroyDescriptor(m->made[--m->n]);
	m->wrong = 0;
}

void
cudnn_builder_free(struct cudnn_builder *m)
{
	if (m != NULL)
		cudnn_builder_drop(m, 0);
	free(m);
}

static void
cudnn_graph_check(struct cudnn_builder *m, cudnnStatus_t s)
{
	char more[400] = "";

	if (s == CUDNN_STATUS_SUCCESS)
		return;
	m->wrong = 1;
	m->r->dnn.cudnnGetLastErrorString(more, sizeof(more));
	snprintf(m->why, sizeof(m->why), "%s%s%s",
	    m->r->dnn.cudnnGetErrorString(s), *more ? ": " : "", more);
}

cudnnBackendDescriptor_t
cudnn_builder_create(struct cudnn_builder *m, cudnnBackendDescriptorType_t type)
{
	cudnnBackendDescriptor_t d = NULL;

	if (m->wrong)
		return NULL;
	if (m->n == CUDNN_BUILDER_MAX) {
		m->wrong = 1;
		snprintf(m->why, sizeof(m->why), "more than %d descriptors",
		    CUDNN_BUILDER_MAX);
		return NULL;
	}
	cudnn_graph_check(m, m->r->dnn.cudnnBackendCreateDescriptor(type, &d));
	if (!m->wrong)
		m->made[m->n++] = d;
	return d;
}

void
cudnn_builder_set(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t n, const void *values)
{
	if (!m->wrong)
		cudnn_graph_check(m, m->r->dnn.cudnnBackendSetAttribute(d, name,
		    type, n, values));
}

void
cudnn_builder_set_int(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, int64_t value)
{
	cudnn_builder_set(m, d, name, CUDNN_TYPE_INT64, 1, &value);
}

void
cudnn_builder_set_part(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t part)
{
	cudnn_builder_set(m, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}

void
cudnn_builder_finish(struct cudnn_builder *m, cudnnBackendDescriptor_t d)
{
	if (!m->wrong)
		cudnn_graph_check(m, m->r->dnn.cudnnBackendFinalize(d));
}

int64_t
cudnn_builder_get(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t largest, void *values)
{
	int64_t n = 0;

	if (m->wrong || m->r->dnn.cudnnBackendGetAttribute(d, name, type,
	    largest, &n, values) != CUDNN_STATUS_SUCCESS)
		return 0;
	return largest > 0 && n > largest ? largest : n;
}

/* ---- convolutions ---- */

static cudnnDataType_t
cudnn_graph_data_type(enum gpu_type type)
{
	static const cudnnDataType_t of[] = { [GPU_F32] = CUDNN_DATA_FLOAT,
		[GPU_BF16] = CUDNN_DATA_BFLOAT16, [GPU_F16] = CUDNN_DATA_HALF };

	return of[type];
}

/* Shape of a packed tensor [n][extent...][c] with ${dims} extents. */
struct cudnn_shape {
	int64_t n, c;
	int dims;
	const int *extent;
};

/*
 * cuDNN lists dimensions as [n][c][extent...]; the strides make channels
 * innermost.
 */
static cudnnBackendDescriptor_t
cudnn_graph_tensor(struct cudnn_builder *m, int64_t uid,
    enum gpu_type type, const struct cudnn_shape *s)
{
	cudnnBackendDescriptor_t d = cudnn_builder_create(m,
	    CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	cudnnDataType_t t = cudnn_graph_data_type(type);
	int64_t size[5] = { s->n, s->c }, stride[5], next = s->c;

	stride[1] = 1;
	for (int i = s->dims - 1; i >= 0; i--) {
		size[2 + i] = s->extent[i];
		stride[2 + i] = next;
		next *= size[2 + i];
	}
	stride[0] = next;
	cudnn_builder_set(m, d, CUDNN_ATTR_TENSOR_DATA_TYPE,
	    CUDNN_TYPE_DATA_TYPE, 1, &t);
	cudnn_builder_set(m, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
	    2 + s->dims, size);
	cudnn_builder_set(m, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
	    2 + s->dims, stride);
	cudnn_builder_set_int(m, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, uid);
	cudnn_builder_set_int(m, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
	cudnn_builder_finish(m, d);
	return d;
}

/* Return the descriptor of operand UID_X, UID_W or UID_Y. */
static cudnnBackendDescriptor_t
cudnn_graph_operand(struct cudnn_builder *m, const struct conv_shape *s,
    int uid)
{
	const struct cudnn_shape shape[] = {
		[UID_X] = { s->n, s->in, s->dims, s->from },
		[UID_W] = { s->out, s->in / s->groups, s->dims, s->kernel },
		[UID_Y] = { s->n, s->out, s->dims, s->to } };

	return cudnn_graph_tensor(m, uid, s->type, &shape[uid]);
}

/*
 * Describe the window of a convolution.  Sums are fp32 for all storage types.
 */
static cudnnBackendDescriptor_t
cudnn_graph_window(struct cudnn_builder *m, const struct conv_shape *s)
{
	cudnnBackendDescriptor_t d = cudnn_builder_create(m,
	    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
	cudnnDataType_t sum = CUDNN_DATA_FLOAT;
	int64_t pad[3], stride[3], one[3] = { 1, 1, 1 };

	for (int i = 0; i < s->dims; i++) {
		pad[i] = s->pad[i];
		stride[i] = s->stride[i];
	}
	cudnn_builder_set_int(m, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
	    s->dims);
	cudnn_builder_set(m, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
	    CUDNN_TYPE_DATA_TYPE, 1, &sum);
	cudnn_builder_set(m, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
	    CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
	cudnn_builder_set(m, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
	    CUDNN_TYPE_INT64, s->dims, pad);
	cudnn_builder_set(m, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
	    CUDNN_TYPE_INT64, s->dims, pad);
	cudnn_builder_set(m, d, CUDNN_ATTR_CONVOLUTION_DILATIONS,
	    CUDNN_TYPE_INT64, s->dims, one);
	cudnn_builder_set(m, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
	    CUDNN_TYPE_INT64, s->dims, stride);
	cudnn_builder_finish(m, d);
	return d;
}

/* Descriptor and attribute names of the three passes. */
static const struct {
	cudnnBackendDescriptorType_t type;
	cudnnBackendAttributeName_t window, x, w, y, alpha, beta;
} passes[] = {
#define PASS(which, NAME) { CUDNN_BACKEND_OPERATION_CONVOLUTION_ ## which ## \
	_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_ ## NAME ## _CONV_DESC,
#define ALPHA_BETA(NAME) CUDNN_ATTR_OPERATION_CONVOLUTION_ ## NAME ## _ALPHA, \
	CUDNN_ATTR_OPERATION_CONVOLUTION_ ## NAME ## _BETA }
	[CONV_FORWARD] = PASS(FORWARD, FORWARD)
	CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
	CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, ALPHA_BETA(FORWARD),
	[CONV_DATA] = PASS(BACKWARD_DATA, BWD_DATA)
	CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
	CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
	CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, ALPHA_BETA(BWD_DATA),
	[CONV_WEIGHTS] = PASS(BACKWARD_FILTER, BWD_FILTER)
	CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
	CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
	CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, ALPHA_BETA(BWD_FILTER),
};

static cudnnBackendDescriptor_t
cudnn_graph_operation(struct cudnn_builder *m, const struct conv_shape *s)
{
	cudnnBackendDescriptor_t op = cudnn_builder_create(m,
	    passes[s->pass].type);
	/* y = alpha conv + beta y: beta 1 accumulates. */
	const float one = 1, before = s->accumulate ? 1 : 0;

	cudnn_builder_set_part(m, op, passes[s->pass].window,
	    cudnn_graph_window(m, s));
	cudnn_builder_set_part(m, op, passes[s->pass].x,
	    cudnn_graph_operand(m, s, UID_X));
	cudnn_builder_set_part(m, op, passes[s->pass].w,
	    cudnn_graph_operand(m, s, UID_W));
	cudnn_builder_set_part(m, op, passes[s->pass].y,
	    cudnn_graph_operand(m, s, UID_Y));
	cudnn_builder_set(m, op, passes[s->pass].alpha, CUDNN_TYPE_FLOAT, 1,
	    &one);
	cudnn_builder_set(m, op, passes[s->pass].beta, CUDNN_TYPE_FLOAT, 1,
	    &before);
	cudnn_builder_finish(m, op);
	return op;
}

cudnnBackendDescriptor_t
cudnn_graph_of_conv(struct cudnn_builder *m, const struct conv_shape *s)
{
	cudnnBackendDescriptor_t op = cudnn_graph_operation(m, s);
	cudnnBackendDescriptor_t g = cudnn_builder_create(m,
	    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	if (m->r->with_handle)
		cudnn_builder_set(m, g, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
		    CUDNN_TYPE_HANDLE, 1, &m->r->handle);
	cudnn_builder_set_part(m, g, CUDNN_ATTR_OPERATIONGRAPH_OPS, op);
	cudnn_builder_finish(m, g);
	return g;
}
