#ifndef TESTS_FUZZ_NETWORKS_SHRINK_H
#define TESTS_FUZZ_NETWORKS_SHRINK_H

/* Reduces a network that shows a fault. */

#include "fuzz/networks/random_net.h"

/*
 * shrink_net(n, fails, arg, tries):
 * Drop operators of ${n}, and make its shape, channels and attributes smaller,
 * while ${fails}(n, arg) returns 1.  Call it at most ${tries} times.
 */
void shrink_net(struct random_net *n,
    int (*fails)(const struct random_net *n, void *arg), void *arg, int tries);

#endif
