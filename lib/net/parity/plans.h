#ifndef NET_PARITY_PLANS_H
#define NET_PARITY_PLANS_H

#include <stdint.h>
#include <stdio.h>

struct net;

/*
 * parity_plans(net, seed, f):
 * Hold each distinct task of the training plans of ${net} against the same ops on
 * the back end ref (net/parity/parity.h), from the first weights and made-up clips,
 * and print a row for each.  A microbatch that would take plain loops too long
 * is cut to fewer clips.  0, or an exit status after a message: EXIT_FAILED
 * where a difference is over its tolerance.
 */
int parity_plans(const struct net *net, uint64_t seed, FILE *f);

#endif
