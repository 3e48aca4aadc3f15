#ifndef TRAIN_RUN_STATUS_H
#define TRAIN_RUN_STATUS_H

#include <stdio.h>

/*
 * run_status(dir, f):
 * Print to ${f}, as one JSON object, how the run in ${dir} stands, and return
 * the exit status that says the same:
 *
 *	finished	0 or 3	the schedule is done
 *	running		75	a process is at work on it now
 *	unfinished	75	stopped with its state saved, or killed
 *	diverged	5
 *	failed		1 or 4	as the run did, or every checkpoint is damaged
 *	none		2	no run is there
 *
 * Nothing on the disk is changed, and a run at work is not disturbed.
 */
int run_status(const char *dir, FILE *f);

/*
 * run_finished(dir):
 * Return the exit status of the run in ${dir} if it is finished, or -1 without
 * a message if it is not.  ${dir} must contain a checkpoint.
 */
int run_finished(const char *dir);

#endif
