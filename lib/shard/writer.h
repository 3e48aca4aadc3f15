#ifndef SHARD_WRITER_H
#define SHARD_WRITER_H

/* Writer of one shard: members in order, then the index.  One thread at a
 * time may use a writer. */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "shard/sample.h"
#include "shard/shard.h"

struct shard_writer;

/* The size and the hashes of a finished shard. */
struct shard_sum {
	uint64_t bytes, samples, frames;	/* of the file */
	struct hash128 hash;		/* XXH3-128 of the file */
	struct hash128 data, index;	/* of these parts, as in its footer */
};

/*
 * shard_create(path, number, first, settings, streams):
 * Begin shard ${number} of a set with the identity ${settings}
 * (manifest_settings_id), whose first sample has number ${first} in the set.
 * If ${path} is NULL, compute everything but write no file.  Return NULL after
 * a message.  End the writer with shard_finish or shard_drop.  ${streams} is
 * copied.
 */
struct shard_writer *shard_create(const char *path, uint32_t number,
    uint64_t first, struct hash128 settings, const struct stream_list *streams);

/*
 * shard_put(w, data, n):
 * Append ${n} bytes of whole members.  Return 0, or -1 after a message.
 */
int shard_put(struct shard_writer *w, const void *data, size_t n);

/*
 * shard_add(w, s, record, records):
 * Add sample ${s} to the index.  Its members are the bytes put since the last
 * call.  ${record}[${records}] are the members in order, the frames of all
 * streams first.  Their blk counts from the first header of the sample.  Return
 * 0, or -1 after a message if the shard exceeds the limits of the format.
 */
int shard_add(struct shard_writer *w, const struct sample *s,
    const struct shard_record *record, size_t records);

/* shard_samples(w): Return the number of samples added. */
uint32_t shard_samples(const struct shard_writer *w);

/*
 * shard_size_with(w, bytes, records, key):
 * Return the size in bytes that the finished file would have with one more
 * sample: ${bytes} bytes of members, ${records} members and a key of ${key}
 * bytes.
 */
uint64_t shard_size_with(const struct shard_writer *w, uint64_t bytes,
    uint64_t records, size_t key);

/*
 * shard_finish(w, sum):
 * Write the index, commit the file durably and set ${*sum}.  All bytes put must
 * belong to an added sample.  Free ${w} in any case.  Return 0, or -1 after a
 * message.
 */
int shard_finish(struct shard_writer *w, struct shard_sum *sum);

/*
 * shard_drop(w):
 * Remove the unfinished file and free ${w}.  NULL does nothing.
 */
void shard_drop(struct shard_writer *w);

#endif
