#ifndef BACKEND_CUDA_KERNEL_H
#define BACKEND_CUDA_KERNEL_H

/*
 * The language of kernels: one text that runs on a GPU and, for tests, on the
 * host.
 *
 * A body is a function of its arguments (args.h) and of its block.  It writes
 * the work of a thread between EACH_THREAD(i) { ... } pairs.  All threads
 * finish one pair before the next pair begins.  Only SHARED variables outlive a
 * pair.
 *
 * Bodies use no shuffles and no atomics, so each sum has one order.  A kernel
 * gives the same bits on GPU and host, except for the rounding of exp and log.
 * Arithmetic is never contracted: nvcc has -fmad=false, and a fused
 * multiply-add is written fmaf().
 *
 * Bodies are in NAME_body.h, which is included once for each storage type
 * (each_type.h).  OF(name) is the name for the present type.  stored.h has the
 * type and its conversions.
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

/* An unrolled loop of ${i} from 0 to ${n} - 1. */
#define EACH(i, n)	UNROLL for (int i = 0; i < (n); i++)

#define OF_JOIN(name, stored)	name ## _ ## stored
#define OF_AS(name, stored)	OF_JOIN(name, stored)
#define OF(name)		OF_AS(name, STORED)

/* The block that a body runs as, the grid size, and the threads of a block. */
struct block {
	unsigned x, y;
	unsigned nx, ny;
	int threads;
	int backwards;			/* host only: run the last thread
					 * first */
};

#endif
