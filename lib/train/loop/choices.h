#ifndef TRAIN_LOOP_CHOICES_H
#define TRAIN_LOOP_CHOICES_H

/*
 * The algorithms that the back end chose, as a table.  Rank 0 chooses, and the
 * other ranks take its table, so that all compute the same bits.  The run
 * directory stores the table, and a resumed run reads it.  Choices made by
 * autotuning are also stored for other runs, in vt/choices.tsv of the user's
 * cache (backend/algorithm_cache.h).
 */

#include "train/loop/session.h"

/*
 * choices_plan(s):
 * Call trainer_plan with the choices of the run to resume, if there is one, and
 * with the same choices on all ranks.  Return 0, or an exit status that is the
 * same on all ranks.  Collective: all ranks call it.
 */
int choices_plan(struct session *s);

/*
 * choices_take_saved(d, dir):
 * Make device ${d} choose as the run in ${dir} did.  Ignore choices made for
 * another device or library version.  Do nothing if ${dir} has no table.
 * Return 0, or an exit status after a message.
 */
int choices_take_saved(struct device *d, const char *dir);

/*
 * choices_stamp(d, was):
 * Return "ROWS:HASH" of the table of ${d}, or NULL if its back end has no
 * choices.  ${was} may be an earlier stamp: then only the first rows are
 * counted and hashed, as many as ${was} has.  NULL: all rows.  The caller frees
 * the text.
 */
char *choices_stamp(struct device *d, const char *was);

/*
 * choices_state(s, was):
 * Store that stamp in the state of ${s}, or NULL if sums are not exact.  ${s}
 * owns the text.
 */
void choices_state(struct session *s, const char *was);

#endif
