#ifndef DATA_CLASS_BALANCE_H
#define DATA_CLASS_BALANCE_H

/*
 * Imbalanced classes: how often an epoch visits each class, and the weights of
 * classes in the loss.
 */

#include "base/hash.h"
#include "shard/dataset.h"

/* The samples of each class, and the visits of an epoch. */
struct class_balance {
	uint32_t classes, samples;
	uint32_t *first;		/* [classes + 1] index in ${member} of a
					 * class's first sample */
	uint32_t *member;		/* [samples] samples in the order of
					 * their classes */
	uint32_t *visits;		/* [classes] visits of an epoch; their
					 * sum is ${samples} */
};

/*
 * class_balance_new(d, power):
 * Return the balance of dataset ${d}, in which every sample has one class.  An
 * epoch of N visits has N n^(1 - power) / (sum of n^(1 - power)) visits of a
 * class of n samples, rounded down or up: up where the largest remainders are,
 * in the order of classes where they are equal.  ${power} is from 0, as the
 * data are, to 1, all classes alike.  The caller frees it with
 * class_balance_free; NULL does nothing.
 */
struct class_balance *class_balance_new(const struct dataset *d, double power);
void class_balance_free(struct class_balance *b);

/* class_balance_count(b, c): return the number of samples of class ${c}. */
uint32_t class_balance_count(const struct class_balance *b, uint32_t c);

/*
 * class_balance_order(b, seed, epoch, order):
 * Write the samples that ${epoch} visits to ${order}[b->samples].  The visits
 * of a class over all epochs go through its samples again and again, each time
 * in another order (rng_shuffle_class), so the visits of two samples of a class
 * never differ by more than 1.  rng_shuffle mixes the classes.  Any thread may
 * call it.
 */
void class_balance_order(const struct class_balance *b, uint64_t seed,
    uint64_t epoch, uint32_t *order);

/*
 * class_weights_power(text, power):
 * Set ${*power} to the P of the option value "inverse:P", from 0 to 1.  Return
 * 1, 0 if ${text} names a file, or -1 without a message if P is wrong.
 */
int class_weights_power(const char *text, double *power);

/*
 * class_weights_inverse(b, power, weight):
 * Set ${weight}[b->classes] to 1 / n^power for a class of n samples; a class
 * without samples counts as one of 1.  Normalize the weights.
 */
void class_weights_inverse(const struct class_balance *b, double power,
    float *weight);

/*
 * class_weights_parse(what, text, c, b, weight):
 * Read the table ${text} with the columns class and weight, a row for each of
 * the classes ${c}, into ${weight}, and normalize the weights.  Return 0, or -1
 * after a message naming ${what} and the line.
 *
 * Normalized weights have the mean 1 over the visits of an epoch of ${b}, so
 * that they do not change the mean size of the gradient.
 */
int class_weights_parse(const char *what, const char *text,
    const struct class_list *c, const struct class_balance *b, float *weight);

/* class_weights_hash(weight, n): return a hash for the run's identity. */
struct hash128 class_weights_hash(const float *weight, uint32_t n);

#endif
