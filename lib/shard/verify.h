#ifndef SHARD_VERIFY_H
#define SHARD_VERIFY_H

/*
 * Are the bytes of a shard, or of a whole set, those that were packed?
 */

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "shard/reader.h"

enum verify_depth {
	VERIFY_FULL,		/* every header, checksum and hash */
	VERIFY_FAST,		/* manifest, footers, indexes */
	VERIFY_DECODE		/* full, and what the members hold */
};

struct verify {
	enum verify_depth depth;
	/*
	 * Something is wrong with the file ${name}.  verify_set calls it on its
	 * caller's thread, in the order of the shards.  -1: stop here.
	 */
	int (*found)(void *arg, const char *name, const struct damage *d);
	/*
	 * VERIFY_DECODE: does the frame of ${n} bytes decode to w x h pixels,
	 * or to any size if they are 0?  0, or -1 with the message in ${why}.
	 * Called by thread number ${thread}.
	 */
	int (*frame)(void *arg, int thread, const char *ext, const void *data,
	    size_t n, int w, int h, struct error *why);
	/* So many bytes more are done; called by any thread; may be NULL. */
	void (*tick)(void *arg, uint64_t bytes);
	void *arg;
};

/*
 * verify_shard(v, name, s, thread, hash):
 * Verify a shard that shard_open accepted; ${hash} becomes the hash of the file
 * if the depth is more than fast, and ${name} goes to found().  Return how
 * many things are wrong, -1 if told to stop.
 */
int verify_shard(const struct verify *v, const char *name,
    const struct shard *s, int thread, struct hash128 *hash);

/*
 * verify_set(v, dir, threads): manifest, the files beside it, every shard, and
 * that no key comes twice.  As above.
 */
int verify_set(const struct verify *v, const char *dir, int threads);

#endif
