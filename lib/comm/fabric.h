#ifndef COMM_FABRIC_H
#define COMM_FABRIC_H

/*
 * Sums over ranks of what lies in memory of devices, by a library of the
 * devices' maker that moves it between them (NCCL), on a stream of theirs.  The
 * communicator is only told with what the library finds the other ranks.
 *
 * A sum is one of all ranks; or ranks stand in a grid (comm/grid.h), and it is
 * scattered along rows, summed along columns and gathered along rows, so that
 * less goes between hosts (a torus, Mikami et al. 2018).  All ranks get the same
 * bits, but another number of ranks gets others.
 */

#include "comm/comm.h"
#include "comm/wire.h"

/*
 * What the library does.  A link is a communicator of its own; a stream and what
 * lies on a device are addresses that only it knows.  Types are WIRE_FP32 and so
 * on.  Functions that return int give 0, or -1 after a message; pointers are
 * NULL after one.  Nothing waits: what is put on a stream is done later, and a
 * link may not be ready when it is returned.
 */
struct fabric_calls {
	const char *name;
	size_t id_bytes;
	/* A new id, for one rank to give to all; the link of them all. */
	int (*id)(void *id);
	void *(*open)(const void *id, int rank, int ranks);
	/* The ranks that give the same colour, in order of key. */
	void *(*split)(void *link, int colour, int key);
	/* ${x} becomes the sum over ranks. */
	int (*sum)(void *link, void *x, size_t n, int type, void *stream);
	/* Of ${each} elements for every rank, its own become the sum, or are
	 * given to all. */
	int (*scatter)(void *link, void *x, int rank, size_t each, int type,
	    void *stream);
	int (*gather)(void *link, void *x, int rank, size_t each, int type,
	    void *stream);
	int (*ready)(void *link);	/* 1; 0: not yet; -1 after a message */
	int (*idle)(void *stream);	/* the same of all work on it */
	void (*abort)(void *link);	/* what is under way, too */
	int (*finish)(void *link);	/* no more calls follow; ready() returns
					 * 1 once the other ranks have finished,
					 * too */
	void (*close)(void *link);	/* after finish */
	const char *(*version)(void);	/* "NCCL 2.28.9" */
};

struct fabric;

/*
 * fabric_open(calls, c, columns, host):
 * Of all ranks of ${c}, which call it with the device of each at hand; a grid of
 * ${columns} of the ranks on host[ranks], which must divide them, or as many as
 * there are ranks: no grid.  Waits are watched like those of ${c}, which must
 * outlive it.  NULL after a message.
 */
struct fabric *fabric_open(const struct fabric_calls *calls, struct comm *c,
    int columns, const int *host);

/* fabric_close(f): finish all links under the watchdog, then close them.  Abort
 * the links if one fails or exceeds the time limit. */
void fabric_close(struct fabric *f);

/* fabric_sum(f, x, n, type, stream): put on the stream: the ${n} elements at
 * ${x}, on a device, become the sum over all ranks. */
int fabric_sum(struct fabric *f, void *x, size_t n, int type, void *stream);

/*
 * fabric_wait(f, stream): until all that was put there is done.  An error of the
 * library's, on whatever rank it was found, ends it with -1 after a message, as
 * does the watch's deadline; what is under way is aborted then.
 */
int fabric_wait(struct fabric *f, void *stream);

#endif
