#ifndef SHARD_PACKING_H
#define SHARD_PACKING_H

/* What the parts of the packer share: pack.c, pack_set.c, pack_old.c. */

#include "shard/derive.h"
#include "shard/gather.h"
#include "shard/journal.h"
#include "shard/keyset.h"
#include "shard/manifest.h"
#include "shard/pack.h"
#include "shard/reader.h"
#include "shard/tally.h"

/* In place of the input's number: the key was in the set before. */
#define PACKED UINT32_MAX

struct pack {
	const struct pack_options *o;
	const char *const *input;
	int status;			/* to return if something fails */
	int lock;

	/* What the set is to be. */
	int classes_given;
	char *extract;			/* settings of the extraction, or NULL */
	char *settings;			/* all of it: of the first run, then ours */
	int settled;			/* they are compared, and ours */
	struct manifest *m;		/* with the shards there are */

	/* What was there. */
	struct journal *journal;	/* NULL: none yet */
	int finished;			/* there was a manifest */
	uint64_t replay;		/* samples to compare and drop */
	struct shard *old;		/* the shard they are compared to */
	size_t old_number;

	/* The input. */
	struct keyset *keys;
	struct derive *derive;
	struct gather g;
	size_t at_input;
	struct stream_reader *reader;	/* of the input at hand */
	uint64_t read_before;		/* bytes of inputs that are done */
	uint64_t skipped;
	uint64_t samples;		/* complete ones, replayed or not */
	struct tally tally;		/* all samples of the dataset so far */
	char last[KEY_MAX + 1];		/* key of the last of them */
	int streams_begun, stream_begun;	/* all; this one has a sample */

	/* The shard being written. */
	struct shard_writer *shard;
	struct journal_shard line;
};

/* pack_refuse(p): wrong use, nothing was touched; -1. */
int pack_refuse(struct pack *p);

char *pack_shard_name(const struct pack *p, size_t number);
char *pack_shard_path(const struct pack *p, size_t number);

/* ---- pack_old.c: what is in the directory already ---- */

/*
 * pack_look(p): adopt the shards of an earlier run, which the input is compared
 * with, or refuse.
 */
int pack_look(struct pack *p);

/*
 * pack_compare(p, path): is the sample at hand, of input ${path}, what was
 * packed in its place?
 */
int pack_compare(struct pack *p, const char *path);

/*
 * pack_ready(p): the first new shard is about to be committed: remove what it
 * replaces, and have a journal.
 */
int pack_ready(struct pack *p);

/* ---- pack_set.c: what is written ---- */

/* pack_settings(...): one canonical JSON text of all that makes a set. */
char *pack_settings(const char *prefix, const struct class_list *classes,
    const char *options, const struct stream_list *streams);

/* pack_settle(p): the streams are known, and with them the set's identity. */
int pack_settle(struct pack *p);

/*
 * pack_place(p, complete):
 * Put the sample at hand, complete or not, where it belongs.  It goes to the
 * shard at hand unless that would grow beyond its size and has a sample
 * already.  Once it is known to begin a shard it need not be held any longer,
 * however long it becomes.
 */
int pack_place(struct pack *p, int complete);

/* pack_finish(p): the last shard, the manifest. */
int pack_finish(struct pack *p);

#endif
