#ifndef BACKEND_CUDA_PATTERNS_H
#define BACKEND_CUDA_PATTERNS_H

/*
 * Patterns of convolutions (driver.h), and what runs where there are none.  They are
 * asked for in fp16 alone, where there is a batch to be normalised, of ungrouped
 * convolutions without a bias, whose channels are multiples of 8:
 *
 *	CONV_SUMS		CONV_PLAIN, then kernel norm_sums
 *	CONV_NORMED_SUMS	kernel norm_apply, then CONV_SUMS
 *	CONV_NORMED		CONV_PLAIN of what norm_apply made
 *	CONV_NORM_BACK		CONV_PLAIN, then kernel norm_sums_back
 *
 * The last three are used together or not at all.  The driver's answer decides; the
 * table holds those that cuDNN 9 refuses for an H100 and an H200 of all that the
 * networks in share/models ask for.  tests/gpu_plans.c fails if it is longer or
 * shorter than cuDNN's answers.
 */
static const struct { const char *refused, *instead; } patterns_refused[] = {
	/* Of pixels, for want of whole vectors of channels. */
	{ "forward, sums fp16 7x7x1 3 to 64 in 1", "CONV_PLAIN, norm_sums" },
	{ "forward, sums fp16 5x7x7 3 to 8 in 1", "CONV_PLAIN, norm_sums" },
	{ NULL, NULL },
};

#endif
