#ifndef NET_PARITY_PARITY_H
#define NET_PARITY_PARITY_H

/*
 * Compares the results of a back end with those of another one.  Each task of a
 * plan, with all tasks fused into it, runs once, forward and backward.  The
 * same ops of an unfused plan of the reference run on the same inputs and
 * output gradients.  Outputs are poisoned with NaNs first.
 */

#include "net/net.h"

/* Relative differences of a task; infinite for a NaN. */
struct parity {
	int task;			/* the first of equal tasks */
	int like;			/* their number */
	double forward;			/* of outputs */
	double dx;			/* of input gradients */
	/* Gradients of parameters, and statistics. */
	double dw;
};

struct parity_options {
	/*
	 * 1: norm of the difference divided by the norm of the reference.  0:
	 * largest difference divided by the largest value.
	 */
	int by_norm;
};

/*
 * parity_run(net, p, key, q, o, row):
 * Compare plan ${p} of ${net} with plan ${q} of ${key}, the reference.  Both
 * are for training, of the same graph and shape, with reserved arenas and equal
 * parameters.  Plan ${q} must not be fused.  Write a row for each distinct task
 * to ${row}[p->n].  Return their number, or -1 after a message.  All gradients
 * go to buffers of its own.
 *
 * A ReLU fused into a task decides by a number that both sides have computed.
 * If it is nearly 0, either decision is correct.  The output gradient is set to
 * 0 there.
 */
int parity_run(struct net *net, struct plan *p, struct net *key,
    struct plan *q, const struct parity_options *o, struct parity *row);

/* parity_worst(row): return the largest difference of the row. */
double parity_worst(const struct parity *row);

/*
 * parity_tolerance(p):
 * Return the allowed difference: 0.0001 in fp32; 0.02 by norm in 16 bits, since
 * bf16 has a mantissa of 8 bits.
 */
double parity_tolerance(enum precision p);

#endif
