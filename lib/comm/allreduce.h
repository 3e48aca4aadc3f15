#ifndef COMM_ALLREDUCE_H
#define COMM_ALLREDUCE_H

/*
 * All-reduce algorithms that may choose the order of their additions.  Each is
 * a row of a table and makes a list of operations (comm/collective.h), so that
 * it runs on any transport.  All ranks get the same bits.  Unlike in
 * comm/exact.h, another number of ranks gets other bits.
 *
 * Ranks form a grid of X columns and Y rows; the ranks of a host share a row.
 * A reduce-scatter along rows leaves rank x of a row with shard x of the row's
 * sum.  An all-reduce along columns sums that shard, and an all-gather along
 * rows collects the shards.  For a vector of S bytes on P ranks, each rank
 * sends 2 S (P - 1) / P bytes, the least possible.  Only 2 S / X (Y - 1) / Y
 * bytes of them travel along columns, to other hosts.
 *
 * A ring pass among X ranks takes X - 1 steps (a torus, Mikami et al. 2018;
 * with one column it is a ring).  Between hosts, where a step takes long,
 * recursive halving and doubling takes a logarithmic number of steps (Thakur et
 * al. 2005).  Inside a host, each rank can send to all others at once.
 */

#include "comm/comm.h"
#include "comm/grid.h"
#include "comm/wire.h"

struct allreduce;

/* A row of the table of algorithms. */
struct algorithm {
	const char *name;
	/*
	 * columns: the grid's columns for ${ranks} ranks on host[ranks]
	 * (cores_hosts).
	 * steps: the messages that are sent one after the other.
	 */
	int (*columns)(const int *host, int ranks);
	int (*steps)(int columns, int rows);
	/*
	 * Append this rank's operations for a sum of ${n} elements to a->list.
	 * NULL: the transport's library sums.
	 */
	void (*list)(struct allreduce *a, size_t n);
};

extern const struct algorithm algorithms[];	/* ends with a NULL name */

/*
 * algorithm_find(name): return the algorithm called ${name}, or NULL.
 * algorithm_parse(text, columns, rows): the same, and accept "torus:4x2" with a
 * grid of 4 columns and 2 rows.  Set ${*columns} and ${*rows}, to 0 if ${text}
 * does not give them.
 * Neither prints a message.
 */
const struct algorithm *algorithm_find(const char *name);
const struct algorithm *algorithm_parse(const char *text, int *columns,
    int *rows);

/*
 * algorithm_is_native(k): return 1 if the transport's library sums, so that the
 * bytes it sends are unknown.  ${k} may be NULL.
 */
int algorithm_is_native(const struct algorithm *k);

/*
 * algorithm_of_fabric(k): return 1 if a device library can execute ${k}
 * (comm/fabric.h).
 */
int algorithm_of_fabric(const struct algorithm *k);

/*
 * algorithm_can(k, c, w, elem): return 1 if ${k} can sum elements of ${elem}
 * bytes, sent as ${w}, over ${c}.  The library's sum supports only fp32, and
 * only on a transport that has one.
 */
int algorithm_can(const struct algorithm *k, const struct comm *c,
    const struct wire *w, size_t elem);

/* The method and the element type of a sum, and the environment it runs in. */
struct allreduce_options {
	const struct algorithm *kind;
	const struct wire *wire;	/* communication dtype; if not fp32,
					 * elements are floats */
	int columns;			/* of the grid; 0: chosen by the
					 * algorithm */
	const int *host;		/* [ranks] number of each rank's host */
	size_t elem;			/* bytes of an element in memory */
	/* sum[i] += x[i] for ${n} elements */
	void (*add)(void *arg, void *sum, const void *x, size_t n);
	void *arg;			/* passed to add */
	size_t max;			/* largest number of elements of a
					 * sum */
};

/*
 * Buffers of the lists: the vector, packed messages to send, received messages.
 */
enum { ALLREDUCE_X, ALLREDUCE_OUT, ALLREDUCE_IN, ALLREDUCE_BUFFERS };

/* The state of allreduce_open. */
struct allreduce {
	struct allreduce_options o;
	struct comm *comm;
	struct grid grid;
	void *buffer[ALLREDUCE_BUFFERS];	/* X is set during a sum; OUT is
						 * NULL if nothing is packed */
	struct collective list;		/* for ${listed} elements */
	size_t listed;
};

/*
 * allreduce_open(a, c, o):
 * Prepare ${a} for sums over ${c} with the options ${o}, which are copied.
 * ${o}->host may be freed after the return; ${c} must outlive ${a}.  Allocate
 * allreduce_bytes bytes; allreduce_close frees them.
 * Return 0, or -1 after a message if the ranks do not fill the grid or the
 * algorithm does not support the options.
 */
int allreduce_open(struct allreduce *a, struct comm *c,
    const struct allreduce_options *o);
void allreduce_close(struct allreduce *a);

/*
 * allreduce_run(a, x, from, to):
 * Sum elements ${from} to ${to} - 1 of ${x} over all ranks, in place.  ${to} -
 * ${from} must not exceed max of its options.  Collective: all ranks call it
 * with the same range.  Return 0, or -1 after a message.
 * allreduce_sends(a, n): return the bytes that this rank sends for a sum of
 * ${n} elements, 0 if the library sums.
 */
int allreduce_run(struct allreduce *a, void *x, size_t from, size_t to);
size_t allreduce_sends(struct allreduce *a, size_t n);

/*
 * allreduce_bytes(w, elem, largest, ranks): return the bytes that
 * allreduce_open allocates for sums of up to ${largest} elements.
 */
size_t allreduce_bytes(const struct wire *w, size_t elem, size_t largest,
    int ranks);

#endif
