#ifndef SHARD_DATASET_SHARDS_H
#define SHARD_DATASET_SHARDS_H

/* The representation of a dataset, for the files that implement dataset.h. */

#include "shard/dataset.h"
#include "shard/files.h"
#include "shard/manifest.h"
#include "shard/reader.h"

struct dataset {
	char *dir;
	struct manifest *m;
	struct files *files;
	char **key;			/* [samples] */
	char *keys;			/* buffer that they point into */
	uint64_t class_hash;
	struct label_interval *interval;	/* sets of labels, one after the
					 * other */
	size_t *first;			/* [samples + 1] in span; NULL: no
					 * sample has a set */
	int has_sets;			/* of labels */
	int max_frames, max_w, max_h;	/* over all samples */
	struct dataset_content content;	/* of dataset_of; sample NULL: the
					 * samples are in shards */
	/* A part (dataset_part) has these, and shares the members above, except
	 * has_sets and the maxima. */
	struct dataset *of;		/* NULL: not a part */
	uint32_t *number, samples;	/* [samples] in ${of} */
	struct hash128 id;
	int users;			/* parts of this one that are open */
	int freed;			/* 1: the last part frees it */
};

/*
 * dataset_shard_of(d, i): Return the number of the shard with sample ${i} of
 * the packed set.
 * dataset_number(d, i): Return the number in the packed set of sample ${i}.
 */
size_t dataset_shard_of(const struct dataset *d, uint32_t i);
uint32_t dataset_number(const struct dataset *d, uint32_t i);

#endif
