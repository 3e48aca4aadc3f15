#ifndef SCHEDULE_LR_H
#define SCHEDULE_LR_H

#include "sched/lr.h"
#include "sched/schedule.h"

/*
 * schedule_lr(s, epoch):
 * Return the learning rate at ${epoch}, which may have a fraction.
 */
static inline double
schedule_lr(const struct schedule *s, double epoch)
{
	const struct stage *g = schedule_stage(s, (int)epoch);

	return lr_at(g->lr, g->pieces, epoch);
}

#endif
