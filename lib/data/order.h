#ifndef DATA_ORDER_H
#define DATA_ORDER_H

/* Which sample a clip of the training run is (vt-checkpoint(5)). */

#include <stdint.h>

struct order;

/* order_new(seed, samples): for a set of ${samples}, at least 1. */
struct order *order_new(uint64_t seed, uint32_t samples);
void order_free(struct order *o);

/*
 * order_sample(o, clip):
 * The sample of global clip number ${clip}: with N samples, place clip mod N
 * in the order of epoch clip div N (rng_shuffle).  The orders of two epochs
 * are kept, 8 bytes a sample, so this is a look-up except where an epoch is
 * entered.  One thread at a time.
 */
uint32_t order_sample(struct order *o, uint64_t clip);

#endif
