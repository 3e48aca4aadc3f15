#ifndef TRAIN_LOOP_CHOICES_H
#define TRAIN_LOOP_CHOICES_H

/*
 * How the back end does things, where it may choose, as data: rank 0 chooses,
 * all ranks do as it does, and the table of it lies in the run's directory, from
 * which the run goes on.  What was found by trying is kept for other runs, too,
 * in vt/choices.tsv in the user's cache.
 */

#include "train/loop/session.h"

/*
 * choices_plan(s): trainer_plan, with the choices of the run that goes on, and
 * alike on all ranks.  0, or an exit status that they share.
 */
int choices_plan(struct session *s);

/*
 * choices_take_saved(d, dir): from now on ${d} does as the run in ${dir} did, as far
 * as that was on such a device and by such a library.  0, or an exit status after a
 * message.
 */
int choices_take_saved(struct device *d, const char *dir);

/*
 * choices_stamp(d, was): how many choices there are and the hash of their table,
 * "ROWS:HASH", the caller's to free; NULL: there is nothing to choose.  ${was},
 * unless it is NULL, is such a stamp: only as many are counted as it has.
 *
 * choices_state(s, was): the same, if sums are exact, becomes the state's.
 */
char *choices_stamp(struct device *d, const char *was);
void choices_state(struct session *s, const char *was);

#endif
