#ifndef DATA_HOLDOUT_H
#define DATA_HOLDOUT_H

/*
 * Held-out samples: the part of a set that validates, divided from the rest
 * along recordings (shard/recording.h).
 */

#include "base/mem.h"
#include "shard/dataset.h"

/*
 * holdout_draw(d, part, held, table):
 * Choose samples of ${d} until ${part} of each class is chosen, from above 0 to
 * 0.5, and set held[samples] to 1 for them and to 0 for the others.  Whole
 * recordings are chosen, in the order of the hashes of their first keys, so
 * that the choice does not depend on a seed.  A class keeps a recording for
 * training.  Append to ${table} a row for each sample: key, "train" or "val",
 * and the first key of its recording.
 *
 * If it ${says} so, print a note with the numbers, and warn if names or
 * perceptual hashes suggest recordings that the rules do not find.  Return 0,
 * or after a message -1 if a file cannot be read or no class has two
 * recordings, or -2 if the data are damaged.
 */
int holdout_draw(const struct dataset *d, double part, int says, char *held,
    struct buffer *table);

/*
 * holdout_compare(train, val):
 * Warn if samples of both sets belong to one recording.  Of large sets, and if
 * a KEY.json cannot be read, only names are compared.
 */
void holdout_compare(const struct dataset *train, const struct dataset *val);

#endif
