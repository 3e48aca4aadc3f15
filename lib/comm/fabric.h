#ifndef COMM_FABRIC_H
#define COMM_FABRIC_H

/*
 * Device all-reduce: sums over ranks of data in device memory, by a library of
 * the device's maker (NCCL), on a stream of the device.  The communicator only
 * distributes the id by which the library connects the ranks.  The library also
 * sends messages, by which lists (comm/collective.h) run between devices.
 *
 * A sum is one all-reduce over all ranks.  With a grid (comm/grid.h) it is a
 * reduce-scatter along rows, an all-reduce along columns and an all-gather
 * along rows.  That moves less data between hosts (a torus, Mikami et al.
 * 2018).  All ranks get the same bits; another number of ranks gets other bits.
 */

#include "comm/comm.h"
#include "comm/wire.h"

/*
 * The functions of the library.  A link is a communicator of the library;
 * links, streams and device addresses are opaque here.  ${type} is WIRE_FP32,
 * WIRE_BF16 or WIRE_FP16.  Functions that return int return 0, or -1 after a
 * message; those that return a pointer return NULL after a message.  No
 * function waits: work on a stream is executed later, and a returned link may
 * not be ready.
 */
struct fabric_calls {
	const char *name;
	size_t id_bytes;
	/*
	 * id: make an id, which one rank makes for all ranks.
	 * open: connect all ranks that have the id; return their link.
	 */
	int (*id)(void *id);
	void *(*open)(const void *id, int rank, int ranks);
	/*
	 * Return a link of the ranks with the same color, ordered by key.
	 * Before ${link} is ready or aborted, no function may use the result.
	 */
	void *(*split)(void *link, int color, int key);
	/* All-reduce ${n} elements at ${x} in place. */
	int (*sum)(void *link, void *x, size_t n, int type, void *stream);
	/*
	 * Reduce-scatter or all-gather in place: ${x} has ${each} elements for
	 * each rank, and this rank's are at ${x} + ${rank} * ${each}.
	 */
	int (*scatter)(void *link, void *x, int rank, size_t each, int type,
	    void *stream);
	int (*gather)(void *link, void *x, int rank, size_t each, int type,
	    void *stream);
	/* Start all messages together; their data is device memory. */
	int (*exchange)(void *link, const struct message *send, int sends,
	    const struct message *receive, int receives, void *stream);
	int (*ready)(void *link);	/* 1; 0: not yet; -1 after a message */
	int (*idle)(void *stream);	/* the same for all work on ${stream} */
	void (*abort)(void *link);	/* drops work in flight */
	int (*finish)(void *link);	/* ends use of the link; ready() returns
					 * 1 once the other ranks have finished,
					 * too */
	void (*close)(void *link);	/* after finish */
	const char *(*version)(void);	/* "NCCL 2.28.9" */
	size_t peer_bytes;		/* device memory for messages with a
					 * peer */
};

struct fabric;

/*
 * fabric_open(calls, c, columns, host):
 * Connect the devices of all ranks of ${c}; the device of each must be current.
 * Sums use a grid of ${columns} columns, which must divide the number of ranks;
 * 1 or the number of ranks means no grid.  host[ranks] is as in grid_open.  The
 * watchdog of ${c} limits all waits.  ${calls} and ${c} must outlive the
 * result, which fabric_close frees.  Return NULL after a message.
 * Collective: all ranks call it.
 */
struct fabric *fabric_open(const struct fabric_calls *calls, struct comm *c,
    int columns, const int *host);

/*
 * fabric_close(f): finish all links, then free them and ${f}, which may be
 * NULL.  If a link fails or the watchdog's limit is exceeded, abort the links.
 * Collective: all ranks call it.
 */
void fabric_close(struct fabric *f);

/*
 * fabric_sum(f, x, n, type, stream): queue on ${stream} the all-reduce of ${n}
 * elements at ${x}, device memory.  Wait until the library has accepted it.
 * Collective: all ranks call it in the same order.  Return 0, or -1 after a
 * message.
 */
int fabric_sum(struct fabric *f, void *x, size_t n, int type, void *stream);

/*
 * fabric_exchange(f, send, sends, receive, receives, stream): queue on
 * ${stream} the messages, as comm_exchange sends them, of device memory.  Wait
 * until the library has accepted them.  Return 0, or -1 after a message.
 */
int fabric_exchange(struct fabric *f, const struct message *send, int sends,
    const struct message *receive, int receives, void *stream);

/*
 * fabric_wait(f, stream): wait until the links are ready and all queued work on
 * ${stream}, if it is not NULL, is done.  If the library reports an error, on
 * whichever rank, or the watchdog's limit is exceeded, abort the links.  Return
 * 0, or -1 after a message.
 */
int fabric_wait(struct fabric *f, void *stream);

#endif
