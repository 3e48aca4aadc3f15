#ifndef TRAIN_RUN_ROOM_H
#define TRAIN_RUN_ROOM_H

#include <stdio.h>

#include "train/optim/slots.h"

/*
 * room_check(s, dir, keep, best, f):
 * What checkpoints of slots ${s} and their net will take in run directory
 * ${dir} (which need not be there yet): ${keep} of them, one that is being written, and
 * with ${best} the best.  Say it to ${f} (NULL: do not), and warn if the disk
 * cannot hold it.
 */
void room_check(const struct slots *s, const char *dir, int keep, int best,
    FILE *f);

#endif
