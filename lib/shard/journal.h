#ifndef SHARD_JOURNAL_H
#define SHARD_JOURNAL_H

/*
 * The journal of a pack that is under way: a line for its settings, then one
 * for each shard that is durable.  A line ends with the CRC32C of what is
 * before; a last line that is torn does not exist.  It goes when the manifest
 * is there.
 *
 *	S <settings, canonical JSON> <crc>
 *	C <number> <samples> <frames> <bytes> <xxh128> <first key> <last key> <crc>
 */

#include <stddef.h>

#include "shard/key.h"
#include "shard/writer.h"

#define JOURNAL_NAME ".vt-pack.journal"

struct journal_shard {
	struct shard_sum sum;
	char first[KEY_MAX + 1], last[KEY_MAX + 1];	/* keys */
};

struct journal {
	char *path;
	int fd;				/* -1: not being written */
	char *settings;
	struct journal_shard *shard;
	size_t shards, cap;
};

/*
 * journal_read(dir): what a journal says; NULL without a message if there is
 * none; ${bad} is set, after a message, if it is damaged.
 */
struct journal *journal_read(const char *dir, int *bad);

/* journal_create(dir, settings): a new one, in place of any other. */
struct journal *journal_create(const char *dir, const char *settings);

/* journal_continue(j): cut off a torn line and be ready for journal_add. */
int journal_continue(struct journal *j);

/* journal_add(j, s): add the next shard, durably. */
int journal_add(struct journal *j, const struct journal_shard *s);

void journal_free(struct journal *j);

#endif
