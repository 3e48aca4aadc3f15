#ifndef TRAIN_RUN_AGREE_H
#define TRAIN_RUN_AGREE_H

/*
 * What must be the same: on every rank of a run, and in a run that goes on
 * where another stopped.  facts.c has the table of what is compared and when.
 */

#include "base/options.h"
#include "comm/comm.h"
#include "train/run/facts.h"

/*
 * agree_program(text): the hash of the executable file that runs, 32 digits;
 * "unknown" if it cannot be read.
 */
const char *agree_program(char text[33]);

/*
 * agree_ranks(c, mine):
 * Do all ranks say the same of all that must be the same on them?  Every rank
 * gets the answer: 0, or -1 after one message of rank 0 for the first thing
 * that differs: which rank, on which host, has which value.
 */
int agree_ranks(struct comm *c, const struct identity *mine);

/*
 * agree_resume(path, was, now, override, say, of):
 * Check that a run may resume from checkpoint ${path}.  The number of ranks,
 * paths and logging may differ.  Data, network and recipe may not, except for
 * the names in ${override}.
 *
 * ${say}(${of}, name) returns a text such as "lr was 1 and is 2 now", which
 * agree_resume frees.  If it returns NULL, the message shows both values.
 *
 * Return 0, or -1 after a message for each difference.
 */
int agree_resume(const char *path, const struct identity *was,
    const struct identity *now, const struct option_list *override,
    char *(*say)(const void *of, const char *name), const void *of);

#endif
