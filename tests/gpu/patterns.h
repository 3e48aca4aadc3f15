#ifndef TESTS_GPU_PATTERNS_H
#define TESTS_GPU_PATTERNS_H

/*
 * Patterns of convolutions (backend/cuda/driver.h), and what runs where there are none.  They
 * are asked for in fp16 alone, where a batch is normalised, of ungrouped
 * convolutions without a bias between channels that are multiples of 8:
 *
 *	CONV_SUMS		CONV_PLAIN, then kernel norm_sums
 *	CONV_NORMED_SUMS	kernel norm_apply, then CONV_SUMS
 *	CONV_NORMED		CONV_PLAIN of what norm_apply made
 *	CONV_NORM_BACK		CONV_PLAIN, then kernel norm_sums_back
 *
 * The last three are used together or not at all.  The driver's answer decides; it
 * is no where plain ones were found to be faster, too (backend/cuda/worth.h).  The table holds
 * those that cuDNN 9 refuses for an H100 and an H200 of all that the networks in
 * share/models ask for.  gpu_plans.c fails if it is longer or shorter than
 * cuDNN's answers.
 */
static const struct { const char *refused, *instead; } patterns_refused[] = {
	/* Of volumes there is none. */
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
	{ "forward, sums fp16 5x4x4 16 to 8 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 5x4x4 16 to 64 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 1x1x1 64 to 128 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 1x1x1 128 to 256 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 1x1x1 256 to 512 in 1", "CONV_PLAIN, norm_sums" },
	{ NULL, NULL },
};

#endif
