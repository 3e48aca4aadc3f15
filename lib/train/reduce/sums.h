#ifndef TRAIN_REDUCE_SUMS_H
#define TRAIN_REDUCE_SUMS_H

/*
 * The method by which ranks sum gradients: exactly, with the same bits for any
 * number of ranks, or as fast as possible.
 */

#include "comm/allreduce.h"
#include "comm/fabric.h"

enum deterministic { EXACT, FAST };

/* The options of the user. */
struct sum_settings {
	int deterministic;		/* EXACT or FAST */
	const char *allreduce;		/* auto, or an algorithm; torus:XxY */
	int wire;			/* WIRE_FP32 and so on */
	const char *table;		/* table of vt-bench --tune; NULL:
					 * none */
	int64_t bucket;			/* bytes summed at once; 0: choose */
};

/* The method that sums_open chose. */
struct sums {
	int *host;			/* [ranks] number of each rank's host */
	struct allreduce_options any_order;	/* except the options of the
						 * device; kind is NULL with
						 * EXACT */
	const struct fabric_calls *fabric;	/* by which the devices sum;
						 * NULL: the hosts do */
	size_t bucket;			/* bytes */
	char text[96];			/* description for the log */
};

/*
 * sums_check(allreduce): return 0 if ${allreduce} is "auto" or names an
 * algorithm (algorithm_parse), else -1 without a message.
 */
int sums_check(const char *allreduce);

/*
 * sums_open(u, s, table, c, fabric, bytes, elem):
 * Choose the method for gradients of ${bytes} with elements of ${elem} bytes.
 * The devices sum them by ${fabric}; if it is NULL, the hosts do.  ${table} is
 * the text of the file s->table, NULL if none.  ${fabric} must outlive ${u},
 * which sums_close frees.  Return 0, or -1 after a message.  Collective: all
 * ranks call it.
 */
int sums_open(struct sums *u, const struct sum_settings *s, const char *table,
    struct comm *c, const struct fabric_calls *fabric, size_t bytes,
    size_t elem);
void sums_close(struct sums *u);

/*
 * sums_any_order(u): return the options of a sum that may choose its order,
 * NULL with EXACT. They belong to ${u}.
 */
const struct allreduce_options *sums_any_order(const struct sums *u);

#endif
