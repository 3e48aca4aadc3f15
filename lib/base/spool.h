#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/fail.h"

/*
 * A run of items kept in memory as long as there is enough, and then in a
 * temporary file that has no name and is gone when the process is: in $TMPDIR,
 * or in /var/tmp.  The file is made only when it is needed.
 */
struct spool;

/*
 * Memory that several spools share; each may hold up to a mebibyte beyond.
 * Spools that were freed are kept for the next ones, empty but as large as they
 * are, as long as they fit into the limit, too.
 */
struct spool_budget {
	size_t limit;
	atomic_size_t used;
	pthread_mutex_t lock;		/* of what follows */
	struct spool *kept;
	size_t kept_bytes;
};

void spool_budget_open(struct spool_budget *b, size_t limit);
void spool_budget_close(struct spool_budget *b);

/* spool_new(b, items): an empty one, with room for ${items}, or more. */
struct spool *spool_new(struct spool_budget *b, size_t items);
void spool_free(struct spool *s);

int spool_add(struct spool *s, const void *data, size_t n);
size_t spool_count(const struct spool *s);

/* spool_get(s, i, n, e): item ${i} and its size, valid until the next call with
 * ${s}; NULL on an error, with the message in ${e} or, if ${e} is NULL, printed. */
const void *spool_get(struct spool *s, size_t i, size_t *n, struct error *e);

#endif
