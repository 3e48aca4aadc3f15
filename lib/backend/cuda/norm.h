#ifndef BACKEND_CUDA_NORM_H
#define BACKEND_CUDA_NORM_H

/*
 * Batch normalization, and the operators fused with it: the addition of a
 * shortcut, the relu, and the temporal shift (backend/chains.h).  The
 * convolution before such a chain may compute the sums of its output, and the
 * convolution after it may compute the whole chain (conv.h).
 */

#include "backend/chains.h"
#include "backend/cuda/cuda.h"

/*
 * cuda_norm_uses_batch(bn): return 1 if ${bn} uses the statistics of the
 * microbatch, or 0 if it uses running statistics.
 */
int cuda_norm_uses_batch(const struct task *bn);

/*
 * A norm that a convolution computes, with memory of the convolution, aligned
 * to 16 bytes.
 *
 * cuda_norm_saved(n), cuda_norm_scratch(n):
 * Return the bytes of saved and of scratch memory that the norm needs.
 *
 * cuda_norm_statistics(n, saved, scratch):
 * Compute the statistics, before the forward pass of the convolution.
 *
 * cuda_norm_operands(n, saved, back):
 * Return the fused operands of CONV_NORM_BACK if ${back}, otherwise of
 * CONV_NORMED_SUMS and CONV_NORMED, except sums and ignored (driver.h).
 *
 * cuda_norm_back(n, saved, scratch, sums, dy):
 * Run the backward pass of the norm.  ${dy} is the gradient behind the relu,
 * and ${sums}[2][channels] are the gradients of scale and offset;
 * CONV_NORM_BACK computes both.
 */
size_t cuda_norm_saved(const struct norm *n);
size_t cuda_norm_scratch(const struct norm *n);
void cuda_norm_statistics(const struct norm *n, void *saved, void *scratch);
struct conv_operands cuda_norm_operands(const struct norm *n, void *saved,
    int back);
void cuda_norm_back(const struct norm *n, void *saved, void *scratch,
    const float *sums, const void *dy);

/*
 * cuda_norm_part(t, part):
 * Run one kernel of a batch normalization with a relu, as an unfused plan runs
 * it, so that it can be timed (conv_select.c).  ${t} needs no operator, but the
 * fields device, stored, out, x[0], y, dy, w[0], w[1], saved and scratch.
 *
 * cuda_norm_memory_bytes(t, scratch):
 * Return the bytes of its scratch memory if ${scratch}, otherwise of its saved
 * memory.
 */
enum norm_part { PART_SUMS, PART_APPLY, PART_SUMS_BACK };
void cuda_norm_part(const struct task *t, enum norm_part part);
size_t cuda_norm_memory_bytes(const struct task *t, int scratch);

/* cuda_fuse(d, task, n): fuse of struct backend (backend.h). */
void cuda_fuse(struct device *d, struct task *task, int n);

#endif
