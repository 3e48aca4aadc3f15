#ifndef NET_PARITY_PLANS_H
#define NET_PARITY_PLANS_H

#include <stdint.h>
#include <stdio.h>

struct net;

/*
 * parity_plans(net, seed, f):
 * Compare each distinct task of the training plans of ${net} with the same ops
 * on the back end ref (net/parity/parity.h), at the shapes of these plans.  Use
 * the initial weights of ${seed} and synthetic clips.  Before each plan, print
 * a note that estimates the time of ref.  Print a row for each task to ${f}.
 * Return 0, or an exit status after a message: EXIT_FAILED if a difference
 * exceeds its tolerance.
 */
int parity_plans(const struct net *net, uint64_t seed, FILE *f);

#endif
