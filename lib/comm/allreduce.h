#ifndef COMM_ALLREDUCE_H
#define COMM_ALLREDUCE_H

/*
 * Sums over ranks where their order is free: rows of a table, each of which makes
 * a list of operations (comm/collective.h), so that they run on any transport.
 * All ranks get the same bits, but another number of ranks gets others, unlike
 * comm/exact.h.
 *
 * Ranks stand in a grid of X columns and Y rows, the ranks of a host in a row.
 * The sum is taken along rows, so that rank x has the x-th part of it, then of
 * that part along columns, and then it is gathered along rows.  Each rank sends
 * 2 S (P - 1) / P of S bytes, the least that is possible, and of that only
 * 2 S / X (Y - 1) / Y along columns, to other hosts.
 *
 * A turn around X ranks takes X - 1 steps (a torus, Mikami et al. 2018; with
 * one column it is a ring).  Between hosts, where a step takes long, recursive
 * halving and doubling needs the logarithm of them (Thakur et al. 2005), and
 * inside a host nothing is against sending to all at once.
 */

#include "comm/comm.h"
#include "comm/fabric.h"
#include "comm/grid.h"
#include "comm/wire.h"

struct allreduce;

struct algorithm {
	const char *name;
	/* Columns for ${ranks} on host[ranks], and steps: messages that are
	 * sent one after the other. */
	int (*columns)(const int *host, int ranks);
	int (*steps)(int columns, int rows);
	/* Append this rank's operations for a sum of ${n} elements to a->list.
	 * NULL: the library sums. */
	void (*list)(struct allreduce *a, size_t n);
};

extern const struct algorithm algorithms[];	/* ends with a NULL name */

/*
 * algorithm_find(name): NULL: none is called so.  algorithm_parse: the same of
 * "torus:4x2", too, which has a grid of so many columns and rows; 0 and 0 where
 * none is said.
 */
const struct algorithm *algorithm_find(const char *name);
const struct algorithm *algorithm_parse(const char *text, int *columns,
    int *rows);

/* algorithm_is_native(k): it is the library's; what that sends is not known. */
int algorithm_is_native(const struct algorithm *k);

/* algorithm_of_fabric(k): a library of the devices' could do it: comm/fabric.h. */
int algorithm_of_fabric(const struct algorithm *k);

/* algorithm_can(k, c, w, elem): the library's sum does not do everything. */
int algorithm_can(const struct algorithm *k, const struct comm *c,
    const struct wire *w, size_t elem);

struct allreduce_options {
	const struct algorithm *kind;
	const struct wire *wire;	/* other than fp32: elements are floats */
	int columns;			/* of the grid; 0: the algorithm's */
	const struct fabric_calls *fabric;	/* that does it instead; NULL:
					 * none does */
	const int *host;		/* [ranks] where each is */
	size_t elem;			/* bytes of an element in memory */
	void (*add)(void *arg, void *sum, const void *x, size_t n);
	void *arg;			/* of add */
	size_t most;			/* elements summed at once */
};

/* The buffers of its lists: the vector, packed messages, received messages. */
enum { ALLREDUCE_X, ALLREDUCE_OUT, ALLREDUCE_IN, ALLREDUCE_BUFFERS };

struct allreduce {
	struct allreduce_options o;
	struct comm *comm;
	struct grid grid;
	void *buffer[ALLREDUCE_BUFFERS];	/* X during a sum; OUT is NULL if
						 * nothing is packed */
	struct collective list;		/* for ${listed} elements */
	size_t listed;
};

/*
 * allreduce_open(a, c, o): ${o}->host need not stay.  -1 after a message: the
 * ranks make no such grid, or the algorithm cannot do what is asked for.
 */
int allreduce_open(struct allreduce *a, struct comm *c,
    const struct allreduce_options *o);
void allreduce_close(struct allreduce *a);

/*
 * allreduce_run(a, x, from, to): elements ${from} to ${to} - 1 of the sum of
 * every rank's ${x}, in ${x}.  allreduce_sends(a, n): the bytes that this rank
 * sends for ${n} elements; 0 if the library sums.
 */
int allreduce_run(struct allreduce *a, void *x, size_t from, size_t to);
size_t allreduce_sends(struct allreduce *a, size_t n);

/* allreduce_room(wire, elem, most, ranks): bytes that allreduce_open takes. */
size_t allreduce_room(const struct wire *w, size_t elem, size_t most,
    int ranks);

#endif
