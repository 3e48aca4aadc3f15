#ifndef SCHED_CURVE_H
#define SCHED_CURVE_H

/* A schedule as curves over its epochs, to be drawn. */

#include "sched/schedule.h"

/* Points in order of x; a NaN in y ends a line.  curve_free frees them. */
struct curve { double *x, *y; size_t n, x_cap, y_cap; };

enum curve_of { CURVE_CROP, CURVE_FRAMES, CURVE_BATCH };

/* curve_turns(s, what): how many curves show ${what}: one for each turn of the
 * longest short cycle, or 1 if in no stage it changes from turn to turn. */
int curve_turns(const struct schedule *s, enum curve_of what);

/* curve_cell(s, what, turn): of cell ${turn} of each stage that has so many. */
struct curve curve_cell(const struct schedule *s, enum curve_of what,
    int turn);

/*
 * curve_lr(s): the learning rate, at points so close that it looks bent as it
 * is.
 */
struct curve curve_lr(const struct schedule *s);

/* curve_most(c): the greatest y, 0 if there is none above. */
double curve_most(const struct curve *c);
void curve_free(struct curve *c);

#endif
