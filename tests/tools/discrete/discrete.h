#ifndef TESTS_DISCRETE_H
#define TESTS_DISCRETE_H

#include "backend/backend.h"
#include "comm/fabric.h"

extern const struct fabric_calls discrete_fabric;	/* fabric.c */

/*
 * discrete_here(p):
 * Return the private address of device memory ${p}.  End the process if ${p} is
 * not device memory.
 *
 * discrete_away(p):
 * Return the public address of private address ${p}.
 */
void *discrete_here(const void *p);
void *discrete_away(const void *p);
int discrete_is_away(const void *p);

/* Allocate and free device memory, by its public address. */
void *discrete_alloc(struct device *d, size_t bytes);
void discrete_free(struct device *d, void *p);

/* discrete_stop(what, p): Print a message and the callers' addresses, and exit
 * with 99. */
_Noreturn void discrete_stop(const char *what, const void *p);

#endif
