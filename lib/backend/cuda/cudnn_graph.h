#ifndef BACKEND_CUDA_CUDNN_GRAPH_H
#define BACKEND_CUDA_CUDNN_GRAPH_H

/*
 * cuDNN's graphs, made of descriptors (its backend API, cudnn_graph.h).  A
 * maker keeps all that were made with it, and the first thing that went wrong:
 * after that its functions do nothing, so that only the end need be looked at.
 */

#include "backend/cuda/runtime.h"

enum { MAKER_MOST = 512 };

struct maker {
	struct runtime *r;
	int n, wrong;
	cudnnBackendDescriptor_t made[MAKER_MOST];
	char why[512];
};

/* maker_new(r): empty.  maker_free(m): with all that was made. */
struct maker *maker_new(struct runtime *r);
void maker_free(struct maker *m);

/* maker_drop(m, n): only the first ${n} are kept, and what went wrong is
 * forgotten. */
void maker_drop(struct maker *m, int n);

cudnnBackendDescriptor_t maker_make(struct maker *m,
    cudnnBackendDescriptorType_t type);
void maker_set(struct maker *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t n, const void *values);
void maker_set_int(struct maker *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, int64_t value);
void maker_set_part(struct maker *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t part);
void maker_finish(struct maker *m, cudnnBackendDescriptor_t d);

/* maker_get(m, d, name, type, most, values): how many there are, at most
 * ${most}; 0 where there is none. */
int64_t maker_get(struct maker *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t most, void *values);

/*
 * The tensors of a convolution, and what they are bound to when it runs: of a
 * plain one the first three.  Those from UID_INNER on are never in memory.
 */
enum { UID_X = 1, UID_W, UID_Y, UID_SCALE, UID_OFFSET, UID_MEAN, UID_RSTD,
	UID_NORMED, UID_SUM, UID_SQUARES, UID_REST, UID_INNER = UID_REST + 3 };

/* A tensor [n][extent...][c] packed, of ${dims} extents. */
struct cudnn_shape {
	enum gpu_type type;
	int64_t n, c;
	int dims;
	const int *extent;
};
cudnnBackendDescriptor_t graph_tensor(struct maker *m, int64_t uid,
    const struct cudnn_shape *s);

/* graph_conv(m, s, x, w, y): the operation, between tensors.
 * graph_of_ops(m, op, n): the operation graph of some. */
cudnnBackendDescriptor_t graph_conv(struct maker *m, const struct conv_shape *s,
    cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t w,
    cudnnBackendDescriptor_t y);
cudnnBackendDescriptor_t graph_of_ops(struct maker *m,
    const cudnnBackendDescriptor_t *op, int n);

/* graph_of_conv(m, s): the operation graph of a convolution; of one with a
 * pattern (cudnn_pattern.c). */
cudnnBackendDescriptor_t graph_of_conv(struct maker *m,
    const struct conv_shape *s);
cudnnBackendDescriptor_t graph_of_pattern(struct maker *m,
    const struct conv_shape *s);

/*
 * pattern_binds(s, at, uid, to): what the tensors of a convolution are bound to,
 * of x, w, y and workspace at ${at}[4] and what is beside; how many.
 */
enum { BINDS = UID_INNER };
int pattern_binds(const struct conv_shape *s, void *const at[4],
    const struct conv_beside *beside, int64_t uid[BINDS], void *to[BINDS]);

#endif
