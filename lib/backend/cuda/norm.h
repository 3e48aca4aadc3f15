#ifndef BACKEND_CUDA_NORM_H
#define BACKEND_CUDA_NORM_H

/*
 * Batch normalisation, and the operators that are fused with it: the addition of
 * a shortcut, the relu, and the temporal shift.
 */

#include "backend/chains.h"
#include "backend/cuda/cuda.h"

/*
 * In a chain, the convolution before it leaves the sums of its output, and the one
 * after it does the work of the chain (conv.h).
 */

/* cuda_norm_measures(bn): statistics are those of the microbatch, not of the
 * past. */
int cuda_norm_measures(const struct task *bn);

/*
 * A norm that a convolution does the work of, with memory of that one's, at
 * multiples of 16 bytes: cuda_norm_saved(n) and cuda_norm_scratch(n) bytes.
 * cuda_norm_statistics: what comes before its forward pass.
 * cuda_norm_beside(n, saved, back): what its patterns are given, but for sums.
 * cuda_norm_back(n, saved, scratch, sums, dy): its backward pass, from the
 * gradient behind the relu, and the sums of that.
 */
size_t cuda_norm_saved(const struct norm *n);
size_t cuda_norm_scratch(const struct norm *n);
void cuda_norm_statistics(const struct norm *n, void *saved, void *scratch);
struct conv_beside cuda_norm_beside(const struct norm *n, void *saved, int back);
void cuda_norm_back(const struct norm *n, void *saved, void *scratch,
    const float *sums, const void *dy);

/*
 * cuda_norm_part(t, part):
 * Run one kernel of a batch normalisation with a relu, as a plan without patterns
 * runs it, so that it can be timed (worth.h).  ${t} needs no operator, but device,
 * stored, out, x[0], y, dy, w[0] and w[1], and saved and scratch memory.
 * cuda_norm_room(t, scratch):
 * Return the bytes of its scratch memory, or of what it saves.
 */
enum norm_part { PART_SUMS, PART_APPLY, PART_SUMS_BACK };
void cuda_norm_part(const struct task *t, enum norm_part part);
size_t cuda_norm_room(const struct task *t, int scratch);

/* cuda_fuse: struct backend's. */
void cuda_fuse(struct device *d, struct task *task, int n);

#endif
