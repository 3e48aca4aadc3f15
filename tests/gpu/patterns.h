#ifndef TESTS_GPU_PATTERNS_H
#define TESTS_GPU_PATTERNS_H

/*
 * Fused convolution patterns (backend/cuda/driver.h), and the unfused
 * operations that replace them where cuDNN has no plan.  Patterns are requested
 * in fp16 only, for batch normalization, of ungrouped convolutions without a
 * bias:
 *
 *	CONV_SUMS		CONV_UNFUSED, then kernel norm_sums
 *	CONV_NORMED_SUMS	kernel norm_apply, then CONV_SUMS
 *	CONV_NORMED		CONV_UNFUSED of the output of norm_apply
 *	CONV_NORM_BACK		CONV_UNFUSED, then kernel norm_sums_back
 *
 * The last three are used together or not at all.  The driver decides.  It also
 * refuses patterns that it measured to be slower than the unfused operations
 * (backend/cuda/conv_select.c).  The table lists the patterns that cuDNN 9 refuses
 * for an H100 and an H200, out of all that the networks in share/models
 * request.  gpu_plans.c fails if the table differs from cuDNN's answers.
 */
static const struct { const char *refused, *instead; } patterns_refused[] = {
	/* No pattern with a kernel that spans three dimensions has a plan. */
	{ "forward, normed, sums fp16 3x3x3 64 to 64 in 1",
	    "norm_apply, CONV_PLAIN, norm_sums" },
	{ "forward, normed, sums fp16 3x3x3 128 to 128 in 1",
	    "norm_apply, CONV_PLAIN, norm_sums" },
	{ "forward, normed, sums fp16 3x3x3 256 to 256 in 1",
	    "norm_apply, CONV_PLAIN, norm_sums" },
	{ "forward, normed, sums fp16 3x3x3 512 to 512 in 1",
	    "norm_apply, CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 3x3x3 64 to 64 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 3x3x3 128 to 128 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 3x3x3 256 to 256 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 3x3x3 512 to 512 in 1", "CONV_PLAIN, norm_sums" },
	/* Stems of pixels and of flow have no pattern. */
	{ "forward, sums fp16 7x7 8 to 48 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 7x7 8 to 64 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 7x7 16 to 64 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 7x7 24 to 64 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 5x7x7 8 to 8 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 5x7x7 8 to 64 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 1x1x1 64 to 128 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 1x1x1 128 to 256 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 1x1x1 256 to 512 in 1", "CONV_PLAIN, norm_sums" },
	{ NULL, NULL },
};

#endif
