#ifndef TRAIN_LOOP_PARITY_H
#define TRAIN_LOOP_PARITY_H

#include <stdio.h>

struct trainer;

/*
 * trainer_parity(t, f):
 * Hold each distinct task of the training plans of ${t} against the same ops on
 * the back end ref (net/parity.h), from the first weights and made-up clips,
 * and print a row for each.  A microbatch that would take plain loops too long
 * is cut to fewer clips.  0, or an exit status after a message: EXIT_FAILED
 * where a difference is over its tolerance.
 */
int trainer_parity(const struct trainer *t, FILE *f);

#endif
