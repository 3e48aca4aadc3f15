#ifndef TRAIN_ROOM_H
#define TRAIN_ROOM_H

#include <stdio.h>

#include "net/net.h"

/*
 * room_check(n, dir, keep, best, f):
 * What the checkpoints of net ${n} will take in run directory ${dir} (which
 * need not be there yet): ${keep} of them, one that is being written, and
 * with ${best} the best.  Say it to ${f} (NULL: do not), and warn if the disk
 * cannot hold it.
 */
void room_check(const struct net *n, const char *dir, int keep, int best,
    FILE *f);

#endif
