#ifndef TESTS_APART_H
#define TESTS_APART_H

#include "backend/backend.h"
#include "comm/fabric.h"

extern const struct fabric_calls apart_fabric;	/* fabric.c */

/* apart_here(p): where the test finds what the device gave away as ${p}, which is
 * memory of the device's or ends the process; apart_away: the other way. */
void *apart_here(const void *p);
void *apart_away(const void *p);
int apart_is_away(const void *p);

/* Memory that is given away. */
void *apart_alloc(struct device *d, size_t bytes);
void apart_free(struct device *d, void *p);

/* apart_stop(what, p): end with 99, a message and the callers' addresses. */
_Noreturn void apart_stop(const char *what, const void *p);

#endif
