#ifndef SCHED_CURVE_H
#define SCHED_CURVE_H

/* Curves of a schedule over its epochs, for plots. */

#include "sched/schedule.h"

/* Points in order of x.  A NaN in y ends a line.  curve_free frees them. */
struct curve { double *x, *y; size_t n, x_cap, y_cap; };

enum curve_of { CURVE_CROP, CURVE_FRAMES, CURVE_BATCH };

/*
 * curve_count(s, what):
 * Return the number of curves that show ${what}.  It is the length of the
 * longest short cycle, or 1 if ${what} is constant within each cycle.
 */
int curve_count(const struct schedule *s, enum curve_of what);

/*
 * curve_cell(s, what, turn):
 * Return the values of cell ${turn} of each stage; NaN in stages with fewer
 * cells.
 */
struct curve curve_cell(const struct schedule *s, enum curve_of what,
    int turn);

/*
 * curve_lr(s):
 * Return the learning rate, with 100 segments for each bent piece.
 */
struct curve curve_lr(const struct schedule *s);

/* curve_max(c): return the largest y, or 0 if none is larger. */
double curve_max(const struct curve *c);
/* curve_free(c): free the points and leave an empty curve. */
void curve_free(struct curve *c);

#endif
