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

struct comm;
struct watch;

#define COMM_WAITS "waiting for other ranks"	/* unless it is said better */

/* Bytes to or from one rank. */
struct piece { int rank; void *data; size_t bytes; };

struct transport {
	const char *name;
	/* The same ranks again, for a thread of its own. */
	struct comm *(*dup)(struct comm *);
	void (*free)(struct comm *);
	/*
	 * Send and receive all at once.  Pieces between two ranks arrive in
	 * the order given; sizes must agree.  Zero bytes are fine.
	 */
	int (*exchange)(struct comm *, const struct piece *send, int sends,
	    const struct piece *receive, int receives);
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

struct comm {
	int rank, size;
	const struct transport *t;
	struct watch *watch;		/* NULL: none; duplicates share it */
	const char *what;		/* a wait for other ranks, in words */
	int holds;			/* between comm_hold and comm_unhold */
	void *priv;
};

/*
 * comm_open(argc, argv): the ranks that mpirun or srun started with this one;
 * one rank if nobody did.  NULL after a message.
 */
struct comm *comm_open(int *argc, char ***argv);

/*
 * comm_watch(c, seconds): from here on no wait for other ranks, nor any other
 * that c->watch is told of, may last longer; 0: it may.  All ranks must call
 * it; after a message in vain it ends them with EXIT_RANKS.
 */
void comm_watch(struct comm *c, double seconds);

/* comm_close(c): all ranks are done; frees ${c}.  If an exchange has failed,
 * they cannot know that: all are ended with EXIT_RANKS. */
void comm_close(struct comm *c);

/* comm_library(): "Open MPI 4.1.4", or "one process". */
const char *comm_library(void);

/*
 * comm_dup(c, what): for another thread; freed with comm_free.  All ranks must
 * call it.  ${what} is a wait in its exchanges, "waiting for other ranks", and
 * must stay.  NULL after a message.
 */
struct comm *comm_dup(struct comm *c, const char *what);
void comm_free(struct comm *c);

/* comm_abort(c, status): end all ranks; the run's exit status is ${status}. */
_Noreturn void comm_abort(struct comm *c, int status);

/* comm_exchange: the transport's exchange, under the eyes of the watch. */
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

#endif
