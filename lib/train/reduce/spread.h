#ifndef TRAIN_REDUCE_SPREAD_H
#define TRAIN_REDUCE_SPREAD_H

/*
 * BN groups that are spread over ranks (sched/parts.h): the peers of a part are
 * the ranks of its group, on a communicator of their own for each number of
 * parts that the cells of the schedule have.  What they sum up are doubles, added
 * in the order of ranks.
 */

#include "backend/backend.h"
#include "comm/comm.h"

struct spread_peers;

struct spread {
	struct spread_peers *list;	/* NULL: nothing is spread */
	double waited;			/* seconds in sums, since it was set */
};

/* spread_peers(s, parts): the peers of groups in so many; NULL of 1.  They are
 * the spread's. */
const struct peers *spread_peers(struct spread *s, int parts);

/*
 * spread_open(s, c, d, channels): all ranks of ${c}: from here on peers can sum, for
 * normalisations of up to ${channels} on devices as ${d}, which must outlive it.
 * -1 after a message.
 */
int spread_open(struct spread *s, struct comm *c, struct device *d,
    size_t channels);
void spread_close(struct spread *s);

/*
 * spread_agree(p, status): the largest exit status of all peers; ${status} if
 * ${p} is NULL.  EXIT_RANKS if they cannot be reached.
 */
int spread_agree(const struct peers *p, int status);

#endif
