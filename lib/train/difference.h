#ifndef TRAIN_DIFFERENCE_H
#define TRAIN_DIFFERENCE_H

/*
 * What a run does otherwise than the checkpoint it would resume from, in words,
 * where the comparison itself is of hashes.
 */

#include "sched/schedule.h"
#include "train/checkpoint.h"

/*
 * difference_network(was, now), difference_classes(was, now):
 * Say how the network, or the class list, of state ${now} differs from that of
 * the checkpoint ${was}: by name, or by the first line that differs, as
 * "network was tsm_tiny and is tsn_tiny now".
 * difference_flips(was, now):
 * Say whether either has a table of classes that change where a clip is flipped.
 * Return the text, which the caller frees.
 */
char *difference_network(const struct state *was, const struct state *now);
char *difference_classes(const struct state *was, const struct state *now);
char *difference_flips(const struct state *was, const struct state *now);

/*
 * difference_schedule(path, was, now, samples):
 * Say how schedule ${now} over ${samples} samples differs from the one that
 * checkpoint ${path} with state ${was} followed: by the first step and column,
 * if schedule.tsv beside the checkpoint is that schedule; else only that it
 * differs.
 * Return the text, which the caller frees.
 */
char *difference_schedule(const char *path, const struct state *was,
    const struct schedule *now, uint64_t samples);

#endif
