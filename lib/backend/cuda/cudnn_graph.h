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

/* The tensors of a convolution; what they are bound to when it runs. */
enum { UID_X = 1, UID_W, UID_Y };

/* graph_of_conv(m, s): the operation graph of a convolution. */
cudnnBackendDescriptor_t graph_of_conv(struct maker *m,
    const struct conv_shape *s);

#endif
