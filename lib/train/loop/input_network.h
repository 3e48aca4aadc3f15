#ifndef TRAIN_LOOP_INPUT_NETWORK_H
#define TRAIN_LOOP_INPUT_NETWORK_H

#include "train/loop/session.h"

/*
 * input_network_open(s):
 * Open the back end, the device and the network of a run, whose schedule and
 * datasets are open.  Internal to inputs_open (train/loop/inputs.h).  Return 0,
 * or an exit status after a message, which may differ from rank to rank.
 * Collective: all ranks call it.
 */
int input_network_open(struct session *s);

#endif
