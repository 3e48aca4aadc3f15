#ifndef SHARD_STREAM_INPUT_H
#define SHARD_STREAM_INPUT_H

/*
 * The bytes of a stream: blocks of a file or pipe, and their hash.  Internal to
 * the reader of the stream (shard/stream_read.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "shard/stream_read.h"

struct stream_input {
	int fd;				/* -1: not open */
	void (*idle)(void *arg);	/* once a second without input, or
					 * NULL */
	void *arg;
	char *block;
	uint64_t total;			/* bytes read from the input */
	size_t filled;			/* valid bytes of block, the last
					 * ones read */
	char first[8];			/* first bytes of the input */
	int eof, stopped;		/* stopped: by a signal */
	struct hasher *hash;		/* of the current stream, */
	uint64_t hashed;		/* up to this offset */
};

/*
 * stream_input_open(in, path, limits):
 * Open the file ${path}, or standard input if it is NULL.  Return 0, or -1 with
 * errno.  stream_input_close also accepts an input whose ${fd} is -1.
 */
int stream_input_open(struct stream_input *in, const char *path,
    const struct stream_limits *limits);
void stream_input_close(struct stream_input *in);

/*
 * stream_input_next(in):
 * Add the block to the hash, and replace it by the next one, of 0 bytes at the
 * end.  Return 0, or -1 with errno: EINTR with in->stopped set after a signal.
 */
int stream_input_next(struct stream_input *in);

/*
 * stream_input_hash_from(in, from):
 * Begin a new hash at offset ${from}.
 *
 * stream_input_hash_to(in, to):
 * Add the bytes up to offset ${to} to the hash.  Return -1 if they are no
 * longer in the block.
 */
void stream_input_hash_from(struct stream_input *in, uint64_t from);
int stream_input_hash_to(struct stream_input *in, uint64_t to);

#endif
