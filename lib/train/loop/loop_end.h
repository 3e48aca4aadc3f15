#ifndef TRAIN_LOOP_LOOP_END_H
#define TRAIN_LOOP_LOOP_END_H

/*
 * Agree on the end of a loop that each rank runs at its own pace, such as the
 * batches of a validation.
 *
 * The ranks exchange their states in rounds, by nonblocking gathers.  Between
 * two iterations a rank begins the next round at most every LOOP_ROUND seconds,
 * and tests whether it is complete.  A rank that has finished its part, failed
 * or been asked to stop begins rounds at once, and waits in them.  All ranks
 * see the same states of a round, so all leave after the same one: the first in
 * which a rank has an exit status, or in which all have finished.
 *
 * No rank leaves on its own, so none waits for one that has left, at whichever
 * iterations they see a signal.  A wait lasts at most an iteration of the other
 * ranks and LOOP_ROUND, also if a signal reaches one rank alone.
 */

#include "comm/comm.h"

struct loop_end {
	struct comm *comm;
	struct exchange round;
	int64_t *state;			/* [ranks] of the last round */
	size_t *start;			/* [ranks + 1] for comm_allgatherv */
	double at;			/* clock seconds of the last round */
	int begun;			/* a round is in flight */
};

/*
 * loop_end_open(l, c): begin a loop of the ranks of ${c}, which must exchange
 * nothing else until loop_end_close.
 * loop_end_close(l): free ${l}, after loop_end_is has returned 1.
 */
void loop_end_open(struct loop_end *l, struct comm *c);
void loop_end_close(struct loop_end *l);

/*
 * loop_end_is(l, done, status):
 * Return 0 if this rank must do its next iteration.  ${done}: it has finished
 * its part.  ${*status}: its exit status; 0: none.
 * Return 1 if the loop has ended on all ranks, and set ${*status} to the
 * largest status of all, 0 if all have finished.  EXIT_RANKS, after a message,
 * means that an exchange failed.  Collective: all ranks call it until it
 * returns 1.
 */
int loop_end_is(struct loop_end *l, int done, int *status);

#endif
