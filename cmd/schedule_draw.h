#ifndef CMD_SCHEDULE_DRAW_H
#define CMD_SCHEDULE_DRAW_H

#include "sched/schedule.h"

/*
 * schedule_draw(s, path):
 * Draw shapes, batches and learning rate of ${s} over the epochs, to the file
 * ${path} (draw/plot.h).  Return 0, or -1 after a message.
 */
int schedule_draw(const struct schedule *s, const char *path);

#endif
