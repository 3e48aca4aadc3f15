#ifndef BACKEND_CPU_BF16_GEMM_H
#define BACKEND_CPU_BF16_GEMM_H

/*
 * Convolutions over h and w as GEMMs on AMX tiles: forward passes, and data
 * gradients.  A row of the GEMM is an output position, and its terms are the
 * inputs that the taps read there.  For a data gradient with strides, the
 * positions that the same taps reach, a phase, are a GEMM of their own.
 * Positions that no tap reaches are 0.
 *
 * The terms of an output are added in one order, in fp32, and rounded once.
 * Its bits do not depend on the split into jobs, nor on other positions or
 * images.
 *
 * Threads may call all functions of a struct gemm at the same time, on
 * different slices or jobs, except gemm_new and gemm_free.
 */

#include "backend/cpu/bf16/kernels.h"
#include "backend/cpu/cpu.h"

struct gemm_conv {
	int images;
	int in, out;			/* channels */
	int in_row, out_row;		/* channels as stored; multiples of
					 * 16 */
	int in_h, in_w, out_h, out_w;
	int k[2], s[2], p[2];		/* h, w */
	int back;			/* 1 for a data gradient */
};

struct gemm;

/*
 * gemm_new(s, threads), gemm_free(p):
 * Plan the convolution ${s} for ${threads} threads; the processor must have
 * AMX.  gemm_new never returns NULL.  The caller frees ${p}; NULL is
 * allowed.
 */
struct gemm *gemm_new(const struct gemm_conv *s, int threads);
void gemm_free(struct gemm *p);

/*
 * gemm_weights(p), gemm_scratch(p):
 * Return the bytes of the packed weights, and of the scratch of a thread.
 */
size_t gemm_weights(const struct gemm *p);
size_t gemm_scratch(const struct gemm *p);

/*
 * gemm_slices(p), gemm_order(state, slice, o):
 * Pack slice ${slice} of gemm_slices(p) of ${o}->weights[out][in][kh][kw] into
 * ${o}->w, gemm_weights(p) bytes, in bf16.  ${state} is the struct gemm.
 * Slices do not overlap.
 */
int gemm_slices(const struct gemm *p);
void gemm_order(const void *state, int slice, const struct conv_buffers *o);

/*
 * gemm_jobs(p), gemm_run(state, job, o):
 * Run job ${job} of gemm_jobs(p); ${state} is the struct gemm.  The bias of
 * ${o} has out_row floats, or is NULL.  Its scratch has gemm_scratch(p) bytes.
 */
int gemm_jobs(const struct gemm *p);
void gemm_run(const void *state, int job, const struct conv_buffers *o);

#endif
