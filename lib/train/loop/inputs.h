#ifndef TRAIN_LOOP_INPUTS_H
#define TRAIN_LOOP_INPUTS_H

/*
 * What a run reads before it begins: the schedule, the datasets, the classes
 * that a flip swaps, and the network, alike on every rank.
 */

#include "train/loop/session.h"

/*
 * inputs_text(c, path):
 * The text of a file that rank 0 can read, on every rank: standard input ("-")
 * belongs to rank 0 alone, and files may differ from host to host.  The
 * caller's to free; NULL after a message, on all ranks alike.
 */
char *inputs_text(struct comm *c, const char *path);

/*
 * inputs_open(s):
 * Open what s->o names, on all ranks of s->comm.  What is opened is the
 * session's, also after a failure.  0, or an exit status that all ranks share.
 */
int inputs_open(struct session *s);

/*
 * inputs_warn_crop(d, path, crop):
 * Warn if no frame of ${d}, called ${path} in the message, has a short side of
 * ${crop} pixels.
 */
void inputs_warn_crop(const struct dataset *d, const char *path, int crop);

#endif
