#ifndef SCHED_RATE_H
#define SCHED_RATE_H

/*
 * The learning rate of a stage, as a function of the exact epoch: pieces, each
 * of which holds while epoch < until.  Pure functions of doubles, in an order
 * of operations that vt-schedule(5) fixes, so that two programs that read the
 * same table compute the same bits.
 */

#include "base/mem.h"

#define RATE_MOST 1e9		/* a rate or an epoch beyond this is a slip */

enum rate_kind {
	RATE_FLAT,		/* r0 */
	RATE_LINE		/* through (e0, r0) and (e1, r1) */
};

struct rate_piece {
	enum rate_kind kind;
	double until;
	double e0, r0, e1, r1;
};

/*
 * rate_at(piece, n, epoch): the rate at ${epoch}; behind the last piece, what
 * that piece says there.  A line is r0 + (epoch - e0) * ((r1 - r0) / (e1 - e0)).
 */
double rate_at(const struct rate_piece *piece, int n, double epoch);

/*
 * rate_parse(where, text, first, last, piece):
 * Read the rate of a stage of epochs ${first} to ${last} - 1, such as
 * "0.01@0..0.8@34,0.8", and return the number of pieces, which the caller
 * frees.  -1 after a message that begins with ${where}.
 */
int rate_parse(const char *where, const char *text, int first, int last,
    struct rate_piece **piece);

/* rate_print(piece, n, out): append the text that rate_parse reads. */
void rate_print(const struct rate_piece *piece, int n, struct buffer *out);

/*
 * rate_linear(lr, factor, times):
 * The rate for a batch ${times} as large as the one ${lr} is for, after decay
 * to ${factor} of it: (factor * times) * lr.  The linear scaling rule of Goyal
 * et al., "Accurate, Large Minibatch SGD", 2017, section 2.1.
 */
double rate_linear(double lr, double factor, int times);

/*
 * A warm-up climbs in a straight line from rate ${from} at epoch 0 to ${to} at
 * epoch ${epochs}; ${epochs} 0 is none.
 */
struct rate_warmup { double epochs, from, to; };

/*
 * rate_stage(flat, first, last, w, piece):
 * The rate of a stage of epochs ${first} to ${last} - 1 that is ${flat} once
 * warm-up ${w} is over.  Return the number of pieces, which the caller frees.
 */
int rate_stage(double flat, int first, int last, const struct rate_warmup *w,
    struct rate_piece **piece);

#endif
