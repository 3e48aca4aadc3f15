/* The operators of the cuda back end. */
#include "backend/cuda/cuda.h"

const struct op_impl *const cuda_ops[OP_KINDS] = {
	/* One line each, so that they can be added side by side. */
	[OP_INPUT] = &cuda_input,
	[OP_CONV] = &cuda_conv,
	[OP_BN] = &cuda_bn,
	[OP_RELU] = &cuda_relu,
	[OP_ADD] = &cuda_add_op,
	[OP_SHIFT] = &cuda_shift,
	[OP_MAXPOOL] = &cuda_maxpool,
	[OP_AVGPOOL] = &cuda_avgpool,
	[OP_DROPOUT] = &cuda_dropout,
	[OP_LINEAR] = &cuda_linear,
	[OP_RELU6] = &cuda_relu6,
	[OP_SIGMOID] = &cuda_sigmoid,
	[OP_SWISH] = &cuda_swish,
	[OP_SCALE] = &cuda_scale,
	[OP_MUL] = &cuda_mul,
	[OP_CONCAT] = &cuda_concat,
	[OP_FRAMES] = &cuda_frames,
	[OP_BMM] = &cuda_bmm,
	[OP_SOFTMAX] = &cuda_softmax,
	[OP_LOSS] = &cuda_loss,
};
