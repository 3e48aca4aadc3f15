#ifndef SHARD_PACKING_H
#define SHARD_PACKING_H

/*
 * The interface between the files of the packer: pack.c, pack_set.c and
 * pack_existing.c.  Unless noted otherwise, functions return 0, or -1 after a
 * message.
 */

#include "shard/class_infer.h"
#include "shard/gather.h"
#include "shard/journal.h"
#include "shard/keyset.h"
#include "shard/manifest.h"
#include "shard/pack.h"
#include "shard/reader.h"
#include "shard/tally.h"

/* keyset source of a key that was packed by an earlier run */
#define SOURCE_PACKED UINT32_MAX

/* The state of pack(). */
struct pack {
	const struct pack_options *o;
	const char *const *input;
	int status;			/* exit status of a failure */
	int lock;

	/* The properties of the set. */
	int classes_given;
	char *extract;			/* settings of the extraction, or
					 * NULL */
	char *settings;			/* canonical JSON: of the earlier
					 * run, then ours */
	int resolved;			/* 1: pack_resolve_settings has run */
	struct manifest *m;		/* with all finished shards */

	/* The existing content of the directory. */
	struct journal *journal;	/* NULL: none yet */
	int finished;			/* 1: a manifest exists */
	uint64_t replay;		/* samples to compare instead of pack */
	struct shard *existing;		/* the shard they are compared with */
	size_t existing_number;

	/* The input. */
	struct keyset *keys;
	struct class_infer *infer;
	struct gather g;
	size_t at_input;
	struct stream_reader *reader;	/* of the current input */
	uint64_t read_before;		/* bytes of earlier inputs */
	uint64_t skipped;
	uint64_t samples;		/* complete, including those compared */
	struct tally tally;		/* all samples of the set so far */
	char last[KEY_MAX + 1];		/* key of the last complete sample */
	int streams_begun;	/* 1: the head of a stream was read */
	int stream_begun;	/* 1: the head of this stream was read */

	/* The shard being written. */
	struct shard_writer *shard;
	struct journal_shard line;
};

/*
 * pack_refuse(p):
 * Make the exit status EXIT_USAGE: wrong usage, and nothing was changed.
 * Return -1.
 */
int pack_refuse(struct pack *p);

/*
 * pack_shard_name(p, number), pack_shard_path(p, number):
 * Return the file name or the path of a shard.  The caller frees it.
 */
char *pack_shard_name(const struct pack *p, size_t number);
char *pack_shard_path(const struct pack *p, size_t number);

/* ---- pack_existing.c: existing content of the directory ---- */

/*
 * pack_load_existing(p):
 * Load the shards of an earlier run, which the input is then compared with, or
 * refuse them.
 */
int pack_load_existing(struct pack *p);

/*
 * pack_compare(p, path):
 * Check that the current sample, of input ${path}, equals the sample that was
 * packed in its place.
 */
int pack_compare(struct pack *p, const char *path);

/*
 * pack_prepare_output(p):
 * Prepare for the commit of the first new shard: remove the files that the new
 * set replaces, and create or continue the journal.
 */
int pack_prepare_output(struct pack *p);

/* ---- pack_set.c: output ---- */

/*
 * pack_settings(prefix, classes, options, streams):
 * Return canonical JSON of the settings that determine a set, for the journal.
 * ${classes} is NULL if they are inferred.  The caller frees it.
 */
char *pack_settings(const char *prefix, const struct class_list *classes,
    const char *options, const struct stream_list *streams);

/*
 * pack_resolve_settings(p):
 * Compute the settings and their identity, when the first sample has shown the
 * streams.  Refuse settings that differ from those of an earlier run.
 */
int pack_resolve_settings(struct pack *p);

/*
 * pack_place(p, complete):
 * Put the current sample into its shard.  If the current shard would exceed the
 * shard size and has a sample already, finish it and begin another.
 * ${complete} is 0 for the part of a sample read so far.  Once the sample is
 * known to begin a shard, its members can be written, so memory use does not
 * grow with the sample.
 */
int pack_place(struct pack *p, int complete);

/* pack_finish(p): Finish the last shard, and write the manifest. */
int pack_finish(struct pack *p);

#endif
