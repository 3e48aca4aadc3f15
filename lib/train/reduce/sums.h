#ifndef TRAIN_REDUCE_SUMS_H
#define TRAIN_REDUCE_SUMS_H

/*
 * How ranks add up their gradients: exactly, the same bits on any number of
 * ranks, or as is fastest.
 */

#include "comm/allreduce.h"

enum deterministic { EXACT, FAST };

struct sum_settings {
	int deterministic;		/* EXACT or FAST */
	const char *allreduce;		/* auto, or an algorithm; torus:XxY */
	int wire;			/* WIRE_FP32 and so on */
	const char *table;		/* of vt-bench --tune; NULL: none */
	int64_t bucket;			/* bytes summed at a time; 0: what suits */
};

struct sums {
	int *host;			/* [ranks] where each is */
	struct allreduce_options free;	/* but for the device's; of no kind
					 * with EXACT */
	size_t bucket;
	char text[96];			/* for people */
};

/* sums_check(allreduce): -1: it names none. */
int sums_check(const char *allreduce);

/*
 * sums_open(u, s, table, c, fabric, bytes, elem): for gradients of ${bytes}, with
 * elements of ${elem}.  The devices sum them by ${fabric}, the hosts if it is NULL.
 * ${table} is the text of s->table, NULL for none.  All ranks call it.  -1 after a
 * message.
 */
int sums_open(struct sums *u, const struct sum_settings *s, const char *table,
    struct comm *c, const struct fabric_calls *fabric, size_t bytes,
    size_t elem);
void sums_close(struct sums *u);

/* sums_free(u): how, where the order is free; NULL: it is not. */
const struct allreduce_options *sums_free(const struct sums *u);

#endif
