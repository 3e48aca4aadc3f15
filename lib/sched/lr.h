#ifndef SCHED_LR_H
#define SCHED_LR_H

/*
 * The learning rate of a stage, as a function of the exact epoch: pieces, each
 * of which holds while epoch < until.  Pure functions of doubles, in an order
 * of operations that vt-schedule(5) fixes, so that two programs that read the
 * same table compute the same bits.
 */

#include "base/mem.h"

#define LR_MOST 1e9		/* a learning rate or an epoch beyond this is a slip */
#define LR_PIECES 1000		/* and so are more pieces in a stage */

enum rate_kind {
	LR_FLAT,		/* r0 */
	LR_LINE,	/* through (e0, r0) and (e1, r1) */
	LR_COSINE,	/* from r0 at e0 to r1 at e1, half a wave */
	LR_POWER	/* the same as (1 - x) to a power, 2 to 9 */
};

#define LR_POWER_MOST 9

struct lr_piece {
	enum rate_kind kind;
	double until;
	double e0, r0, e1, r1;
	int power;		/* of LR_POWER */
};

/*
 * lr_at(piece, n, epoch): the learning rate at ${epoch}; after the last piece,
 * what that piece says there.  A line is r0 + (epoch - e0) * ((r1 - r0) / (e1
 * - e0)); the other two are r1 + (r0 - r1) * f(x), where x = (epoch - e0) / (e1
 * - e0) within 0 and 1, and f is lr_cosine or (1 - x) * (1 - x) * ... from the
 * left.
 */
double lr_at(const struct lr_piece *piece, int n, double epoch);

/*
 * lr_cosine(x): (1 + cos(pi x)) / 2 for ${x} from 0 to 1, by a polynomial, for
 * libraries differ in the last bit.
 */
double lr_cosine(double x);

/*
 * lr_parse(where, text, begin, end, piece):
 * Read the learning rate of a stage of epochs ${begin} to ${end} - 1, such as
 * "0.01@0..0.8@34,0.8" or "0.8@0..0@90:cosine", and return the number of pieces, which the caller
 * frees.  -1 after a message that begins with ${where}.
 */
int lr_parse(const char *where, const char *text, int begin, int end,
    struct lr_piece **piece);

/* lr_print(piece, n, out): append the text that lr_parse reads. */
void lr_print(const struct lr_piece *piece, int n, struct buffer *out);

/*
 * lr_linear(lr, factor, times):
 * The learning rate for a batch ${times} as large as the one ${lr} is for,
 * after decay to ${factor} of it: (factor * times) * lr.  The linear scaling
 * rule of Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.1.
 */
double lr_linear(double lr, double factor, int times);

/*
 * A warm-up climbs in a straight line from learning rate ${from} at epoch 0 to
 * ${to} at epoch ${epochs}; ${epochs} 0 is none.
 */
struct lr_warmup { double epochs, from, to; };

/*
 * lr_stage(after, begin, end, w, piece):
 * The learning rate of a stage of epochs ${begin} to ${end} - 1 that is
 * ${after} once warm-up ${w} is over.  Return the number of pieces, which the
 * caller frees.
 */
int lr_stage(const struct lr_piece *after, int begin, int end,
    const struct lr_warmup *w, struct lr_piece **piece);

/*
 * lr_part(piece, n, begin, end, part): those of ${piece}[${n}], of a longer
 * stage, that a stage of epochs ${begin} to ${end} - 1 within it has; how many,
 * which the caller frees.
 */
int lr_part(const struct lr_piece *piece, int n, int begin, int end,
    struct lr_piece **part);

#endif
