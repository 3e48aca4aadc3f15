#ifndef CLIP_FILL_H
#define CLIP_FILL_H

/*
 * From stored frames to the pixels of a clip.  The loader and vt-eval on videos
 * both call clip_fill, so a video scores as the sample that is packed from it.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/spool.h"
#include "clip/augment.h"
#include "clip/effects.h"
#include "shard/dataset.h"

/*
 * The frames, size, crop and effects of a clip: a pure function of the seed and the
 * clip's number, or of the number of a view.
 */
struct clip_request {
	int t, side;
	int *frame;			/* [t] from 0; the caller's */
	struct crop crop;
	const struct effects *effects;	/* NULL: none */
	struct rng random;		/* rng_clip of the clip, for effects */
};

/* The stored frames of one video: of a sample of a dataset, or of a spool. */
struct frame_source {
	const char *file, *key;		/* as messages show them */
	int frames, width, height;
	double fps;			/* 0: unknown */
	int png;			/* PNG, not JPEG */
	/*
	 * get(s, frame, n, to, at, scratch, why):
	 * Read the bytes of the ${n} frames ${frame} into ${to}, as
	 * dataset_frames_read.  Any thread may call it.
	 */
	int (*get)(const struct frame_source *s, const int *frame, int n,
	    struct buffer *to, size_t *at, struct buffer *scratch,
	    struct error *why);
	const struct dataset *data;
	uint32_t sample;
	struct spool *spool;
	const int *item;		/* [frames] of the spool; NULL: all of
					 * them, in order */
	pthread_mutex_t *lock;		/* of the spool */
};

/*
 * frame_source_sample(d, i): stream 0 of sample ${i} of ${d}, for one clip:
 * file is text_quote's.
 * frame_source_spool(m, spool, item, lock): sample ${m}, whose frames are in
 * ${spool}.  The arguments stay the caller's, and must outlive the result.
 */
struct frame_source frame_source_sample(const struct dataset *d, uint32_t i);
struct frame_source frame_source_spool(const struct sample *m,
    struct spool *spool, const int *item, pthread_mutex_t *lock);

/* The cost of filling clips. */
struct fill_cost {
	uint64_t clips, frames;	/* frames decoded; a repeated one once */
	uint64_t bytes;		/* of frames, as stored */
	double read, decode, resize;	/* seconds */
};

/* Buffers and decoders, for one thread. */
struct filler;

/*
 * filler_new(max):
 * ${max} is the maximum of what clips ask for, so that no call of clip_fill
 * allocates (except for frames that are stored with more than 8 bits a pixel,
 * 24 in PNG, or clips of more than 64 MiB as stored); scratch is
 * dataset_frames_room's.  NULL: buffers grow on the way.
 */
struct fill_max { int t, side, w, h, png; size_t scratch; };

struct filler *filler_new(const struct fill_max *max);
void filler_free(struct filler *f);

/* Where a clip goes. */
struct clip_out {
	uint8_t *bytes;			/* [t][side][side][3] RGB; if raw, a
					 * multiple of 16 bytes */
	size_t raw;			/* bytes there for a raw clip
					 * (media/raw.h), raw_room's; 0: pixels
					 * are wanted */
	size_t used;			/* set to the bytes of the raw clip */
	const atomic_int *stop;		/* NULL: never */
	struct fill_cost cost;		/* added to */
};

/*
 * clip_fill(f, s, r, out):
 * Write clip ${r} of ${s} to ${out}.  Decode only the crop, at no more than the
 * scale it needs.  Return 0, -1 on an I/O error, or -2 if the data are damaged.
 * Print nothing, since clips are filled ahead and out of order: filler_error is
 * the message, which names file, key and frame.  Once ${*stop} is set, return 0
 * early and leave ${out} half written.
 */
int clip_fill(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out);
const char *filler_error(const struct filler *f);

#endif
