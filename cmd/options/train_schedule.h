#ifndef CMD_OPTIONS_TRAIN_SCHEDULE_H
#define CMD_OPTIONS_TRAIN_SCHEDULE_H

/*
 * The schedule of vt-train without --schedule: that of the recipe, with the
 * numbers that the user gives, and by rule with those that neither gives.
 */

#include "shard/dataset.h"

/* The user's numbers.  Fields have the names of their options; 0: not given. */
struct train_schedule { int64_t epochs, batch, frames, crop; double lr; };

/*
 * train_schedule_text(d, how, says):
 * Return the table of the schedule for the training data ${d} and the numbers
 * ${how}, a struct train_schedule.  If it ${says} so, print a note with the line
 * of vt-schedule(1) that makes it.  The caller frees the text.  Return NULL
 * after a message if the numbers allow none.
 */
char *train_schedule_text(const struct dataset *d, const void *how, int says);

#endif
