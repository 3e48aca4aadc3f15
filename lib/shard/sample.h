#ifndef SHARD_SAMPLE_H
#define SHARD_SAMPLE_H

/*
 * A sample: one video in a dataset.
 *
 * This struct describes it in all stages.  A list gives it a key, a source and
 * labels (ingest/list.h).  Extraction adds the properties of the frames it
 * stored (ingest/extract.h). The stream carries it as KEY.json, and
 * vt-pack parses it. The index of a shard stores the part that training needs
 * (shard/shard.h), and the dataset returns that part (shard/dataset.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "shard/key.h"

#define FRAME_MAX 999999	/* per sample; names have 6 digits */

/* Flags of a sample, stored in the index and in KEY.json. */
enum {
	SHARD_TRUNCATED = 1,	/* the source video ends early */
	SHARD_DAMAGED = 2,	/* its decoder reported errors */
	SHARD_VARIABLE = 4,	/* variable frame rate */
	SHARD_RESAMPLED = 8,	/* frames were resampled in time */
	SHARD_RESCALED = 16,	/* frames were resized */
	SHARD_LABELS = 32	/* a set of labels is in KEY.json */
};

/*
 * The streams of a sample, such as RGB frames or optical flow.  Frame f of a
 * stream is member KEY.FFFFFF.EXT if its tag is "rgb", otherwise
 * KEY.FFFFFF.TAG.EXT.
 */
#define STREAM_MAX 8
#define STREAM_UNTAGGED "rgb"
struct stream_kind { char tag[9], ext[4]; };
struct stream_list { int n; struct stream_kind kind[STREAM_MAX]; };

/* A class, and the first and last frame that show it. */
struct label_interval { int class, first, last; };

/*
 * The optical flow of the streams x and y: the method, and the displacement in
 * pixels that byte 255 stands for.  The method is NULL if there is no flow, and
 * in samples that are read.
 */
struct sample_flow { const char *method; int bound; };

/*
 * A sample has either one label for all frames, or a set of labels, which may
 * be empty, or neither.  The creator of the struct owns the strings and arrays.
 */
struct sample {
	const char *key;
	const char *source;	/* path of the video, relative to some root;
				 * NULL from an index */
	const char *group;	/* of videos that belong together; NULL: none,
				 * or from an index */
	const char *status;	/* "ok", or the defect that was allowed; NULL
				 * from an index */
	const struct stream_list *streams;
	int label;		/* -1: none, or a set */
	int nlabels;
	const struct label_interval *labels;	/* [nlabels] the set; NULL:
						 * none.  If not NULL, flags
						 * has SHARD_LABELS. */
	int frames;		/* of each stream */
	int width, height;	/* of the frames of stream 0 */
	struct fraction fps;	/* 0/0: unknown */
	const uint32_t *time;	/* [frames] 0.1 ms since the first frame, and
				 * flags has SHARD_VARIABLE; NULL: constant
				 * rate, or from an index */
	unsigned flags;		/* SHARD_TRUNCATED ... */
	struct sample_flow flow;
	uint64_t source_bytes;	/* of the video file; 0 from an index */
	uint64_t source_hash;	/* its XXH3-64 */
	uint64_t phash;		/* of its frames (media/phash.h); 0: none, or
				 * from an index */
	const char *shard;	/* path of the shard; NULL: not from a shard */
	uint64_t offset;	/* of the first header in the shard */
};

/*
 * stream_list_equal(a, b):
 * Return 1 if the lists are equal, 0 otherwise.
 * stream_list_find(l, tag):
 * Return the number of the stream with the tag ${tag}, or -1 if there is none.
 */
int stream_list_equal(const struct stream_list *a, const struct stream_list *b);
int stream_list_find(const struct stream_list *l, const char *tag);

/*
 * stream_list_write(w, key, l):
 * Write the list as [{"ext":"jpg","tag":"rgb"}].
 */
void stream_list_write(struct json_writer *w, const char *key,
    const struct stream_list *l);
/*
 * stream_list_read(v, l):
 * Parse such a list.  Return 0, or -1 without a message if ${v} is not a valid
 * one.
 */
int stream_list_read(const struct json *v, struct stream_list *l);

/*
 * sample_ext_known(ext):
 * Return 1 for a supported type of frame, "jpg" or "png", 0 otherwise.
 */
int sample_ext_known(const char *ext);

/* sample_flow_write(w, f): Write ${f} as the member "flow". */
void sample_flow_write(struct json_writer *w, const struct sample_flow *f);

/*
 * sample_write(s, b):
 * Append KEY.json, in canonical form, to ${b}.  It is the last member of a
 * sample, has all information but the frames, and marks the sample as complete.
 * Paths are bytes and JSON is UTF-8: a byte of s->source that is not UTF-8 is
 * written \xHH, and a backslash is written \\.
 */
void sample_write(const struct sample *s, struct buffer *b);

/*
 * sample_read(what, text, n, canonical, why):
 * Parse the KEY.json ${text} of ${n} bytes. Set ${*canonical} to its
 * canonical form, with unknown fields; the caller frees it. ${canonical} may be
 * NULL. Return NULL if a field is missing, of the wrong type or out of range,
 * with a message in ${why}, printed if ${why} is NULL. ${what} begins the
 * message.
 */
struct sample *sample_read(const char *what, const char *text, size_t n,
    char **canonical, struct error *why);

/*
 * sample_source_read(key, text, n):
 * Return the path of the video in KEY.json, ${text} of ${n} bytes, or ${key} if
 * it has none.  The caller frees it.  Return NULL after a message if the text
 * is not JSON.
 */
char *sample_source_read(const char *key, const char *text, size_t n);

/*
 * sample_free(s):
 * Free ${s}, which sample_read returned, and everything it points to.  NULL
 * does nothing.
 */
void sample_free(struct sample *s);

#endif
