#ifndef TRAIN_OPTIM_SLOTS_H
#define TRAIN_OPTIM_SLOTS_H

/*
 * What training keeps beside the weights: a list of named values, such as
 * momentum.  Whoever has to do with all of it (allocation, checkpoints, their
 * reading, the memory plan) walks the list, so that another slot is one row of
 * a table (train/optim/optim.c) and nothing else.
 *
 * Values by element lie like the parameters, in memory of the device, but only
 * on the rank that owns the element (comm/segments.h).  Where each learner keeps
 * its own (train/learn/learners.h), there are as many vectors of them, each whole on
 * the rank that has the learner.  Values by parameter, and single ones, are host
 * doubles, the same on every rank.
 */

#include "comm/segments.h"
#include "net/net.h"

enum slot_extent { SLOT_ELEMENT, SLOT_LEARNER, SLOT_PARAM, SLOT_ONCE };
enum slot_type { SLOT_REAL, SLOT_F64 };	/* REAL: as the parameters */

/*
 * A row: "optim/momentum" is called optim/momentum/NAME in a checkpoint, for
 * each trained parameter, or learner/2/optim/momentum/NAME.  Those that are not
 * by element are SLOT_F64.
 */
struct slot_kind {
	const char *name;		/* NULL ends a list */
	enum slot_extent extent;
	enum slot_type type;
	double first;			/* what it begins with */
	int statistics;			/* running statistics have it, too */
};

enum { SLOTS_MOST = 8 };

struct slot {
	const struct slot_kind *kind;
	size_t n, size;			/* values here; bytes of one */
	int copies;			/* whole ones, of learners; or 1 */
	const struct segments *share;	/* who has what */
	void *data;
};

struct slots {
	int n;
	struct slot slot[SLOTS_MOST];
	const struct net *net;
	const struct segments *share;
};

/* What slots hold on all ranks, as if it was one: host memory by slot, with
 * elements where the graph has them. */
struct slots_whole { void *data[SLOTS_MOST]; };

/*
 * slots_open(s, kinds, n, share, learners): all of a list, with their first
 * values; ${learners} deals out those by learner, NULL: there are none.  -1
 * after a message.
 */
int slots_open(struct slots *s, const struct slot_kind *kinds,
    const struct net *n, const struct segments *share,
    const struct segments *learners);
void slots_close(struct slots *s);

/* slots_reset(s, n): the first ${n} of them have their first values again. */
void slots_reset(struct slots *s, int n);

/* slot_bytes(s, i, rank): of slot ${i} on ${rank}; -1: on all together. */
size_t slot_bytes(const struct slots *s, int i, int rank);

/* slot_at(s, held): the value of an element, by its place among the owned. */
void *slot_at(const struct slot *s, size_t held);

/* slot_of(s, i, j, p, data): where the values of parameter number ${p} begin in
 * copy ${j} of the whole slot ${data}, and ${*n}, how many they are; SLOT_ONCE
 * ignores ${p}. */
void *slot_of(const struct slots *s, int i, int j, int p, void *data,
    size_t *n);

/*
 * slot_has(s, i, p): 1 if slot ${i} has values of parameter number ${p}; what is
 * there once goes with the first.  slot_name(k, j, p): what those of a parameter
 * are called in a checkpoint, in copy ${j}; the caller's to free.
 * slot_shaped(k): they have the shape of the parameter, and are single numbers
 * otherwise.
 */
int slot_has(const struct slots *s, int i, int p);
char *slot_name(const struct slot_kind *k, int j, const struct param *p);
int slot_shaped(const struct slot_kind *k);

/* slots_finite(s): what this rank has is. */
int slots_finite(const struct slots *s);

/* slots_whole(s): room for all of it, with its first values; its parts are
 * freed by slots_forget. */
struct slots_whole slots_whole(const struct slots *s);
void slots_forget(struct slots_whole *w);

/*
 * slots_gather(s, w): what all ranks hold into ${w} of rank 0; elsewhere it is
 * NULL.  slots_scatter(s, w): the other way.  All ranks must call them.
 */
int slots_gather(const struct slots *s, struct slots_whole *w);
int slots_scatter(struct slots *s, const struct slots_whole *w);

#endif
