#ifndef SHARD_VERIFY_WALK_H
#define SHARD_VERIFY_WALK_H

/* What verify.c and verify_index.c share; nothing else includes this. */

#include <string.h>

#include "shard/verify.h"

/* The file from its beginning, in order; each byte is hashed once. */
struct verify_window {
	const struct shard *s;
	struct hasher *hash;
	unsigned char *own;
	const unsigned char *data;	/* bytes from ${at} on */
	size_t n, cap;
	uint64_t at, limit;		/* where to stop for now */
};

struct verify_walk {
	const struct verify *v;
	const char *name;
	const struct shard *s;
	struct verify_window w;
	int thread, wrong, stop, unread;
	char key[KEY_MAX + 1];
};

/*
 * verify_found(k, offset, kind, fmt, ...): something is wrong there, with the
 * sample k->key if it is not "".
 */
void verify_found(struct verify_walk *k, uint64_t offset, const char *kind,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Nothing that follows can be said of a file that cannot be read. */
void verify_unreadable(struct verify_walk *k, const struct damage *d);

/* verify_index(k): what shard_open does not look at. */
void verify_index(struct verify_walk *k);

static inline int
verify_all_zero(const unsigned char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

#endif
