#ifndef DATA_ORDER_H
#define DATA_ORDER_H

/* Map global clip numbers of a training run to samples (vt-checkpoint(5)). */

#include "data/bad.h"
#include "data/class_balance.h"

/* The orders of the current epochs. */
struct order;

/*
 * order_new(seed, samples, balance):
 * Return the order of a dataset of ${samples}, at least 1.  ${balance} must
 * outlive it; NULL: an epoch visits each sample once.  The caller frees it with
 * order_free; order_free(NULL) does nothing.
 */
struct order *order_new(uint64_t seed, uint32_t samples,
    const struct class_balance *balance);
void order_free(struct order *o);

/*
 * order_sample(o, clip):
 * Return the sample of global clip number ${clip}.  With N samples, it is at
 * position clip mod N in the order of epoch clip div N (rng_shuffle, or
 * class_balance_order).  The orders of two epochs are cached, 8 bytes per
 * sample, so this is a lookup except at the start of an epoch.  One thread at a
 * time.
 */
uint32_t order_sample(struct order *o, uint64_t clip);

/*
 * order_next_intact(o, clip, bad, past, sample):
 * Start ${*past} positions after clip ${clip} in the order of its epoch, which
 * wraps around.  Set ${*sample} to the first sample there that is not in
 * ${bad}, and ${*past} to its distance from the clip.  Return 1, or 0 with
 * nothing changed if none is left.  One thread at a time.
 */
int order_next_intact(struct order *o, uint64_t clip, const struct bad_set *bad,
    uint32_t *past, uint32_t *sample);

#endif
