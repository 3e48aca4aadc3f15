#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/fail.h"

/*
 * A spool: a sequence of items kept in memory while the budget lasts, and in a
 * temporary file after that.  The file has no name and disappears with the
 * process.  It is in $TMPDIR, or in /var/tmp, and is created only when
 * necessary.  One thread at a time may use a spool.
 */
struct spool;

/*
 * A memory limit in bytes that several spools share.  Each spool may exceed it
 * by 1 MiB.  Freed spools are kept for reuse, empty but with their capacity, if
 * the capacity fits into the limit as well.  Spools of one budget may be used
 * by different threads.
 */
struct spool_budget {
	size_t limit;
	atomic_size_t used;
	pthread_mutex_t lock;		/* protects the fields below */
	struct spool *kept;
	size_t kept_bytes;
};

/*
 * spool_budget_open(b, limit):
 * Initialize ${b} with a limit of ${limit} bytes.
 */
void spool_budget_open(struct spool_budget *b, size_t limit);

/*
 * spool_budget_close(b):
 * Free the spools that were kept.  All spools must be freed before.
 */
void spool_budget_close(struct spool_budget *b);

/*
 * spool_new(b, items):
 * Return an empty spool with capacity for ${items} items; it grows beyond that.
 * spool_free frees it.
 */
struct spool *spool_new(struct spool_budget *b, size_t items);

/* spool_free(s): Free ${s} and its file.  NULL does nothing. */
void spool_free(struct spool *s);

/*
 * spool_add(s, data, n):
 * Append an item of ${n} bytes.  Return 0, or -1 after a message if the file
 * cannot be written.  The item is kept in memory then, and a later call tries
 * to write it again.
 */
int spool_add(struct spool *s, const void *data, size_t n);

/*
 * spool_failed(s): Return 1 if spool_add has failed: the machine lacks space,
 * and the data are not at fault.
 */
int spool_failed(const struct spool *s);

/* spool_count(s): Return the number of items. */
size_t spool_count(const struct spool *s);

/* spool_size(s, i): Return the bytes of item ${i}, less than spool_count. */
size_t spool_size(const struct spool *s, size_t i);

/*
 * spool_get(s, i, n, e):
 * Return item ${i}, less than spool_count, and set ${*n} to its size.  The item
 * is valid until the next call with ${s}.  Return NULL with a message in ${e},
 * printed if ${e} is NULL.
 */
const void *spool_get(struct spool *s, size_t i, size_t *n, struct error *e);

#endif
