#ifndef COMM_TUNING_H
#define COMM_TUNING_H

/*
 * Which algorithm sums how much how fast: by measurements that vt-bench wrote
 * down, or by rule.  Both depend on nothing but what they are asked, so that all
 * ranks, and a run that goes on, choose alike.
 *
 * A table has the columns ranks, hosts, exchange, bytes, algorithm and us, the
 * median microseconds of a sum.
 */

#include "base/table.h"
#include "comm/allreduce.h"

struct tuned {
	int ranks, hosts;
	const struct wire *wire;
	const struct algorithm *kind;
	size_t bytes;			/* of the vector in memory */
	double us;
};

struct tuning { size_t n; struct tuned *row; };

/* tuning_parse(t, table): -1 after a message. */
int tuning_parse(struct tuning *t, const struct table *table);
void tuning_free(struct tuning *t);

/* tuning_text(t): as a table, the caller's to free. */
char *tuning_text(const struct tuning *t);

/* What is to be summed: by ${ranks} on host[ranks]. */
struct summing {
	int ranks;
	const int *host;
	const struct wire *wire;
	size_t elem, bytes;
	int native;			/* the library could do it */
};

/*
 * tuning_choose(t, s): the fastest algorithm for vectors of about that size;
 * NULL: there are no measurements of such ranks.
 */
const struct algorithm *tuning_choose(const struct tuning *t,
    const struct summing *s);

/*
 * tuning_rule(s): by rule.  Short vectors are a matter of steps: halving.  Where
 * several hosts have several ranks each: a torus, which sends the least between
 * hosts, up to 64 ranks, and then halving, whose steps grow with the logarithm
 * of the hosts only.  Else a ring, up to 64 ranks.
 */
const struct algorithm *tuning_rule(const struct summing *s);

/*
 * tuning_bucket(t, s, kind, columns): bytes that should be summed at once, so
 * that what steps cost is no more than what bytes cost: the latency of a sum
 * times the bandwidth, as measured, or 256 KiB a step, which is 10 us at 25 GB/s
 * and 200 us at 1.25 GB/s.
 */
size_t tuning_bucket(const struct tuning *t, const struct summing *s,
    const struct algorithm *kind, int columns);

#endif
