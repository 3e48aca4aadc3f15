#ifndef TRAIN_LOOP_INPUTS_H
#define TRAIN_LOOP_INPUTS_H

/*
 * Open the inputs of a run, alike on every rank: the schedule, the datasets,
 * the table of classes that a flip swaps, and the network.
 */

#include "train/loop/session.h"

/*
 * inputs_text(c, path):
 * Return the text of file ${path}, read by rank 0 and sent to every rank.  Only
 * rank 0 has standard input ("-"), and files may differ from host to host.
 * Return NULL on all ranks if rank 0 cannot read it, after its message.  The
 * caller frees the text.  Other ranks may pass a NULL ${path}.
 * Collective: all ranks call it.
 */
char *inputs_text(struct comm *c, const char *path);

/*
 * inputs_share(c, text):
 * Take ${text} of rank 0, and return it on every rank.  Return NULL on all
 * ranks if it is NULL or communication fails.  The caller frees the text.
 * Other ranks pass NULL.  Collective: all ranks call it.
 */
char *inputs_share(struct comm *c, char *text);

/*
 * inputs_all_have(c, path): return 1 if ${path} is not NULL on any rank, else
 * 0.
 * Collective: all ranks call it.
 */
int inputs_all_have(struct comm *c, const char *path);

/*
 * inputs_open(s):
 * Open the inputs that s->t.o names, on all ranks of s->comm.  ${s} owns them,
 * also after a failure.  Return 0, or an exit status that is the same on all
 * ranks.  Collective: all ranks call it.
 */
int inputs_open(struct session *s);

/*
 * inputs_warn_crop(d, path, crop):
 * Warn if every frame of ${d} has a short side below ${crop} pixels.  The
 * message calls the dataset ${path}.
 */
void inputs_warn_crop(const struct dataset *d, const char *path, int crop);

/*
 * inputs_print_classes(s, f):
 * With one of the options, print a line for each class to ${f}: its samples,
 * its visits in an epoch, and its weight.
 */
void inputs_print_classes(const struct session *s, FILE *f);

/*
 * input_network_open(s):
 * Open the back end, the device and the network of a run, whose schedule and
 * datasets are open.  Internal to inputs_open.  Return 0, or an exit status
 * after a message, which may differ from rank to rank.  Collective: all ranks
 * call it.
 */
int input_network_open(struct session *s);

#endif
