#ifndef BACKEND_CUDA_KERNELS_H
#define BACKEND_CUDA_KERNELS_H

/*
 * The list of all kernels.  KERNEL(NAME, name, threads, args) declares GPU_NAME
 * of enum gpu_kernel.  Its bodies are name_f32, name_bf16 and name_f16.  They
 * run in blocks of that many threads and take those arguments (args.h).
 * FLOATS(...) declares a kernel with one body, name_f32, for all storage types.
 *
 * Each file of bodies, NAME_body.h, has a list here, from which NAME_body.cu
 * compiles its kernels (device.h).
 */

#include "backend/cuda/args.h"
#include "backend/cuda/driver.h"

#define POINTWISE_KERNELS(KERNEL) \
	KERNEL(PASS, pass, THREADS, pointwise) \
	KERNEL(RELU, relu, THREADS, pointwise) \
	KERNEL(RELU6, relu6, THREADS, pointwise) \
	KERNEL(SIGMOID, sigmoid, THREADS, pointwise) \
	KERNEL(SWISH, swish, THREADS, pointwise) \
	KERNEL(SCALE, scale, THREADS, pointwise) \
	KERNEL(RELU_BACK, relu_back, THREADS, pointwise) \
	KERNEL(RELU6_BACK, relu6_back, THREADS, pointwise) \
	KERNEL(SIGMOID_BACK, sigmoid_back, THREADS, pointwise) \
	KERNEL(SWISH_BACK, swish_back, THREADS, pointwise) \
	KERNEL(ADD, add, THREADS, add) \
	KERNEL(INPUT, input, THREADS, input) \
	KERNEL(NARROW, narrow_all, THREADS, cast) \
	KERNEL(WIDEN, widen_all, THREADS, cast)

#define ROWS_KERNELS(KERNEL) \
	KERNEL(SUMS, sums, THREADS, row_sums) \
	KERNEL(TOTAL, total, THREADS, total) \
	KERNEL(BROADCAST, broadcast, THREADS, broadcast) \
	KERNEL(CONCAT, concat, THREADS, concat) \
	KERNEL(BIAS, bias, THREADS, bias)

/*
 * The variants of a kernel of the backward pass: first without a fused shift,
 * then with one, each in the order of SHUT_*.
 */
#define NORM_BACK(KERNEL, NAME, name, args) \
	KERNEL(NAME ## _NEVER, name ## _never, THREADS, args) \
	KERNEL(NAME ## _X, name ## _x, THREADS, args) \
	KERNEL(NAME ## _MASK, name ## _mask, THREADS, args) \
	KERNEL(NAME ## _MOVED_NEVER, name ## _moved_never, THREADS, args) \
	KERNEL(NAME ## _MOVED_X, name ## _moved_x, THREADS, args) \
	KERNEL(NAME ## _MOVED_MASK, name ## _moved_mask, THREADS, args)

#define NORM_KERNELS(KERNEL) \
	KERNEL(NORM_SUMS, norm_sums, THREADS, norm_sums) \
	NORM_BACK(KERNEL, NORM_SUMS_BACK, norm_sums_back, norm_sums) \
	KERNEL(NORM_FINISH, norm_finish, THREADS, norm_finish) \
	KERNEL(NORM_FINISH_BACK, norm_finish_back, THREADS, norm_finish_back) \
	KERNEL(NORM_RUNNING, norm_running, THREADS, norm_running) \
	KERNEL(NORM_APPLY, norm_apply, THREADS, norm_apply) \
	KERNEL(NORM_APPLY_ADD, norm_apply_add, THREADS, norm_apply) \
	NORM_BACK(KERNEL, NORM_APPLY_BACK, norm_apply_back, norm_apply_back)

#define IMAGE_KERNELS(KERNEL) \
	KERNEL(SHIFT, shift, THREADS, shift) \
	KERNEL(FRAMES, frames, THREADS, frames) \
	KERNEL(MAXPOOL, maxpool, THREADS, pooling) \
	KERNEL(MAXPOOL_BACK, maxpool_back, THREADS, pooling) \
	KERNEL(AVGPOOL, avgpool, THREADS, pooling) \
	KERNEL(AVGPOOL_BACK, avgpool_back, THREADS, pooling)

#define DEPTH_KERNELS(KERNEL) \
	KERNEL(DEPTH, depth, THREADS, depth) \
	KERNEL(DEPTH_BACK, depth_back, THREADS, depth) \
	KERNEL(DEPTH_SUMS, depth_sums, DEPTH_THREADS, depth_sums)

#define HEAD_KERNELS(KERNEL) \
	KERNEL(DROPOUT, dropout, THREADS, dropout) \
	KERNEL(SOFTMAX, softmax, THREADS, softmax) \
	KERNEL(SOFTMAX_BACK, softmax_back, THREADS, softmax) \
	KERNEL(LOSS, loss, THREADS, loss) \
	KERNEL(LOSS_OUTCOME, loss_outcome, THREADS, loss) \
	KERNEL(LOSS_BACK, loss_back, THREADS, loss)

#define WEIGHTS_KERNELS(KERNEL) \
	KERNEL(WEIGHTS_PACK, weights_pack, THREADS, weights_table) \
	KERNEL(WEIGHTS_RETURN, weights_return, THREADS, weights_table)

#define PARAMETERS_KERNELS(FLOATS) \
	FLOATS(FLOATS_ADD, floats_add, THREADS, floats_add) \
	FLOATS(SUM_ROWS, sum_rows, THREADS, sum_rows) \
	FLOATS(TRACK, track, THREADS, tracking) \
	FLOATS(CLAMP, clamp, THREADS, clamping) \
	FLOATS(UPDATE, update, THREADS, stepping) \
	FLOATS(MOMENTS, moments, THREADS, directing) \
	FLOATS(SQUARES, squares, THREADS, squares) \
	FLOATS(SQUARES_TOTAL, squares_total, THREADS, squares) \
	FLOATS(SQUARES_ADD, squares_add, THREADS, squares_add) \
	FLOATS(STEP_CHECK, step_check, THREADS, step_checked) \
	FLOATS(RATIOS, ratios, THREADS, rating) \
	FLOATS(FLAG_LOSSES, flag_losses, 32, flag_losses)

#define KERNELS(KERNEL, FLOATS) \
	POINTWISE_KERNELS(KERNEL) ROWS_KERNELS(KERNEL) NORM_KERNELS(KERNEL) \
	IMAGE_KERNELS(KERNEL) DEPTH_KERNELS(KERNEL) \
	HEAD_KERNELS(KERNEL) WEIGHTS_KERNELS(KERNEL) \
	PARAMETERS_KERNELS(FLOATS)

#define KERNEL_ENUM(NAME, name, threads, args)	GPU_ ## NAME,
enum gpu_kernel { KERNELS(KERNEL_ENUM, KERNEL_ENUM) GPU_KERNELS };
#undef KERNEL_ENUM

/*
 * Table of the kernels that runtime.c launches (kernels.c), by enum gpu_kernel.
 */
struct kernel {
	const char *name;
	int threads;
	size_t bytes;			/* size of the argument structure */
	const void *const *code;	/* [GPU_TYPES] for cudaLaunchKernel */
};
extern const struct kernel cuda_kernels[GPU_KERNELS];

#endif
