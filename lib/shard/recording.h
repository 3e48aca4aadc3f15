#ifndef SHARD_RECORDING_H
#define SHARD_RECORDING_H

/*
 * Recordings: which samples of sets show parts of one recording, or are copies
 * of each other.  If a split divides a recording, the validation is too
 * good.
 *
 * Samples belong to one recording if they share
 *	the group that a list gives them (vt-extract --group),
 *	the video of one set, or the bytes of their videos,
 *	the perceptual hash, unless more than half of a class shares it,
 *	the class, and the name before _cNN in _gNN_cNN, as in UCF101, or
 *	a date and time in their keys.
 * The names of samples with a group do not count.
 */

#include <stddef.h>
#include <stdint.h>

#include "shard/dataset.h"

struct recorded {
	const char *key, *class;	/* of the set; class "": none, or
					 * several */
	char *group, *source;		/* NULL: unknown */
	uint64_t bytes, hash;		/* of the video; bytes 0: unknown */
	uint64_t phash;			/* 0: none */
	int set;			/* from 0 */
	uint32_t first;			/* sample of its recording, the same for
					 * all of them */
};

struct recordings {
	struct recorded *sample;	/* [n] of all sets, one after the
					 * other */
	size_t n, cap;
	int sets;
	const char *common;		/* key of the first sample with a
					 * perceptual hash that too many
					 * share; NULL: none */
};

/*
 * recordings_add(r, d, json):
 * Add the samples of ${d} to ${r}, which is zeroed at first.  With ${json},
 * read KEY.json of each, which has its group, video and hashes; without, use
 * what dataset_sample returns.  ${d} must
 * outlive ${r}.  Return 0, or after a message -1 on an I/O error, -2 if the
 * data are damaged.
 */
int recordings_add(struct recordings *r, const struct dataset *d, int json);

/* recordings_find(r): Set the recording of each sample. */
void recordings_find(struct recordings *r);

/* recordings_free(r): Free what ${r} owns, and zero it. */
void recordings_free(struct recordings *r);

/*
 * recording_session(key):
 * Return the length of the part of ${key} before _cNN in _gNN_cNN, 0 if it has
 * none.
 * recording_time(key, text):
 * Write the first date and time in ${key} to ${text}, as 14 digits.  Return 0,
 * or -1 if it has none.
 */
size_t recording_session(const char *key);
int recording_time(const char *key, char text[15]);

#endif
