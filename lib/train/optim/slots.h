#ifndef TRAIN_OPTIM_SLOTS_H
#define TRAIN_OPTIM_SLOTS_H

/*
 * Optimizer state: a list of named values that training keeps in addition to
 * the weights, such as momentum.  Allocation, checkpoints, resuming and the
 * memory plan walk the list, so that new state needs only a row in a table
 * (train/optim/optimizer.c and others).
 *
 * Values of elements are stored like the parameters, in device memory, but only
 * on the rank that owns the element (comm/segments.h).  If each learner has its
 * own (train/learn/learners.h), there is a vector for each learner, whole on
 * the rank that has the learner.  Values of parameters, and single values, are
 * doubles in host memory, the same on every rank.
 */

#include "comm/segments.h"
#include "net/net.h"

/*
 * A value for each element, each element of each learner, each parameter, or
 * one.
 */
enum slot_extent { SLOT_ELEMENT, SLOT_LEARNER, SLOT_PARAM, SLOT_ONCE };
enum slot_type { SLOT_REAL, SLOT_F64 };	/* REAL: the type of the parameters */

/*
 * A row of the table.  "optim/momentum" is called optim/momentum/NAME in a
 * checkpoint, for each trained parameter, or learner/2/optim/momentum/NAME.
 * State that is not by element must be SLOT_F64.
 */
struct slot_kind {
	const char *name;		/* NULL ends a list */
	enum slot_extent extent;
	enum slot_type type;
	double first;			/* initial value */
	int statistics;			/* 1: running statistics have it, too */
};

enum { SLOTS_MAX = 8 };

/* The state of a row on this rank. */
struct slot {
	const struct slot_kind *kind;
	size_t n, size;			/* number of values here; bytes of
					 * one */
	int copies;			/* number of learners' vectors; or 1 */
	const struct segments *share;	/* who owns which elements */
	void *data;			/* device memory if slot_shaped(kind),
					 * else host memory */
};

/* The optimizer state on this rank. */
struct slots {
	int n;
	struct slot slot[SLOTS_MAX];
	const struct net *net;
	const struct segments *share;
};

/*
 * The state of all ranks, as on one rank, in host memory: for each slot a
 * vector in the order of the graph's elements.
 */
struct slots_whole { void *data[SLOTS_MAX]; };

/*
 * slots_open(s, kinds, n, share, learners):
 * Allocate the state of ${kinds}, which a NULL name ends, with its initial
 * values.  ${share} states which elements this rank owns, ${learners} which
 * learners' vectors; it may be NULL if no row is SLOT_LEARNER.  All arguments
 * must outlive ${s}.  slots_close frees the state.  Return 0, or -1 after a
 * message.
 */
int slots_open(struct slots *s, const struct slot_kind *kinds,
    const struct net *n, const struct segments *share,
    const struct segments *learners);
void slots_close(struct slots *s);

/* slots_reset(s, n): set the first ${n} slots to their initial values. */
void slots_reset(struct slots *s, int n);

/*
 * slot_bytes(s, i, rank): return the bytes of slot ${i} on ${rank}; if ${rank}
 * is -1, on all ranks together.
 */
size_t slot_bytes(const struct slots *s, int i, int rank);

/*
 * slot_at(s, held): return the address of the value of index ${held} among the
 * owned elements.
 */
void *slot_at(const struct slot *s, size_t held);

/*
 * slots_element(n, flat, i): return the address of element ${i} of ${flat}, a
 * vector of all elements in the order of the graph of ${n}.
 */
void *slots_element(const struct net *n, const void *flat, size_t i);

/* slots_all_finite(data, n, size): return 1 if ${n} floats of ${size} bytes in
 * host memory are finite. */
int slots_all_finite(const void *data, size_t n, size_t size);

/*
 * slot_of(s, i, j, p, data, n): return the address of the values of parameter
 * number ${p} in copy ${j} of slot ${i} in ${data}, a vector of slots_whole.
 * Set ${*n} to their number.  SLOT_ONCE ignores ${p}.
 */
void *slot_of(const struct slots *s, int i, int j, int p, void *data,
    size_t *n);

/*
 * slot_has(s, i, p): return 1 if slot ${i} has values for parameter number
 * ${p}.  A single value belongs to parameter 0.
 * slot_name(k, j, p): return the checkpoint's key for the values of ${p} in
 * copy ${j}.  The caller frees it.
 * slot_shaped(k): return 1 if the values for a parameter have its shape, 0 if
 * there is one number.
 */
int slot_has(const struct slots *s, int i, int p);
char *slot_name(const struct slot_kind *k, int j, const struct param *p);
int slot_shaped(const struct slot_kind *k);

/*
 * slots_finite(s): return 1 if all values on this rank are finite.  It waits
 * for the device.
 */
int slots_finite(const struct slots *s);

/*
 * slots_whole(s): allocate the state of all ranks, with its initial values.
 * slots_forget frees it.
 */
struct slots_whole slots_whole(const struct slots *s);
void slots_forget(struct slots_whole *w);

/*
 * slots_gather(s, w):
 * Copy the state of all ranks to ${w} on rank 0.  ${w} is unused on other
 * ranks.
 * slots_scatter(s, w): copy ${w} of rank 0 to the state of all ranks.
 * Collective: all ranks call them.  Return 0, or -1 after a message.
 */
int slots_gather(const struct slots *s, struct slots_whole *w);
int slots_scatter(struct slots *s, const struct slots_whole *w);

#endif
