#ifndef BACKEND_CUDA_FUSION_COST_H
#define BACKEND_CUDA_FUSION_COST_H

/*
 * A cost model: is a fused pattern (driver.h) faster than an unfused
 * convolution and the kernels of the norms?
 */

#include "backend/cuda/driver.h"
#include "backend/cuda/norm.h"

/*
 * fusion_conv_bytes(s, which): return the bytes of x, w or y for ${which} 0, 1
 * or 2.
 */
size_t fusion_conv_bytes(const struct conv_shape *s, int which);

/*
 * Measured times, in seconds.
 * conv(at, s): return the time of the fastest algorithm for ${s}, or 0 if there
 * is none or it is unknown.
 * norm(at, s, part): return the time of one kernel of the norm of x, or, for
 * PART_SUMS, of y.  0: unknown.
 */
struct fusion_times {
	void *at;			/* first argument of both functions */
	double (*conv)(void *at, const struct conv_shape *s);
	double (*norm)(void *at, const struct conv_shape *s,
	    enum norm_part part);
};

/*
 * fusion_pays(s, w, plain):
 * Return 1 if the pattern ${s}, which has an engine, should run fused.
 * Otherwise return 0 and store the seconds of the unfused operations in
 * ${*plain}.  Always return 1 for patterns other than CONV_SUMS and
 * CONV_NORMED_SUMS, and if a time is unknown.
 *
 * CONV_SUMS is compared with a plain convolution and the kernel norm_sums of y.
 *
 * CONV_NORMED_SUMS also decides for CONV_NORM_BACK and CONV_NORMED of the same
 * shape, because all three are used or none.  The model compares
 *
 *	fused	the three patterns
 *	unfused	norm_apply of x, and the faster of CONV_SUMS and a plain
 *		convolution with norm_sums of y; a plain data pass with
 *		norm_sums_back of x; a plain weights pass
 *
 * Operations common to both are left out.
 */
int fusion_pays(const struct conv_shape *s, const struct fusion_times *w,
    double *plain);

#endif
