#ifndef TRAIN_RUN_STATUS_H
#define TRAIN_RUN_STATUS_H

#include <stdio.h>

/* Tell the state of a run from its directory. */

/*
 * run_status(dir, f):
 * Print the state of the run in ${dir} to ${f}, as one JSON object.  Return the
 * exit status for that state:
 *
 *	finished	0 or 3	the schedule is done
 *	running		75	a process is training it
 *	unfinished	75	stopped with its state saved, or killed
 *	diverged	5
 *	failed		1 or 4	as the run did, or all checkpoints are damaged
 *	none		2	not the directory of a run; with a message
 *
 * Change nothing on the disk; a process may train the run meanwhile.
 */
int run_status(const char *dir, FILE *f);

/*
 * run_finished(dir):
 * Return the exit status of the run in ${dir} if it is finished, or -1 without
 * a message if it is not.  ${dir} must contain a checkpoint.
 */
int run_finished(const char *dir);

#endif
