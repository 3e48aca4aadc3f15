#ifndef DATA_ORDER_H
#define DATA_ORDER_H

/*
 * Map global clip numbers of a training run to samples (vt-checkpoint(5)), and
 * leave out those that are damaged.
 */

#include <stddef.h>
#include <stdint.h>

#include "data/class_balance.h"

/* Damaged samples, their numbers in ascending order.  Begin with all 0. */
struct bad_set { uint32_t *sample; size_t n, cap; };

/* bad_set_has(b, sample): return 1 if ${sample} is in ${b}, 0 otherwise. */
int bad_set_has(const struct bad_set *b, uint32_t sample);

/*
 * bad_set_add(b, sample):
 * Add ${sample}.  Return 1, or 0 if it was in ${b} already.
 */
int bad_set_add(struct bad_set *b, uint32_t sample);

/* bad_set_free(b): free the memory of ${b} and set it to all 0. */
void bad_set_free(struct bad_set *b);

/*
 * bad_set_text(b):
 * Return ${b} as text: "3 17 250", "" if empty.  The caller frees it.
 */
char *bad_set_text(const struct bad_set *b);

/*
 * bad_set_parse(b, text, samples):
 * Add the samples of ${text}, in the format of bad_set_text, to ${b}.
 * Return 0.  Return -1 without a message if ${text} is malformed or a number is
 * not below ${samples}; the numbers before it are then added.
 */
int bad_set_parse(struct bad_set *b, const char *text, uint32_t samples);

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
