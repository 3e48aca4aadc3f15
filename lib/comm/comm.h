#ifndef COMM_COMM_H
#define COMM_COMM_H

/*
 * A communicator: the ranks of one run.  A transport (one process, threads or
 * MPI) moves bytes between ranks.  Everything else in comm/ is written on top
 * of this interface.
 *
 * A rank that cannot continue ends the run with comm_abort, so that no rank
 * waits for ever.  Unless a comment says otherwise, functions return 0, or -1
 * after a message.
 */

#include <stddef.h>
#include <stdint.h>

#include "comm/collective.h"
#include "comm/rank_order.h"

struct comm;
struct exchange;
struct watch;

#define COMM_WAITS "waiting for other ranks"	/* default of comm->what */

/* A message: ${bytes} at ${data}, to or from rank ${rank}. */
struct message { int rank; void *data; size_t bytes; };

/* The functions of a transport.  They print a message before they return -1. */
struct transport {
	const char *name;
	/* See comm_split.  ${*part} becomes NULL if ${color} is negative. */
	int (*split)(struct comm **part, struct comm *, int color, int key);
	/* Free the communicator, which comm_split or comm_open made. */
	void (*free)(struct comm *);
	/* See comm_start and comm_test.  exchange->comm is set. */
	int (*start)(struct exchange *, const struct message *send, int sends,
	    const struct message *receive, int receives);
	int (*test)(struct exchange *);
	void (*release)(struct exchange *);	/* free exchange->priv */
	/* The library's own sum of floats, as a baseline.  NULL if absent. */
	int (*allreduce)(struct comm *, float *x, size_t n);
	/*
	 * For the watchdog's thread (comm/watch.h), concurrently with exchanges
	 * of other threads.  Both are NULL if the library does not allow that.
	 * send_status: start to send; ${data} must stay valid and unchanged.
	 * receive_status: return 1 if a message arrived, and set ${*rank} to
	 * its sender.
	 */
	void (*send_status)(struct comm *, int rank, const void *data,
	    size_t bytes);
	int (*receive_status)(struct comm *, int *rank, void *data,
	    size_t bytes);
	void (*abort)(struct comm *, int status);	/* does not return */
};

/*
 * A set of nonblocking messages.  Initialize it with zeros.  It can be reused
 * after it completes, and allocates only when it has more messages than ever
 * before.
 */
struct exchange {
	struct comm *comm;		/* NULL: nothing in flight */
	void *priv;			/* owned by the transport */
};

/* A communicator.  One thread at a time uses it. */
struct comm {
	int rank, size;
	const struct transport *t;
	struct watch *watch;		/* NULL: none; shared by all parts */
	const char *what;		/* for the watchdog: what a wait is
					 * for */
	int overlap;			/* 1: another thread computes */
	int spins;			/* 1: each rank has a processor of its
					 * own, so that waits may spin for
					 * longer */
	double patience;		/* seconds to spin without sleeping */
	int holds;			/* 1: messages are deferred */
	struct exchange now;		/* used by comm_exchange */
	struct collective list;		/* scratch of the collectives below */
	struct rank_order *order;	/* see comm_order; NULL: not made */
	size_t *starts;			/* scratch of comm/segments.c */
	struct message *send, *receive;	/* scratch of comm/collective.c */
	size_t send_cap, receive_cap;
	void *priv;			/* owned by the transport */
};

/*
 * comm_open(argc, argv, seconds):
 * Join the ranks that mpirun or srun started, or make a communicator of one
 * rank without them.  ${argc} and ${argv} are those of main, for MPI_Init.
 * Start the watchdog (comm/watch.h).  A wait for other ranks, or any other wait
 * between watch_enter and watch_leave, that exceeds ${seconds} ends all ranks
 * with EXIT_RANKS after a message.  The start may take at least WATCH_START
 * seconds.  If ${seconds} is 0, there is no limit.
 * Return the communicator, which comm_close frees, or NULL after a message.
 * Collective: all ranks call it.
 */
struct comm *comm_open(int *argc, char ***argv, double seconds);

/*
 * comm_watch(c, seconds):
 * Start the watchdog for a communicator that comm_open did not make.
 * ${seconds} is as in comm_open.  comm_close stops it.  Collective: all ranks
 * call it.
 */
void comm_watch(struct comm *c, double seconds);

/*
 * comm_close(c):
 * Wait for all ranks, stop the watchdog and free ${c}, which may be NULL.  If
 * an exchange has failed, end all ranks with EXIT_RANKS, because the other
 * ranks do not know of the failure.  Collective: all ranks call it.
 */
void comm_close(struct comm *c);

/*
 * comm_library(): return the name of the transport's library, "Open MPI 4.1.4"
 * or "one process (no MPI in this build)".  Valid until the thread's next call.
 */
const char *comm_library(void);

/*
 * comm_split(part, c, color, key, what):
 * Make ${*part}, a communicator of the ranks of ${c} that pass the same
 * ${color}.  Its ranks are ordered by ${key}, then by rank in ${c}.  A rank
 * with a negative ${color} gets NULL.  ${what} names a wait in its exchanges,
 * for example "waiting for other ranks", and must outlive it.  Another thread
 * may use ${*part} while ${c} is in use.  comm_free frees it.
 * Return 0, or -1 after a message.  Collective: all ranks call it.
 */
int comm_split(struct comm **part, struct comm *c, int color, int key,
    const char *what);

/*
 * comm_dup(c, what): comm_split with all ranks of ${c} in the same order, for
 * use by another thread.  Return NULL after a message.  Collective: all ranks
 * call it.
 */
struct comm *comm_dup(struct comm *c, const char *what);

/*
 * comm_free(c): free a communicator that comm_split, comm_dup, comm_self or
 * comm_planned made.  No messages may be in flight.  ${c} may be NULL.
 */
void comm_free(struct comm *c);

/*
 * comm_abort(c, status): end all ranks with exit status ${status}.  Print
 * deferred messages first (comm_hold).  Any thread may call it.
 */
_Noreturn void comm_abort(struct comm *c, int status);

/*
 * comm_start(c, x, send, sends, receive, receives):
 * Start ${sends} nonblocking sends and ${receives} nonblocking receives as
 * ${x}, which must not be in flight.  Several exchanges may be in flight.
 * Messages between two ranks match in the order of the calls, and within a call
 * in the order of the list.  The receiver must expect the sender's size; 0
 * bytes are allowed.  The data must stay valid until ${x} completes; the lists
 * may be reused at once.  Return 0, or -1 after a message.
 */
int comm_start(struct comm *c, struct exchange *x, const struct message *send,
    int sends, const struct message *receive, int receives);

/*
 * comm_test(x): return 1 if ${x} is complete or was not started, 0 if it is in
 * flight, -1 after a message.  MPI may make progress only inside this call.
 */
int comm_test(struct exchange *x);

/*
 * comm_wait(x): wait until ${x} is complete.  The watchdog ends all ranks if
 * that exceeds its limit.  Return 0, or -1 after a message.
 */
int comm_wait(struct exchange *x);

/*
 * comm_set_overlap(c, beside): state whether another thread of this rank
 * computes during waits for exchanges of ${c}. If ${beside} is 1, waits sleep
 * early and leave the processor to that thread. Any thread may call it.
 */
void comm_set_overlap(struct comm *c, int beside);

/*
 * exchange_free(x, c): free the memory of ${x}, which must not be in flight.
 * Call it before ${c}, its communicator, is freed.
 */
void exchange_free(struct exchange *x, struct comm *c);

/* comm_exchange: comm_start and comm_wait, with the arguments of comm_start. */
int comm_exchange(struct comm *c, const struct message *send, int sends,
    const struct message *receive, int receives);

/*
 * comm_order(c): return the order of the ranks along a vector
 * (comm/rank_order.h).  ${c} owns it.
 */
const struct rank_order *comm_order(struct comm *c);

/*
 * comm_barrier(c): wait until all ranks have called it.  Return 0, or -1 after
 * a message.
 */
int comm_barrier(struct comm *c);

/*
 * comm_broadcast(c, data, bytes, root): copy ${bytes} at ${data} of rank
 * ${root} to ${data} of all ranks.  Collective.  Return 0, or -1 after a
 * message.
 */
int comm_broadcast(struct comm *c, void *data, size_t bytes, int root);

/*
 * comm_allgather(c, mine, bytes, all): copy ${bytes} at ${mine} of every rank
 * into ${all} [ranks][bytes] of every rank.  ${bytes} must be the same on all
 * ranks.
 * Collective.  Return 0, or -1 after a message.
 */
int comm_allgather(struct comm *c, const void *mine, size_t bytes, void *all);

/*
 * comm_allgatherv(c, data, start): rank r holds bytes start[r] to start[r + 1]
 * - 1 of ${data}.  Copy them to the same bytes of ${data} on every rank.
 * ${start} has ranks + 1 elements.  Collective.  Return 0, or -1 after a
 * message.
 */
int comm_allgatherv(struct comm *c, void *data, const size_t *start);

/*
 * comm_allgatherv_start(c, x, data, start): start comm_allgatherv as ${x}.
 * comm_wait or comm_test completes it; ${data} must stay valid until then.
 */
int comm_allgatherv_start(struct comm *c, struct exchange *x, void *data,
    const size_t *start);

/*
 * comm_max(c, v): set ${*v} on all ranks to the largest ${*v} of all ranks.
 * Collective.  Return 0, or -1 after a message.
 */
int comm_max(struct comm *c, int64_t *v);

/*
 * comm_agree(c, status): return the largest exit status of all ranks, so that
 * all ranks take the same decision.  Between comm_hold and comm_unhold, also
 * print the deferred messages.  Return EXIT_RANKS after a message if the
 * exchange fails.
 * Collective: all ranks call it.
 */
int comm_agree(struct comm *c, int status);

/*
 * comm_hold(c), comm_unhold(c): between the two calls, defer errors and
 * warnings to the next comm_agree.  There rank 0 prints each distinct message
 * once, and names the ranks that reported it.  With one rank, messages are not
 * deferred.
 */
void comm_hold(struct comm *c);
void comm_unhold(struct comm *c);

/*
 * comm_self(): return a communicator of one rank, for one process, tests and
 * benchmarks.  comm_free frees it.
 */
struct comm *comm_self(void);

/*
 * comm_planned(ranks): return a communicator in which this process is rank 0 of
 * ${ranks} and no other rank exists.  It serves for planning and must not
 * exchange messages.  comm_free frees it.
 */
struct comm *comm_planned(int ranks);

#endif
