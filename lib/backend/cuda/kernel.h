#ifndef BACKEND_CUDA_KERNEL_H
#define BACKEND_CUDA_KERNEL_H

/*
 * How a kernel is written, so that one text runs on a GPU and, for tests, on the
 * host.
 *
 * A body is a function of its arguments (args.h) and of the block that it is.
 * What its threads do is written between EACH_THREAD(i) { ... } pairs; where one
 * pair ends, all threads have done it before the next begins.  Only what is
 * declared SHARED outlives a pair; there are no shuffles and no atomics, so sums
 * have one order, and a kernel gives the same bits wherever it runs but for the
 * rounding of exp and log.
 *
 * Arithmetic is never contracted: nvcc has -fmad=false, and what may be fused is
 * written fmaf().
 *
 * Bodies stand in NAME_body.h, which is read once for each type of what is
 * stored (each_type.h); OF(name) is the name for that type, and what else it
 * has stands in stored.h.
 */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define BODY		static __device__ __forceinline__ void
#define INLINE		static __device__ __forceinline__
#define SHARED(type, name, n)	__shared__ type name[n]
#define EACH_THREAD(i) \
	for (int i = (int)threadIdx.x, i ## _once = (__syncthreads(), 1); \
	    i ## _once; i ## _once = 0)
#define UNROLL		_Pragma("unroll")
#define ROLL		_Pragma("unroll 1")
#else
#define BODY		static void
#define INLINE		static inline
#define SHARED(type, name, n)	type name[n]
#define EACH_THREAD(i) \
	for (int i = b.backwards ? b.threads - 1 : 0; i >= 0 && i < b.threads; \
	    i += b.backwards ? -1 : 1)
#define UNROLL
#define ROLL
#endif

#define OF_JOIN(name, stored)	name ## _ ## stored
#define OF_AS(name, stored)	OF_JOIN(name, stored)
#define OF(name)		OF_AS(name, STORED)

/* Which block a body is, of how many, and its threads. */
struct block {
	unsigned x, y;
	unsigned nx, ny;
	int threads;
	int backwards;			/* on the host: the last thread first */
};

#endif
