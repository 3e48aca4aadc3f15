#ifndef TRAIN_RUN_SCHEDULE_DRAW_H
#define TRAIN_RUN_SCHEDULE_DRAW_H

#include "sched/schedule.h"

/* schedule_draw(s, path): as plot_draw; -1 after a message. */
int schedule_draw(const struct schedule *s, const char *path);

#endif
