#ifndef SHARD_SAMPLE_H
#define SHARD_SAMPLE_H

/*
 * A sample: a video as a dataset has it.
 *
 * One struct describes it from end to end.  A list gives it a key, a source and
 * labels (ingest/list.h), extraction adds what it stored (ingest/extract.h), the
 * stream writes it as KEY.json and vt-pack reads it back, the index of a shard
 * stores the part that training needs (shard/shard.h), and the dataset returns
 * that part (shard/dataset.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "shard/key.h"

#define FRAME_MAX 999999	/* maximum frames of a sample: names have 6 digits */

/* Flags of a sample, in the index and in KEY.json. */
enum {
	SHARD_TRUNCATED = 1,	/* the source video ends early */
	SHARD_DAMAGED = 2,	/* its decoder reported errors */
	SHARD_VARIABLE = 4,	/* not of constant frame rate */
	SHARD_RESAMPLED = 8,	/* frames were resampled in time */
	SHARD_RESCALED = 16,	/* frames were resized */
	SHARD_LABELS = 32	/* labels are in KEY.json */
};

/*
 * The streams of a sample: frames, and later flow.  Frame f of a stream is
 * member KEY.FFFFFF.EXT if its tag is "rgb", else KEY.FFFFFF.TAG.EXT.
 */
#define STREAM_MAX 8
#define STREAM_UNTAGGED "rgb"
struct stream_kind { char tag[9], ext[4]; };
struct stream_list { int n; struct stream_kind kind[STREAM_MAX]; };

/* A class, and the first and last frame that show it. */
struct label_span { int class, first, last; };

/*
 * A sample has one label for all frames, or a set of labels, which may be empty,
 * or neither.  The strings and arrays belong to whoever filled it in.
 */
struct sample {
	const char *key;
	const char *source;	/* path of the video, below some root; NULL
				 * from an index */
	const char *status;	/* "ok", or the defect that was allowed; NULL
				 * from an index */
	const struct stream_list *streams;
	int label;		/* -1: none, or a set */
	int nlabels;
	const struct label_span *labels;	/* [nlabels] the set; NULL:
						 * none.  Then flags has
						 * SHARD_LABELS. */
	int frames;		/* of each stream */
	int width, height;	/* of the frames of stream 0 */
	struct fraction fps;	/* 0/0: unknown */
	const uint32_t *time;	/* [frames] 0.1 ms from the first frame; NULL
				 * for a constant rate, and from an index.
				 * Then flags has SHARD_VARIABLE. */
	unsigned flags;		/* SHARD_TRUNCATED ... */
	uint64_t source_bytes;	/* of the video file; 0 from an index */
	uint64_t source_hash;	/* its XXH3-64 */
	const char *shard;	/* path of the shard; NULL: not from one */
	uint64_t offset;	/* of its first header there */
};

int stream_list_equal(const struct stream_list *a, const struct stream_list *b);

/* stream_list_write(w, key, l): as [{"ext":"jpg","tag":"rgb"}]. */
void stream_list_write(struct json_writer *w, const char *key,
    const struct stream_list *l);
/* stream_list_read(v, l): -1 without a message if ${v} is no such list. */
int stream_list_read(const struct json *v, struct stream_list *l);

/* stream_ext_known(ext): 1 for the kinds of frame there are, "jpg", "png". */
int stream_ext_known(const char *ext);

/*
 * sample_write(s, b):
 * Append KEY.json, in canonical form, to ${b}: the last member of a sample, all
 * that is known of it besides its frames, and the mark that it is complete.
 * Paths are bytes and JSON is UTF-8: a byte of s->source that is not UTF-8 is
 * written \xHH, and a backslash is written \\.
 */
void sample_write(const struct sample *s, struct buffer *b);

/*
 * sample_read(what, text, n, canonical, why):
 * Parse the KEY.json ${text} of ${n} bytes.  Set ${*canonical}, unless
 * ${canonical} is NULL, to its canonical form, with unknown fields; the caller
 * frees it.  Return NULL if a field is missing, of the wrong kind or out of range;
 * the message begins with ${what} and goes into ${why}; NULL: print it.
 * sample_free frees the sample and all it points to; sample_free(NULL) does
 * nothing.
 */
struct sample *sample_read(const char *what, const char *text, size_t n,
    char **canonical, struct error *why);
void sample_free(struct sample *s);

#endif
