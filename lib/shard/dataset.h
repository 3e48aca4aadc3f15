#ifndef SHARD_DATASET_H
#define SHARD_DATASET_H

/*
 * Reader of a packed dataset: a directory of shards with one manifest
 * (vt-shard(5)).  Samples are numbered from 0 in the order of the shards.
 * Frames are read on demand, and the CRC32C of each is checked every time.  An
 * open dataset is read-only, so any thread may call these functions.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"
#include "shard/classes.h"
#include "shard/level.h"
#include "shard/sample.h"

struct dataset;

/*
 * dataset_open(dir, bad):
 * Read and check the manifest and the index of every shard.  Return NULL after
 * a message, with ${*bad} -1 if something is missing or cannot be read, or -2
 * if it is damaged.  ${bad} may be NULL.
 */
struct dataset *dataset_open(const char *dir, int *bad);

/* A request for stored frames of a sample. */
struct frame_read {
	const int *frame;		/* [n] in any order; may repeat */
	int n;
	/*
	 * The result, one frame after the other: frame[k] occupies
	 * bytes->data from at[k] to at[k + 1].
	 */
	struct buffer *bytes;
	size_t *at;			/* [n + 1] */
	struct buffer *workspace;	/* kept between calls, so that nothing
					 * is allocated once it is large enough
					 * (dataset_frames_workspace) */
};

/* Samples without frames, to plan with. */
struct dataset_content {
	const char *path;		/* for messages */
	const struct sample *sample;	/* [samples] with all fields of an
					 * index; key and shard not NULL */
	uint32_t samples;
	const struct class_list *classes;
	const struct stream_list *streams;
	const char *extract;		/* JSON, as of dataset_extract */
	struct hash128 id;
	void (*free)(void *of);		/* called by dataset_free */
	void *of;
};

/*
 * dataset_of(c):
 * Return a dataset of the samples ${c}.  It copies ${c} and the texts in it;
 * c->sample and what it points to must remain valid until c->free.
 */
struct dataset *dataset_of(const struct dataset_content *c);

/*
 * dataset_part(d, number, n):
 * Return the dataset of the samples number[n] of ${d}, in this order.  Its
 * identity is the hash of that of ${d} and the numbers, and its classes and
 * streams are those of ${d}.  ${d} is not a part itself.  It
 * stays open until the last of its parts is freed.
 */
struct dataset *dataset_part(struct dataset *d, const uint32_t *number,
    uint32_t n);

/* dataset_free(d): Close and free ${d}.  NULL does nothing. */
void dataset_free(struct dataset *d);

/*
 * dataset_path(d): Return the directory.
 * dataset_samples(d): Return the number of samples.
 * dataset_classes(d): Return the number of classes.
 * dataset_class(d, label): Return the name of class ${label}, which must exist.
 * dataset_class_list(d): Return all names.
 *
 * The pointers are valid until dataset_free.
 */
const char *dataset_path(const struct dataset *d);
uint32_t dataset_samples(const struct dataset *d);
int dataset_classes(const struct dataset *d);
const char *dataset_class(const struct dataset *d, int label);
const struct class_list *dataset_class_list(const struct dataset *d);

/*
 * dataset_id(d):
 * Return the hash of the content.  Sets with equal content have equal hashes.
 * (Of a part: dataset_part.)
 * dataset_settings_id(d):
 * Return the hash of the settings that the set was made with.
 */
struct hash128 dataset_id(const struct dataset *d);
struct hash128 dataset_settings_id(const struct dataset *d);

/* dataset_generation(d): Return 1 plus the number of appends. */
int64_t dataset_generation(const struct dataset *d);

/* dataset_class_hash(d): Return the XXH3-64 of classes.txt. */
uint64_t dataset_class_hash(const struct dataset *d);

/*
 * dataset_extract(d):
 * Return the settings of the extraction, as the JSON object that vt-extract
 * wrote, or NULL if unknown.  The caller frees it.
 */
char *dataset_extract(const struct dataset *d);

/* dataset_has_frames(d): Return 1 if frames can be read, 0 if ${d} is for plans
 * (dataset_of). */
int dataset_has_frames(const struct dataset *d);

/* dataset_streams(d): Return the streams of every sample, owned by ${d}. */
const struct stream_list *dataset_streams(const struct dataset *d);

/* dataset_levels(d): Return the levels of every sample. */
struct level_list dataset_levels(const struct dataset *d);

/*
 * dataset_ext(d, stream):
 * Return the type of a stream's frames, such as "jpg".  Valid until
 * dataset_free.
 */
const char *dataset_ext(const struct dataset *d, int stream);

/*
 * dataset_sample(d, i):
 * Return the part of sample ${i} that the index stores, with its set of labels
 * if it has one.  Its pointers are valid until dataset_free.
 * dataset_has_label_sets(d):
 * Return 1 if a sample of ${d} has a set of labels, 0 otherwise.
 */
struct sample dataset_sample(const struct dataset *d, uint32_t i);
int dataset_has_label_sets(const struct dataset *d);

/*
 * dataset_frames_read(d, i, stream, r, why):
 * Read the stored bytes of the frames ${r} of sample ${i}.  Frames close to
 * each other are read together.  Return 0, -1 on an I/O error, or -2 if the
 * bytes are damaged, with a message in ${why}, printed if ${why} is NULL.
 */
int dataset_frames_read(const struct dataset *d, uint32_t i, int stream,
    const struct frame_read *r, struct error *why);

/*
 * dataset_max(d, frames, w, h):
 * Set ${*frames}, ${*w} and ${*h} to the maximum over all samples, each by
 * itself.
 * dataset_frames_workspace(d, n, frames):
 * Return the bytes of the workspace that dataset_frames_read needs for ${n}
 * frames of a sample with ${frames} frames.
 */
void dataset_max(const struct dataset *d, int *frames, int *w, int *h);
size_t dataset_frames_workspace(const struct dataset *d, int n, int frames);

/*
 * dataset_json_read(d, i, to):
 * Replace the content of ${to} by KEY.json of sample ${i}. Return 0, or
 * after a message -1 on an I/O error, -2 if the data are damaged.
 */
int dataset_json_read(const struct dataset *d, uint32_t i, struct buffer *to);

/*
 * dataset_source(d, i, to):
 * Set ${*to} to the path of sample ${i}'s video, as KEY.json stores it, or
 * to the sample's key if it stores none. The caller frees it. Return as
 * dataset_json_read; after an error ${*to} is NULL.
 */
int dataset_source(const struct dataset *d, uint32_t i, char **to);

#endif
