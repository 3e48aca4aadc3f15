#ifndef BENCH_STORED_H
#define BENCH_STORED_H

/*
 * Stored frames of a packed set, in memory, and the part of each frame that a
 * clip uses.  They show the speed of a JPEG decoder on the same bytes, without
 * the loader.
 */

#include "base/pool.h"
#include "clip/fill.h"
#include "media/jpeg.h"
#include "shard/dataset.h"

struct stored_frame {
	size_t at, bytes;		/* position in the buffer */
	struct sample sample;
	int number;			/* frame number, from 0 */
	struct region part;
	int width, height;		/* of the whole frame */
	int side, how;			/* size and filter that the part is
					 * wanted at */
};

struct stored {
	struct buffer data;
	struct stored_frame *frame;
	size_t n, cap;
	struct jpeg_decoder **decoder;	/* [threads] of the pool */
	struct resizer *resizer;
	struct pool *pool;
	int whole, failed;		/* of stored_decode */
};

/*
 * stored_open(s, p):
 * Prepare ${s} for decoding by the threads of ${p}, which must outlive it.  The
 * caller frees it with stored_close.
 */
void stored_open(struct stored *s, struct pool *p);
void stored_close(struct stored *s);

/*
 * stored_add(s, d, sample, r):
 * Read the frames of sample ${sample} that clip ${r} uses, of the level that it
 * uses, and add them with their crop and side.  Return 0, or as
 * dataset_frames_read: -1 or -2 after a message.
 */
int stored_add(struct stored *s, const struct dataset *d, uint32_t sample,
    const struct clip_request *r);

/* stored_clear(s): Remove all frames. */
void stored_clear(struct stored *s);

/*
 * stored_decode(s, whole):
 * Decode every frame to RGB: fully if ${whole} is set, otherwise only the
 * wanted part at the smallest sufficient scale.  Return 0, or -1 after a
 * message.
 */
int stored_decode(struct stored *s, int whole);

/*
 * stored_compare(s, i, part, whole):
 * Decode frame ${i} twice, its part and the whole frame at the same scale, and
 * resize the clip's region of both to ${part} and ${whole}, [side][side][3]
 * bytes each.  The caller compares them; they must be equal.  Return 0, or -1
 * after a message.
 */
int stored_compare(struct stored *s, size_t i, uint8_t *part, uint8_t *whole);

/* stored_is_jpeg(d): Return 1 if the frames of ${d} are JPEG, otherwise 0. */
int stored_is_jpeg(const struct dataset *d);

#endif
