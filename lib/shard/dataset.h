#ifndef SHARD_DATASET_H
#define SHARD_DATASET_H

/*
 * A packed dataset, read: a directory of VTS1 shards under one manifest
 * (vt-shard(5)).  Samples are numbered from 0 in shard order.  Any frame is
 * one pread and its CRC32C is checked each time it is read.
 *
 * A dataset may be read by many threads at once: reading changes nothing.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"
#include "shard/classes.h"
#include "shard/sample.h"

struct dataset;

/*
 * dataset_open(dir, bad): read the manifest and the index of every shard, and
 * check both.  NULL after a message; then ${*bad}, unless ${bad} is NULL, is -1
 * if something is not there or cannot be read, -2 if it is damaged.
 */
struct dataset *dataset_open(const char *dir, int *bad);
void dataset_free(struct dataset *d);

const char *dataset_path(const struct dataset *d);
uint32_t dataset_samples(const struct dataset *d);
int dataset_classes(const struct dataset *d);
const char *dataset_class(const struct dataset *d, int label);
const struct class_list *dataset_class_list(const struct dataset *d);

/*
 * dataset_id: a hash of all its content, which equal sets share and no other
 * set has.  dataset_settings_id: of how it was made, which is what checkpoints
 * of version 0.1.0 name a set by.
 */
struct hash128 dataset_id(const struct dataset *d);
struct hash128 dataset_settings_id(const struct dataset *d);
int64_t dataset_generation(const struct dataset *d);	/* 1; appends count */
uint64_t dataset_class_hash(const struct dataset *d);	/* of classes.txt */

/*
 * dataset_extract(d): the settings its frames were extracted with, as the JSON
 * that vt-extract gave them, the caller's to free; NULL if that is not known.
 */
char *dataset_extract(const struct dataset *d);

/* The streams of every sample; stream 0 is what a network looks at. */
int dataset_streams(const struct dataset *d);
const char *dataset_ext(const struct dataset *d, int stream); /* "jpg" */

/*
 * dataset_sample(d, i):
 * Return what the index knows of sample ${i}, with its set of labels, if it has
 * one.  Its pointers live as long as ${d}.
 * dataset_sets(d): 1 if a sample of ${d} has a set of labels.
 */
struct sample dataset_sample(const struct dataset *d, uint32_t i);
int dataset_sets(const struct dataset *d);

/*
 * dataset_frames_read(d, i, stream, frame, n, to, at, room, why):
 * Read the stored bytes of ${n} frames of sample ${i}, in the order given,
 * one after the other into ${to}->data; ${at}[k] is where frame k begins, and
 * ${at}[n] the end.  ${frame}[] may repeat and need not ascend; neighbours are
 * read together.  What is noted down meanwhile goes into ${room}, which the
 * caller keeps from call to call, so that no more is allocated once it is large
 * enough.  0; -1 on an I/O error; -2 if the bytes are not those that were packed.
 * The message of an error goes into ${why}; NULL: print it.
 */
int dataset_frames_read(const struct dataset *d, uint32_t i, int stream,
    const int *frame, int n, struct buffer *to, size_t *at,
    struct buffer *room, struct error *why);

/*
 * dataset_most(d, frames, w, h): the most frames, and the widest and the
 * highest ones, of any sample.
 * dataset_frames_room(d, n, frames): the bytes of ${room} for ${n} frames of
 * samples of ${frames}.
 */
void dataset_most(const struct dataset *d, int *frames, int *w, int *h);
size_t dataset_frames_room(const struct dataset *d, int n, int frames);

/* dataset_json_read(d, i, to): KEY.json of sample ${i}; results as above. */
int dataset_json_read(const struct dataset *d, uint32_t i, struct buffer *to);

/*
 * dataset_source(d, i, to):
 * Set ${*to} to the path of sample ${i}'s video, as KEY.json stores it, or to
 * the sample's key if it stores none.  The caller frees it.  Results as above;
 * ${*to} is NULL unless the result is 0.
 */
int dataset_source(const struct dataset *d, uint32_t i, char **to);

#endif
