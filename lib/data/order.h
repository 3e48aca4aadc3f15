#ifndef DATA_ORDER_H
#define DATA_ORDER_H

/* Which sample a clip of the training run is (vt-checkpoint(5)). */

#include "data/bad.h"

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

/*
 * order_whole(o, clip, bad, past, sample):
 * The sample ${*past} places after that of ${clip} in the order of its epoch,
 * which goes round, or the first one after it that is not in ${bad}: ${*sample},
 * and ${*past} is its place.  0, and nothing changes, if none is left.
 */
int order_whole(struct order *o, uint64_t clip, const struct bad_set *bad,
    uint32_t *past, uint32_t *sample);

#endif
