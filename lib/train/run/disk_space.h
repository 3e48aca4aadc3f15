#ifndef TRAIN_RUN_DISK_SPACE_H
#define TRAIN_RUN_DISK_SPACE_H

#include <stdio.h>

#include "train/optim/slots.h"

/*
 * disk_space_check(s, dir, keep, best, f):
 * Compute the disk space of checkpoints in run directory ${dir}, which may not
 * exist yet.  It holds ${keep} of them, one that is being written, and with
 * ${best} the best one.  ${s} is the optimizer state, with its net.
 * Print the result to ${f} (NULL: do not), and warn if the disk is too small.
 */
void disk_space_check(const struct slots *s, const char *dir, int keep,
    int best, FILE *f);

#endif
