#ifndef TRAIN_RUN_DIFFERENCE_H
#define TRAIN_RUN_DIFFERENCE_H

/*
 * Describe in which setting a run differs from the checkpoint that it would
 * resume from.  The comparison itself uses hashes and shows only that something
 * differs.
 */

#include "sched/schedule.h"
#include "train/run/checkpoint.h"

/*
 * difference_network(was, now):
 * Describe how the network of state ${now} differs from that of checkpoint
 * ${was}: by name, as "network was tsm_tiny and is tsn_tiny now", or by the
 * first line that differs.
 * difference_classes(was, now):
 * Describe the first line in which their class lists differ.
 * difference_flips(was, now):
 * Say whether each of them has a table of --flip-swap.
 * Each returns a text, which the caller frees.
 */
char *difference_network(const struct state *was, const struct state *now);
char *difference_classes(const struct state *was, const struct state *now);
char *difference_flips(const struct state *was, const struct state *now);

/*
 * difference_schedule(path, was, now, samples):
 * Describe how schedule ${now} over ${samples} samples differs from the one
 * that checkpoint ${path} with state ${was} followed.  If schedule.tsv in the
 * checkpoint's directory is that schedule, name the first step and column;
 * otherwise only state that they differ.  Return the text, which the caller
 * frees.
 */
char *difference_schedule(const char *path, const struct state *was,
    const struct schedule *now, uint64_t samples);

#endif
