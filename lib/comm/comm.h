#ifndef COMM_COMM_H
#define COMM_COMM_H

/*
 * A communicator: the ranks of one run.  A transport (one process, threads,
 * MPI) moves bytes between ranks; everything else is written against it here
 * and in comm/exact.h.
 *
 * A rank that cannot go on ends the run with comm_abort: nobody is left
 * waiting.  Functions return 0, or -1 after a message.
 */

#include <stddef.h>
#include <stdint.h>

#include "comm/collective.h"

struct comm;
struct exchange;
struct watch;

#define COMM_WAITS "waiting for other ranks"	/* unless it is said better */

/* Bytes to or from one rank. */
struct piece { int rank; void *data; size_t bytes; };

struct transport {
	const char *name;
	/* See comm_split; ${*part} is NULL if ${colour} is negative. */
	int (*split)(struct comm **part, struct comm *, int colour, int key);
	void (*free)(struct comm *);
	/* See comm_start, comm_test; exchange->comm is set. */
	int (*start)(struct exchange *, const struct piece *send, int sends,
	    const struct piece *receive, int receives);
	int (*test)(struct exchange *);
	void (*release)(struct exchange *);	/* its priv */
	/* The library's own sum of floats, to compare with; NULL: none. */
	int (*allreduce)(struct comm *, float *x, size_t n);
	/*
	 * For the watch (comm/watch.h), beside what other threads exchange;
	 * both NULL if that cannot be.  tell: start to send; ${data} must
	 * stay.  heard: 1 if a message has come, and from which rank.
	 */
	void (*tell)(struct comm *, int rank, const void *data, size_t bytes);
	int (*heard)(struct comm *, int *rank, void *data, size_t bytes);
	void (*abort)(struct comm *, int status);	/* does not return */
};

/*
 * An exchange that has been started.  Begins as zeros; may be used for one
 * exchange after the other, and then allocates nothing once it has seen the
 * largest.
 */
struct exchange {
	struct comm *comm;		/* NULL: none is under way */
	void *priv;			/* the transport's */
};

struct comm {
	int rank, size;
	const struct transport *t;
	struct watch *watch;		/* NULL: none; parts share it */
	const char *what;		/* a wait for other ranks, in words */
	int beside;			/* another thread computes */
	int spins;			/* waits may, for a while: ranks do not
					 * need one another's processors */
	double patience;		/* seconds of it */
	int holds;			/* between comm_hold and comm_unhold */
	struct exchange now;		/* of comm_exchange */
	struct collective list;		/* scratch of the collectives below */
	struct piece *send, *receive;	/* scratch of comm/collective.c */
	size_t send_cap, receive_cap;
	void *priv;
};

/*
 * comm_open(argc, argv, seconds): the ranks that mpirun or srun started with this
 * one; one rank if nobody did.  NULL after a message.  No wait for other ranks,
 * nor any other that the watch is told of (comm/watch.h), may last longer than
 * ${seconds}, their start WATCH_START at least; 0: it may.  After a message it
 * ends them all with EXIT_RANKS.
 */
struct comm *comm_open(int *argc, char ***argv, double seconds);

/* comm_watch(c, seconds): the same from here on for ranks that were made another
 * way, which all call it. */
void comm_watch(struct comm *c, double seconds);

/* comm_close(c): all ranks are done; frees ${c}.  If an exchange has failed,
 * they cannot know that: all are ended with EXIT_RANKS. */
void comm_close(struct comm *c);

/* comm_library(): "Open MPI 4.1.4", or "one process". */
const char *comm_library(void);

/*
 * comm_split(part, c, colour, key, what): the ranks that give the same
 * ${colour}, in order of ${key} and, where that is the same, of rank in ${c},
 * as a communicator of their own, ${*part}; of a negative colour, none, NULL.
 * All ranks must call it.  It may be used while ${c} is, and by another thread;
 * one thread at a time uses a communicator.  ${what} is a wait in its
 * exchanges, "waiting for other ranks", and must stay.
 */
int comm_split(struct comm **part, struct comm *c, int colour, int key,
    const char *what);

/* comm_dup(c, what): all ranks of ${c} again, for another thread. */
struct comm *comm_dup(struct comm *c, const char *what);

/* comm_free(c): one that was made by the two above; no exchange is under way. */
void comm_free(struct comm *c);

/* comm_abort(c, status): end all ranks; the run's exit status is ${status}. */
_Noreturn void comm_abort(struct comm *c, int status);

/*
 * comm_start(c, x, send, sends, receive, receives):
 * Begin to send and to receive all of these; ${x} is then under way.  Several
 * exchanges may be.  What two ranks have for each other arrives in the order in
 * which it was started, pieces of one exchange in the order given; sizes must
 * agree; zero bytes are fine.  The data must stay until the exchange is done,
 * the lists of pieces need not.
 */
int comm_start(struct comm *c, struct exchange *x, const struct piece *send,
    int sends, const struct piece *receive, int receives);

/*
 * comm_test(x): 1 if ${x} is done, or none is under way; 0 if it is not done
 * yet; -1 after a message.  Some transports move bytes only in here.
 */
int comm_test(struct exchange *x);

/* comm_wait(x): until it is done, under the eyes of the watch: a wait that
 * lasts longer than is allowed ends all ranks. */
int comm_wait(struct exchange *x);

/*
 * comm_aside(c, beside): from here on another thread of this rank computes while
 * exchanges of ${c} are waited for, or no longer does.  Waits leave it the
 * processor then.  May be called by any thread.
 */
void comm_aside(struct comm *c, int beside);

/* exchange_free(x): none is under way; before its communicator is freed. */
void exchange_free(struct exchange *x, struct comm *c);

/* comm_exchange: started and waited for. */
int comm_exchange(struct comm *c, const struct piece *send, int sends,
    const struct piece *receive, int receives);

int comm_barrier(struct comm *c);

/* comm_broadcast(c, data, bytes, root): from rank ${root} to all. */
int comm_broadcast(struct comm *c, void *data, size_t bytes, int root);

/*
 * comm_allgather(c, mine, bytes, all): every rank's ${bytes} (the same number
 * on each) to every rank, in order of rank, into ${all}.
 */
int comm_allgather(struct comm *c, const void *mine, size_t bytes, void *all);

/*
 * comm_allgatherv(c, data, start): rank r holds the bytes start[r] to
 * start[r + 1] - 1 of ${data}; fill in the rest on every rank.
 */
int comm_allgatherv(struct comm *c, void *data, const size_t *start);

/* comm_allgatherv_start(c, x, data, start): the same, started. */
int comm_allgatherv_start(struct comm *c, struct exchange *x, void *data,
    const size_t *start);

/* comm_max(c, v): the largest of every rank's ${v}, to all of them. */
int comm_max(struct comm *c, int64_t *v);

/*
 * comm_agree(c, status): the largest of every rank's exit status, so that all
 * go on or none does; EXIT_RANKS if they cannot exchange them.
 */
int comm_agree(struct comm *c, int status);

/*
 * comm_hold(c), comm_unhold(c): between the two, errors and warnings wait for
 * the next comm_agree, where rank 0 says each of them once, for all ranks that
 * have it.
 */
void comm_hold(struct comm *c);
void comm_unhold(struct comm *c);

/* comm_self(): a communicator of one rank, for tests and benchmarks. */
struct comm *comm_self(void);

/*
 * comm_planned(ranks): rank 0 of so many, of which no other is there: to plan
 * for them with.  It exchanges nothing.
 */
struct comm *comm_planned(int ranks);

#endif
