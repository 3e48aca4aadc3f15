#ifndef COMM_WATCH_H
#define COMM_WATCH_H

/*
 * A deadline for whatever a rank waits for: messages of other ranks, clips, a
 * checkpoint that is being written.  A thread looks on.  When a wait has
 * lasted too long it asks every rank what it is doing, says which ones are
 * late, on which host and in what, and ends them all with EXIT_RANKS.
 *
 * Ranks are asked only then, so that watching costs nothing.  A rank that is
 * stopped, or whose host is gone, is known by its silence.  Where the MPI
 * library does not let two threads communicate, nobody is asked, and the
 * message has what this rank knows of itself.  Time in which the process itself
 * was stopped does not count.
 *
 * It begins before the ranks know one another, for then, too, one may be missed.
 * That takes MPI longer than any exchange, and has WATCH_START seconds at least.
 *
 * A NULL watch is one that does nothing.
 */

#include "comm/comm.h"

struct watch;

#define WATCH_START 30.0

/*
 * watch_open(seconds): watch this rank, whose others are not known yet;
 * 0: any wait may last.
 * watch_meet(w, c): now they are; all ranks call it, and the first exchange of
 * ${c} should be this one.  ${c} must live until watch_close.
 */
struct watch *watch_open(double seconds);
void watch_meet(struct watch *w, struct comm *c);
void watch_close(struct watch *w);

/*
 * watch_phase(w, what, step): what the main thread does from here on, to be
 * said of it: "validating"; NULL: an ordinary step, ${step}.  Steps count from
 * 1; 0: none to speak of.  The text must stay.
 */
void watch_phase(struct watch *w, const char *what, uint64_t step);

/*
 * watch_about(w, tell, arg): in an ordinary step, ${tell} says more of what a
 * rank is at, ", at clip 17", with room for 256 bytes: of this rank, and of one
 * that does not answer.  It is called by the watch's thread; NULL: nobody does.
 */
void watch_about(struct watch *w, void (*tell)(void *arg, int rank,
    uint64_t step, char *text, size_t size), void *arg);

/*
 * watch_ending(w, end, arg): ${end} is called by the watch's thread before it ends
 * the ranks, to stop what they would leave at work; NULL: nothing is.
 */
void watch_ending(struct watch *w, void (*end)(void *arg), void *arg);

/*
 * watch_enter(w, what, peers): from here on the calling thread waits,
 * "loading clips"; ${peers}: for other ranks.  The text must stay.  The result
 * is for watch_leave, at the end of the wait.
 */
int watch_enter(struct watch *w, const char *what, int peers);
void watch_leave(struct watch *w, int wait);

#endif
