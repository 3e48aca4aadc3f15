#ifndef SHARD_VERIFY_WALK_H
#define SHARD_VERIFY_WALK_H

/* The interface between verify.c and verify_index.c; no other file includes
 * it. */

#include <string.h>

#include "shard/verify.h"

/* A window that moves through the file in order.  Each byte is read and
 * hashed once. */
struct verify_window {
	const struct shard *s;
	struct hasher *hash;
	unsigned char *own;		/* buffer, [cap] */
	const unsigned char *data;	/* [n] bytes at offset ${at} */
	size_t n, cap;
	uint64_t at, limit;		/* limit: offset of the end for now */
};

/* The state of verify_shard. */
struct verify_walk {
	const struct verify *v;
	const char *name;
	const struct shard *s;
	struct verify_window w;
	int thread, wrong, stop, unread;	/* wrong: number of errors */
	char key[KEY_MAX + 1];		/* of the current sample, or "" */
};

/*
 * verify_report(k, offset, kind, fmt, ...):
 * Report an error at ${offset}, with the sample k->key if it is not "".
 */
void verify_report(struct verify_walk *k, uint64_t offset, const char *kind,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * verify_unreadable(k, d):
 * Report that the file cannot be read, and stop: nothing more can be verified.
 */
void verify_unreadable(struct verify_walk *k, const struct damage *d);

/*
 * verify_index(k):
 * Check the parts of the index that shard_open does not check.
 */
void verify_index(struct verify_walk *k);

/* verify_all_zero(p, n): Return 1 if ${n} bytes are zero, 0 otherwise. */
static inline int
verify_all_zero(const unsigned char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

#endif
