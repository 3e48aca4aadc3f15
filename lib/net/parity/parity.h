#ifndef NET_PARITY_PARITY_H
#define NET_PARITY_PARITY_H

/*
 * Does a back end compute what another one does?  Each task of a plan, with
 * all that is fused into it, is run once, forward and backward, beside the
 * same ops of a plan that fuses nothing (the reference's), both on the same
 * inputs and output gradients.  What a pass writes is poisoned before.
 */

#include "net/net.h"

/* Relative differences of a task; infinite for a NaN. */
struct parity {
	int task;			/* the first of those that are alike */
	int like;			/* how many there are */
	double forward;			/* of outputs */
	double dx;			/* of input gradients */
	double dw;			/* of parameters' gradients, statistics */
};

struct parity_options {
	/* 1: the norm of the difference over that of the reference; 0: the
	 * largest difference over the largest value. */
	int by_norm;
};

/*
 * parity_run(net, p, key, q, o, row):
 * Compare plan ${p} of ${net} with plan ${q} of ${key}: of training, of the
 * same graph and shape, with room reserved; the parameters of both are the
 * same.  ${row}[p->n] gets a row for each distinct task; how many, or -1 after
 * a message.  All parameters' gradients are made in buffers of its own.
 *
 * Where a ReLU fused into a task decides by a number that both have computed,
 * and it is nearly 0, the two may decide differently with right; there the
 * output gradient is 0.
 */
int parity_run(struct net *net, struct plan *p, struct net *key,
    struct plan *q, const struct parity_options *o, struct parity *row);

double parity_worst(const struct parity *row);

/* parity_tolerance(p): what it may be: 0.0001 in fp32; 0.02 by norm in 16
 * bits, of which bf16 keeps eight. */
double parity_tolerance(enum precision p);

#endif
