#ifndef SHARD_WRITER_H
#define SHARD_WRITER_H

/* One shard, written: members as they come, then the index. */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "shard/sample.h"
#include "shard/shard.h"

struct shard_writer;

/* What a shard turned out to be. */
struct shard_sum {
	uint64_t bytes, samples, frames;
	struct hash128 hash;		/* XXH3-128 of the file */
	struct hash128 data, index;	/* of these parts, as in its footer */
};

/*
 * shard_create(path, number, first, settings, streams):
 * Begin shard ${number} of a set made with ${settings}, whose first sample is
 * number ${first} there.  With a NULL ${path} nothing is written, but everything is
 * computed.  NULL after a message.
 */
struct shard_writer *shard_create(const char *path, uint32_t number,
    uint64_t first, struct hash128 settings, const struct stream_list *streams);

/* shard_put(w, data, n): ${n} bytes of whole members. */
int shard_put(struct shard_writer *w, const void *data, size_t n);

/*
 * shard_add(w, s, record, records):
 * Add sample ${s}, whose members were put since the last call, to the index.
 * ${record}[${records}] are its members in their order, the frames of all
 * streams first; blk counts from the sample's first header.
 */
int shard_add(struct shard_writer *w, const struct sample *s,
    const struct shard_record *record, size_t records);

uint32_t shard_samples(const struct shard_writer *w);

/*
 * shard_size_with(w, bytes, records, key):
 * Size of the file if it ended after one more sample of so many bytes in all,
 * records and bytes of key.
 */
uint64_t shard_size_with(const struct shard_writer *w, uint64_t bytes,
    uint64_t records, size_t key);

/*
 * shard_finish(w, sum): write the index and commit the file, so that it is
 * durable under its name.  Frees ${w} in any case.
 */
int shard_finish(struct shard_writer *w, struct shard_sum *sum);

/* shard_drop(w): leave nothing behind; NULL is fine. */
void shard_drop(struct shard_writer *w);

#endif
