#ifndef COMM_TUNING_H
#define COMM_TUNING_H

/*
 * The choice of an all-reduce algorithm: by measurements that vt-bench --tune
 * wrote, or by rule.  Both depend only on their arguments, so that all ranks,
 * and a resumed run, choose alike.
 *
 * A table has the columns ranks, hosts, exchange, bytes, algorithm and us, the
 * median microseconds of a sum.
 */

#include "base/table.h"
#include "comm/allreduce.h"

/* A row of the table. */
struct tuned {
	int ranks, hosts;
	const struct wire *wire;
	const struct algorithm *kind;
	size_t bytes;			/* of the vector in memory */
	double us;
};

/* The table; its rows have any order. */
struct tuning { size_t n; struct tuned *row; };

/*
 * tuning_parse(t, table): read ${table} into ${t}, which tuning_free frees.
 * Return 0, or -1 after a message.
 */
int tuning_parse(struct tuning *t, const struct table *table);
void tuning_free(struct tuning *t);

/* tuning_text(t): return ${t} as the text of a table.  The caller frees it. */
char *tuning_text(const struct tuning *t);

/* The sum to choose an algorithm for. */
struct summing {
	int ranks;
	const int *host;		/* [ranks] as in grid_hosts */
	const struct wire *wire;
	size_t elem, bytes;		/* of an element, of the vector */
	int native;			/* 1: the transport's library can sum
					 * it */
};

/*
 * tuning_choose(t, s): return the fastest measured algorithm for ${s}->ranks on
 * the same number of hosts, at the size nearest to ${s}->bytes.  Return NULL if
 * no row has these ranks, hosts and dtype.
 */
const struct algorithm *tuning_choose(const struct tuning *t,
    const struct summing *s);

/*
 * tuning_rule(s): Return an algorithm by rule.
 * - Short vectors: halving, because the number of steps decides their time.
 * - More than 64 ranks: halving, whose steps grow only with the logarithm of
 *   the ranks.
 * - Several hosts with several ranks each: torus, which sends the fewest bytes
 *   between hosts.
 * - All others: ring.
 */
const struct algorithm *tuning_rule(const struct summing *s);

/*
 * tuning_bucket(t, s, kind, columns): return the bytes to sum at once so that
 * the cost of steps does not exceed the cost of bytes.  That is the latency of
 * a sum times its bandwidth, as measured for ${kind}.  Without measurements it
 * is 256 KiB for each step, which take 10 us at 25 GB/s and 200 us at 1.25
 * GB/s.
 */
size_t tuning_bucket(const struct tuning *t, const struct summing *s,
    const struct algorithm *kind, int columns);

#endif
