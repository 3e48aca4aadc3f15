#ifndef TRAIN_RUN_AGREE_H
#define TRAIN_RUN_AGREE_H

/*
 * Compare run fingerprints: those of all ranks of a run, and that of a run with
 * the one of the checkpoint it resumes from.  fingerprint.c has the table of
 * compared values.
 */

#include "base/options.h"
#include "comm/comm.h"
#include "train/run/fingerprint.h"

/*
 * agree_program(text):
 * Write the hash of the running executable file to ${text}, as 32 hex digits,
 * or "unknown" if it cannot be read.  Return ${text}.
 */
const char *agree_program(char text[33]);

/*
 * agree_ranks(c, mine):
 * Check that the fingerprints ${mine} of all ranks agree in the facts of
 * FINGERPRINT_RANKS. Return 0, or -1 on all ranks. Rank 0 prints the first fact
 * that differs, and the ranks and hosts that have each value. Also return -1 if
 * communication fails. Collective: all ranks call it.
 */
int agree_ranks(struct comm *c, const struct fingerprint *mine);

/*
 * agree_resume(path, was, now, override, say, of):
 * Check that a run with fingerprint ${now} may resume from checkpoint ${path},
 * whose fingerprint is ${was}.  The number of ranks, paths and logging may
 * differ.  Data, network and recipe may not, except for the names in
 * ${override}.
 *
 * ${say}(${of}, name) returns a text such as "lr was 1 and is 2 now", which
 * agree_resume frees.  If it returns NULL, the message shows both values.
 *
 * Return 0, or -1 after a message for each difference.
 */
int agree_resume(const char *path, const struct fingerprint *was,
    const struct fingerprint *now, const struct option_list *override,
    char *(*say)(const void *of, const char *name), const void *of);

#endif
