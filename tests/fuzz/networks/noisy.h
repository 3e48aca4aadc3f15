#ifndef TESTS_FUZZ_NETWORKS_NOISY_H
#define TESTS_FUZZ_NETWORKS_NOISY_H

#include "backend/backend.h"

/*
 * A ref64 whose ops have relative noise on their inputs and output gradients.
 * Back ends also round inside of a bn, where terms may cancel: it subtracts a
 * mean, and divides by a standard deviation of perhaps 0.  So its output and its
 * input gradient have noise relative to these terms.
 */
struct noisy {
	struct device *d;
	const struct op_impl *ops[OP_KINDS];
	struct op_impl impl[OP_KINDS];
};

/*
 * noisy_open(x):
 * Open ${x->d}, one at a time.  The caller closes it by device_close.
 *
 * noisy_set(noise, round):
 * Set the relative size of the noise from now on, and choose its values.  The
 * largest output begins at 0 again.
 *
 * noisy_factor(i, what):
 * Return 1 plus noise number ${i} of purpose ${what}.
 *
 * noisy_largest():
 * Return the largest output or gradient of one since noisy_set.
 */
void noisy_open(struct noisy *x);
void noisy_set(double noise, int round);
double noisy_factor(size_t i, uint32_t what);
double noisy_largest(void);

#endif
