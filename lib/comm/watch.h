#ifndef COMM_WATCH_H
#define COMM_WATCH_H

/*
 * The watchdog: a time limit for each wait of a rank: for other ranks, for
 * clips, for a checkpoint that is being written.  Its thread measures the
 * waits.  When one exceeds the limit, the thread queries the status of every
 * rank.  It reports the late ranks, with their hosts and what they are doing,
 * and ends all ranks with EXIT_RANKS.
 *
 * Ranks are queried only then, so that the watchdog costs nothing before.  A
 * rank that is stopped, or whose host is lost, does not reply.  If the MPI
 * library does not let two threads communicate, no rank is queried, and the
 * message contains only what this rank knows.  Time during which this process
 * was stopped does not count.
 *
 * The watchdog starts before the ranks are connected, because a rank may be
 * missing then, too.  Starting MPI takes longer than any exchange; the limit
 * for it is at least WATCH_START.  From then until the first watch_phase, a
 * rank sets up: others wait while it plans, autotunes or writes to a slow
 * disk.  The limit for that is at least WATCH_SETUP.
 *
 * Every function accepts a NULL watch, and does nothing then, except
 * watch_connect.  Any thread may call the functions.
 */

#include "comm/comm.h"

struct watch;

#define WATCH_START 30.0		/* seconds */
#define WATCH_SETUP 600.0

/*
 * watch_open(seconds):
 * Start the watchdog of this rank, which is not connected to other ranks yet.
 * ${seconds} is the limit of a wait; 0: no limit.  Return the watchdog, which
 * watch_close frees.  Exit with EXIT_FAILED after a message if no thread can be
 * started.
 * watch_connect(w, c): connect the watchdogs of all ranks of ${c}. Let it be
 * the first exchange of ${c}, so that the start's limit applies. ${c} must live
 * until watch_close. End all ranks after a message if the exchange fails.
 * Collective: all ranks call it.
 * watch_close(w): end the thread and free ${w}.
 */
struct watch *watch_open(double seconds);
void watch_connect(struct watch *w, struct comm *c);
void watch_close(struct watch *w);

/*
 * watch_phase(w, what, step):
 * State what the main thread does until the next call, for messages: ${what},
 * for example "validating", or NULL for an ordinary step.  ${step} counts from
 * 1; 0: none.  ${what} must stay valid.
 */
void watch_phase(struct watch *w, const char *what, uint64_t step);

/*
 * watch_stop_ends(w, ends):
 * While ${ends} is 1, a signal to stop (base/stop.h) ends all ranks within a
 * second, with EXIT_AGAIN after a note: library calls that plan, compile or
 * autotune cannot be interrupted.  Set it only while nothing has been written
 * that would need an orderly end.  After it is set to 0, the caller of
 * stop_signal decides.
 */
void watch_stop_ends(struct watch *w, int ends);

#define WATCH_STOPPED "stopped while setting up: nothing is written, and the " \
	"same command begins again"

/*
 * watch_set_describe(w, tell, arg):
 * Set ${tell}, which describes in ${text} [size] what a rank does in an
 * ordinary step, for example ", at clip 17".  The watchdog's thread calls it
 * for this rank and for ranks that do not reply, with ${size} 256.  If ${tell}
 * is NULL, there is no such description.
 */
void watch_set_describe(struct watch *w, void (*tell)(void *arg, int rank,
    uint64_t step, char *text, size_t size), void *arg);

/*
 * watch_add_cleanup(w, c): let the watchdog's thread call c->end(c->arg) before
 * it ends the ranks, to stop work that would outlive them.  ${c} belongs to the
 * caller, and must stay valid until watch_remove_cleanup.
 */
struct watch_cleanup {
	void (*end)(void *arg);
	void *arg;
	struct watch_cleanup *next;	/* of the watchdog */
};

void watch_add_cleanup(struct watch *w, struct watch_cleanup *c);
void watch_remove_cleanup(struct watch *w, struct watch_cleanup *c);

/*
 * watch_enter(w, what, peers): the calling thread begins a wait, "loading
 * clips".  ${peers} is 1 if it waits for other ranks.  ${what} must stay valid
 * until watch_leave.  Return a handle for watch_leave, negative if the wait is
 * not measured.
 * watch_leave(w, wait): end the wait with the handle ${wait}.
 */
int watch_enter(struct watch *w, const char *what, int peers);
void watch_leave(struct watch *w, int wait);

#endif
