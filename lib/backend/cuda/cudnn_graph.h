#ifndef BACKEND_CUDA_CUDNN_GRAPH_H
#define BACKEND_CUDA_CUDNN_GRAPH_H

/*
 * Operation graphs of cuDNN, built from descriptors of its backend API (its
 * header cudnn_graph.h).  A maker owns the descriptors made with it, and the
 * first error.  After an error its functions do nothing, so callers only check
 * m->wrong at the end.
 */

#include "backend/cuda/runtime.h"

enum { CUDNN_BUILDER_MAX = 512 };

struct cudnn_builder {
	struct runtime *r;
	int n, wrong;			/* descriptors; 1 after an error */
	cudnnBackendDescriptor_t made[CUDNN_BUILDER_MAX];
	char why[512];			/* message of the error */
};

/*
 * cudnn_builder_new(r): return an empty maker. The caller frees it by
 * cudnn_builder_free. cudnn_builder_free(m): destroy its descriptors and free
 * it. ${m} may be NULL.
 */
struct cudnn_builder *cudnn_builder_new(struct runtime *r);
void cudnn_builder_free(struct cudnn_builder *m);

/*
 * cudnn_builder_drop(m, n): destroy all but the first ${n} descriptors, and
 * clear the error.
 */
void cudnn_builder_drop(struct cudnn_builder *m, int n);

/*
 * cudnn_builder_create(m, type):
 * Create a descriptor, owned by ${m}.  Return NULL after an error.
 *
 * cudnn_builder_set(m, d, name, type, n, values):
 * Set attribute ${name} to ${n} values.
 *
 * cudnn_builder_set_int(m, d, name, value), cudnn_builder_set_part(m, d, name,
 * part):
 * Set an attribute to one integer, or to one descriptor.
 *
 * cudnn_builder_finish(m, d):
 * Finalize the descriptor.
 */
cudnnBackendDescriptor_t cudnn_builder_create(struct cudnn_builder *m,
    cudnnBackendDescriptorType_t type);
void cudnn_builder_set(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t n, const void *values);
void cudnn_builder_set_int(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, int64_t value);
void cudnn_builder_set_part(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t part);
void cudnn_builder_finish(struct cudnn_builder *m, cudnnBackendDescriptor_t d);

/*
 * cudnn_builder_get(m, d, name, type, largest, values):
 * Read attribute ${name} into ${values}, at most ${largest} values. Return
 * their number, or 0 after an error. With ${largest} 0, return the number of
 * values that exist.
 */
int64_t cudnn_builder_get(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t largest, void *values);

/* Ids of the tensors of a convolution. */
enum { UID_X = 1, UID_W, UID_Y };

/* cudnn_graph_of_conv(m, s): return the operation graph of a convolution. */
cudnnBackendDescriptor_t cudnn_graph_of_conv(struct cudnn_builder *m,
    const struct conv_shape *s);

#endif
