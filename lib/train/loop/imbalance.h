#ifndef TRAIN_LOOP_IMBALANCE_H
#define TRAIN_LOOP_IMBALANCE_H

/* --balance and --class-weight of a run. */

#include "train/loop/session.h"

/*
 * imbalance_open(s):
 * Set the balance and the class weights of ${s}, as its options say, for its
 * training data.  Return 0, or EXIT_USAGE after a message.
 * Collective: all ranks call it.
 */
int imbalance_open(struct session *s);

/*
 * imbalance_print(s, f):
 * With one of the options, print a line for each class to ${f}: its samples,
 * its visits in an epoch, and its weight.
 */
void imbalance_print(const struct session *s, FILE *f);

#endif
