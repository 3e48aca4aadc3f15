#ifndef SHARD_VERIFY_H
#define SHARD_VERIFY_H

/*
 * Verification that the bytes of a shard, or of a whole set, are those that
 * were packed.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "shard/reader.h"

enum verify_depth {
	VERIFY_FULL,		/* every header, checksum and hash */
	VERIFY_FAST,		/* manifest, footers, indexes */
	VERIFY_DECODE		/* full, and the content of members */
};

/* Depth and callbacks of a verification. */
struct verify {
	enum verify_depth depth;
	/*
	 * Report an error in the file ${name}.  verify_set calls it on the
	 * caller's thread, in the order of the shards.  Return 0, or -1 to
	 * stop.
	 */
	int (*found)(void *arg, const char *name, const struct damage *d);
	/*
	 * For VERIFY_DECODE: check that the frame ${data} of ${n} bytes decodes
	 * to ${w} x ${h} pixels, or to any size if they are 0.  Return 0, or -1
	 * with a message in ${why}.  Called by thread number ${thread}.  May be
	 * NULL.
	 */
	int (*frame)(void *arg, int thread, const char *ext, const void *data,
	    size_t n, int w, int h, struct error *why);
	/* Count ${bytes} more as verified.  Called by any thread.  May be
	 * NULL. */
	void (*tick)(void *arg, uint64_t bytes);
	void *arg;
	void *found_arg;		/* of ${found} alone */
};

/*
 * verify_shard(v, name, s, thread, hash):
 * Verify a shard that shard_open accepted.  Set ${*hash} to the hash of the
 * file, unless the depth is VERIFY_FAST or the verification stops early.
 * ${name} is passed to v->found, and ${thread} to v->frame.  Return the number
 * of errors, or -1 if v->found or a signal stopped it.
 */
int verify_shard(const struct verify *v, const char *name,
    const struct shard *s, int thread, struct hash128 *hash);

/*
 * verify_set(v, dir, threads):
 * Verify the manifest, the files next to it, every shard, and that no key
 * occurs twice, on ${threads} threads.  Return the number of errors, or -1 if
 * v->found or a signal stopped it.
 */
int verify_set(const struct verify *v, const char *dir, int threads);

#endif
