#ifndef CLIP_FETCH_H
#define CLIP_FETCH_H

/* From the stored frames of a sample to the pixels of a clip. */

#include <stdatomic.h>
#include <stdint.h>

#include "clip/augment.h"
#include "shard/dataset.h"

/* What a clip shows, and in which size. */
struct fetch_clip {
	uint32_t sample;
	int t, side;
	const int *frame;	/* [t] from 0 */
	struct crop crop;
};

/* What fetching took. */
struct fetch_cost {
	uint64_t clips, frames;	/* frames decoded; a repeated one once */
	uint64_t bytes;		/* of frames, as stored */
	double read, decode, resize;	/* seconds */
};

/* Buffers and a decoder, for one thread. */
struct fetch;

/*
 * fetch_new(d, most):
 * ${most}: what clips will ask for at the most, so that no call of fetch_clip
 * allocates (but for frames that are stored with more than 8 bits a pixel, 24
 * in PNG, or clips of more than 64 MiB as stored); its frames, w and h are
 * dataset_most's.  NULL: it grows on the way.  ${d} may be NULL, too, if only
 * fetch_frame is called then.
 */
struct fetch_most { int t, side, frames, w, h; };

struct fetch *fetch_new(const struct dataset *d, const struct fetch_most *most);
void fetch_free(struct fetch *f);

/*
 * fetch_clip(f, c, to, stop, cost):
 * Write clip ${c} to ${to}, [t][side][side][3] RGB, and add to ${cost}.  Only
 * the crop is decoded, at no more than the scale it needs.  0; -1 on an I/O
 * error; -2 when the data is damaged.  Nothing is printed, since clips are
 * fetched ahead and out of order: fetch_error is the message, naming shard,
 * key and frame.  Once ${*stop} is set it returns 0 early, leaving ${to} half
 * written.
 */
int fetch_clip(struct fetch *f, const struct fetch_clip *c, uint8_t *to,
    const atomic_int *stop, struct fetch_cost *cost);
const char *fetch_error(const struct fetch *f);

/*
 * fetch_raw(f, c, to, room, used, stop, cost): the same, but write it to ${to} as
 * media/raw.h has it, where there are ${room} bytes, raw_room's; ${*used} of them
 * are its.
 */
int fetch_raw(struct fetch *f, const struct fetch_clip *c, uint8_t *to,
    size_t room, size_t *used, const atomic_int *stop, struct fetch_cost *cost);

/*
 * fetch_frame(f, s, c, to):
 * The same for a single frame whose bytes are at hand: write what ${c}->crop
 * shows of it to ${to}, [side][side][3].  -2 when it is damaged.
 */
struct fetch_stored {
	const char *file, *key;	/* for the message; file as it shows it */
	const void *data;
	size_t n;
	int number;		/* of the frame */
	int width, height;	/* that it should have */
	int png;
};

int fetch_frame(struct fetch *f, const struct fetch_stored *s,
    const struct fetch_clip *c, uint8_t *to, struct fetch_cost *cost);

#endif
