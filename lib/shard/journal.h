#ifndef SHARD_JOURNAL_H
#define SHARD_JOURNAL_H

/*
 * The journal of an unfinished pack: one line for the settings, then one for
 * each durable shard.  Each line ends with the CRC32C of the text before it.  A
 * torn last line is ignored.  The journal is removed when the manifest exists.
 *
 *	S <settings, canonical JSON> <crc>
 *	C <number> <samples> <frames> <bytes> <xxh128> <first key> <last key>
 *	<crc>
 */

#include <stddef.h>

#include "shard/key.h"
#include "shard/writer.h"

#define JOURNAL_NAME ".vt-pack.journal"

/* A line of type C. */
struct journal_shard {
	struct shard_sum sum;
	char first[KEY_MAX + 1], last[KEY_MAX + 1];	/* keys */
};

/* A journal in memory, and the file if it is being written. */
struct journal {
	char *path;
	int fd;				/* -1: not being written */
	char *settings;			/* canonical JSON */
	struct journal_shard *shard;
	size_t shards, cap;
};

/*
 * journal_read(dir, bad):
 * Read the journal in ${dir}.  Return NULL without a message if there is none.
 * Return NULL after a message, with ${*bad} set to 1, if it is damaged;
 * otherwise ${*bad} is 0.
 */
struct journal *journal_read(const char *dir, int *bad);

/*
 * journal_create(dir, settings):
 * Create a journal with these settings, replacing any other, ready for
 * journal_add.  Return NULL after a message.
 */
struct journal *journal_create(const char *dir, const char *settings);

/*
 * journal_continue(j):
 * Remove a torn line and prepare for journal_add.  Return 0, or -1 after a
 * message.
 */
int journal_continue(struct journal *j);

/*
 * journal_add(j, s):
 * Append the next shard, durably.  Return 0, or -1 after a message.
 */
int journal_add(struct journal *j, const struct journal_shard *s);

/* journal_free(j): Close the file and free ${j}.  NULL does nothing. */
void journal_free(struct journal *j);

#endif
