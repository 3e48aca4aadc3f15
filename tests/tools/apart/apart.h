#ifndef TESTS_APART_H
#define TESTS_APART_H

#include "backend/backend.h"
#include "comm/fabric.h"

extern const struct fabric_calls apart_fabric;	/* fabric.c */

/*
 * apart_here(p):
 * Return the private address of device memory ${p}.  End the process if ${p} is
 * not device memory.
 *
 * apart_away(p):
 * Return the public address of private address ${p}.
 */
void *apart_here(const void *p);
void *apart_away(const void *p);
int apart_is_away(const void *p);

/* Allocate and free device memory, by its public address. */
void *apart_alloc(struct device *d, size_t bytes);
void apart_free(struct device *d, void *p);

/* apart_stop(what, p): Print a message and the callers' addresses, and exit
 * with 99. */
_Noreturn void apart_stop(const char *what, const void *p);

#endif
