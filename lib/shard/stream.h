#ifndef SHARD_STREAM_H
#define SHARD_STREAM_H

/*
 * The stream between vt-extract and vt-pack (vt-shard(5)): a ustar of frames,
 * each sample closed by its KEY.json, the whole closed by an end marker that
 * tells a producer that finished from one that died.
 */

#include <stddef.h>
#include <stdint.h>

/* Members that are not of a sample; readers of tar see them and go on. */
#define STREAM_HEAD "__vt__/.head"
#define STREAM_END "__vt__/.end"

#define FRAME_MAX 999999	/* most frames of a sample: names have 6 digits */

/* Flags of a sample, in the index and in KEY.json. */
enum {
	SHARD_TRUNCATED = 1,	/* the source video ends early */
	SHARD_DAMAGED = 2,	/* its decoder reported errors */
	SHARD_VARIABLE = 4,	/* not of constant frame rate */
	SHARD_RESAMPLED = 8,	/* frames were chosen anew in time */
	SHARD_RESCALED = 16,	/* frames were resized */
	SHARD_LABELS = 32	/* labels are in KEY.json */
};

/* What is known of a sample before its frames are written. */
struct stream_sample {
	const char *key, *ext;	/* ext: "jpg" or "png" */
	int label;		/* -1: none */
	int frames;
	int width, height;	/* of the stored frames */
	int fps_num, fps_den;	/* 0, 0: unknown */
	unsigned flags;		/* VARIABLE and LABELS follow from the below */
	const char *status;	/* "ok", or the defect that was allowed */
	const char *source;	/* path as it was given */
	uint64_t source_bytes, source_hash;	/* XXH3-64 of the video file */
	const uint32_t *time;	/* [frames] 0.1 ms from the first frame; NULL
				 * for a constant rate */
	const int (*labels)[3];	/* [nlabels] class, first and last frame; then
				 * label is -1.  NULL for most samples; that of
				 * an empty set is not */
	int nlabels;
};

struct stream_writer;

/* stream_open(fd, path, tool): ${path} is for messages.  ${tool} is written to
 * the end-of-stream marker, such as "vt-extract 0.2.0". */
struct stream_writer *stream_open(int fd, const char *path, const char *tool);

/*
 * stream_head(w, classes, n, options):
 * Tell the packer, ahead of the first sample, the names of classes 0 to ${n} -
 * 1 (UTF-8; 0 of them: not known) and the settings the frames were made with,
 * as one canonical JSON object (NULL: not known); both become part of the set's
 * identity.  May be left out.
 */
int stream_head(struct stream_writer *w, const char *const *classes, size_t n,
    const char *options);

/*
 * stream_begin(w, s), then stream_frame for each of s->frames frames, then
 * stream_commit, which writes KEY.cls and KEY.json.  The strings and times of
 * ${s} must live until then.
 */
int stream_begin(struct stream_writer *w, const struct stream_sample *s);
int stream_frame(struct stream_writer *w, const void *data, size_t n);
int stream_commit(struct stream_writer *w);

/* stream_end(w, status): write the end marker; frees ${w} in any case.
 * stream_drop(w): free it without an end marker. */
int stream_end(struct stream_writer *w, const char *status);
void stream_drop(struct stream_writer *w);

#endif
