#ifndef BENCH_STORED_H
#define BENCH_STORED_H

/*
 * Stored frames of a packed set, in memory, and the part of each that a clip
 * wants: what a JPEG decoder can do with the same bytes, without any of the
 * loader around it.
 */

#include "base/pool.h"
#include "clip/augment.h"
#include "media/jpeg.h"
#include "shard/dataset.h"

struct stored_frame {
	size_t at, bytes;		/* in the buffer */
	struct sample sample;
	int number;			/* of the frame, from 0 */
	struct region part;
	int side, how;			/* that the part is wanted at */
};

struct stored {
	struct buffer data;
	struct stored_frame *frame;
	size_t n, cap;
	struct jpeg_decoder **decoder;	/* [threads] of the pool */
	struct resizer *resizer;
	struct pool *pool;
	int failed;
};

/* stored_open(s, p): to be decoded by the threads of ${p}. */
void stored_open(struct stored *s, struct pool *p);
void stored_close(struct stored *s);

/*
 * stored_add(s, d, sample, frame, n, crop, side): add ${n} frames of a sample.
 * 0; -1 or -2 after a message, as dataset_frames_read.
 */
int stored_add(struct stored *s, const struct dataset *d, uint32_t sample,
    const int *frame, int n, struct crop crop, int side);
void stored_clear(struct stored *s);

/*
 * stored_decode(s, whole): decode every frame to RGB, in full if ${whole} or
 * else the wanted part at the scale it allows.  -1 after a message.
 */
int stored_decode(struct stored *s, int whole);

/*
 * stored_compare(s, i, part, whole): frame ${i} resized as a clip wants it,
 * from its part and from the whole picture at the same scale, to [side][side]
 * [3] bytes each; they must be equal.  -1 after a message.
 */
int stored_compare(struct stored *s, size_t i, uint8_t *part, uint8_t *whole);

/* stored_is_jpeg(d): 1, or 0 for a set that keeps other pictures. */
int stored_is_jpeg(const struct dataset *d);

#endif
