#ifndef SCHED_LR_H
#define SCHED_LR_H

/*
 * The learning rate of a stage as a function of the exact epoch.  It consists
 * of pieces, each of which applies while epoch < until.  vt-schedule(5) fixes
 * the order of operations, so that all programs compute the same bits from the
 * same table.
 */

#include "base/mem.h"

#define LR_MAX 1e9		/* maximum of a learning rate or epoch */
#define LR_PIECES 1000		/* maximum of pieces in a stage */

enum rate_kind {
	LR_FLAT,		/* r0 */
	LR_COSINE,		/* from r0 at e0 to r1 at e1, half a wave */
	LR_LINE,		/* through (e0, r0) and (e1, r1) */
	LR_POWER,		/* from r0 at e0 to r1 at e1, (1 - x)^power */
	LR_KINDS
};

/* The decays of vt-schedule, in the order of enum rate_kind.  A step is a
 * constant for each milestone. */
#define LR_POLICIES "step|cosine|linear|power"

#define LR_POWER_MAX 9			/* powers are 2 to 9 */

struct lr_piece {
	enum rate_kind kind;
	double until;
	double e0, r0, e1, r1;
	int power;		/* of LR_POWER */
};

/*
 * lr_at(piece, n, epoch):
 * Return the learning rate at ${epoch}.  Behind the last piece, extend that
 * piece.  With x = (epoch - e0) / (e1 - e0), limited to 0 to 1:
 *
 *	LR_LINE: r0 + (epoch - e0) * ((r1 - r0) / (e1 - e0))
 *	LR_COSINE: r1 + (r0 - r1) * lr_cosine(x)
 *	LR_POWER: r1 + (r0 - r1) * ((1 - x) * (1 - x) * ...), from the left
 */
double lr_at(const struct lr_piece *piece, int n, double epoch);

/*
 * lr_cosine(x):
 * Return (1 + cos(pi x)) / 2 for ${x} from 0 to 1.  It uses a polynomial,
 * because the cosines of C libraries differ in the last bit.
 */
double lr_cosine(double x);

/*
 * lr_parse(where, text, begin, end, piece):
 * Read the learning rate of a stage of epochs ${begin} to ${end} - 1, such as
 * "0.01@0..0.8@34,0.8" or "0.8@0..0@90:cosine".  Store the pieces in ${*piece},
 * which the caller frees, and return their number.  Return -1 after a message
 * that begins with ${where}.
 */
int lr_parse(const char *where, const char *text, int begin, int end,
    struct lr_piece **piece);

/*
 * lr_print(piece, n, out):
 * Append the text that lr_parse reads back to the same bits.
 */
void lr_print(const struct lr_piece *piece, int n, struct buffer *out);

/*
 * lr_linear(lr, factor, times):
 * Return (factor * times) * lr: the learning rate for ${times} times the batch
 * of ${lr}, after decay to ${factor} of it.  Source: the linear scaling rule of
 * Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.1.
 */
double lr_linear(double lr, double factor, int times);

/*
 * A linear warm-up, from learning rate ${from} at epoch 0 to ${to} at epoch
 * ${epochs}.  ${epochs} 0: none.
 */
struct lr_warmup { double epochs, from, to; };

/*
 * lr_stage(after, begin, end, w, piece):
 * Make the learning rate of a stage of epochs ${begin} to ${end} - 1: the
 * warm-up ${w}, then ${after}.  Store the pieces in ${*piece}, which the caller
 * frees, and return their number.
 */
int lr_stage(const struct lr_piece *after, int begin, int end,
    const struct lr_warmup *w, struct lr_piece **piece);

/*
 * lr_part(piece, n, begin, end, part):
 * Copy the pieces that apply in epochs ${begin} to ${end} - 1, out of the ${n}
 * pieces ${piece} of a stage.  A copied constant ends at ${end}.  Store the
 * copies in ${*part}, which the caller frees, and return their number.
 */
int lr_part(const struct lr_piece *piece, int n, int begin, int end,
    struct lr_piece **part);

#endif
