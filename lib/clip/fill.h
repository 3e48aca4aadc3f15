#ifndef CLIP_FILL_H
#define CLIP_FILL_H

/*
 * Decode the stored frames of a clip to pixels.  The loader and vt-eval on
 * videos both call clip_fill, so a video scores as the sample that is packed
 * from it.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/spool.h"
#include "clip/augment.h"
#include "clip/transforms.h"
#include "shard/dataset.h"

/*
 * The contents of a clip: a pure function of the seed and the clip's number,
 * or of the number of a view.
 */
struct clip_request {
	/* number of frames; width and height in pixels */
	int t, side;
	int *frame;			/* [t] frame numbers from 0, owned by
					 * the caller */
	struct crop crop;
	const struct transforms *transforms;	/* NULL: none */
	struct rng random;		/* rng_clip of the clip, for effects */
};

/* The stored frames of one video: of a sample of a dataset, or of a spool. */
struct frame_source {
	const char *file, *key;		/* for messages */
	int frames, width, height;
	double fps;			/* 0: unknown */
	int png;			/* 1: frames are PNG, 0: JPEG */
	/* get(s, frame, n, to, at, scratch, why):
	 * Read the bytes of the ${n} frames ${frame} into ${to}, as
	 * dataset_frames_read.  Any thread may call it. */
	int (*get)(const struct frame_source *s, const int *frame, int n,
	    struct buffer *to, size_t *at, struct buffer *scratch,
	    struct error *why);
	/* of frame_source_sample */
	const struct dataset *data;
	uint32_t sample;
	/* of frame_source_spool */
	struct spool *spool;
	const int *item;		/* [frames] spool items of the frames;
					 * NULL: all items in order */
	pthread_mutex_t *lock;		/* protects ${spool} */
};

/*
 * frame_source_sample(d, i):
 * Return stream 0 of sample ${i} of ${d}, which must outlive it.  ${file} is
 * from text_quote: valid until the fourth later call by this thread, so use the
 * source for one clip.
 */
struct frame_source frame_source_sample(const struct dataset *d, uint32_t i);

/*
 * frame_source_spool(m, spool, item, lock):
 * Return the frames of sample ${m}, which are items ${item}[] of ${spool};
 * NULL: all items.  ${lock} protects ${spool}.  The caller owns all arguments,
 * which must outlive the result.
 */
struct frame_source frame_source_spool(const struct sample *m,
    struct spool *spool, const int *item, pthread_mutex_t *lock);

/* The cost of clips so far. */
struct fill_cost {
	uint64_t clips, frames;	/* ${frames} are decoded frames; a repeated
				 * frame counts once */
	uint64_t bytes;		/* stored bytes of these frames */
	double read, decode, resize;	/* seconds */
};

/* The buffers and decoders of one thread. */
struct filler;

/*
 * filler_new(max):
 * Return the state of one thread for clip_fill; the caller frees it with
 * filler_free.  ${max} has the maximum of each field over all clips, so that
 * clip_fill allocates nothing.  Exceptions are stored frames above 8 bits per
 * pixel (24 in PNG), and clips above 64 MiB as stored.  ${max->scratch} is from
 * dataset_frames_workspace. NULL: buffers grow as needed. filler_free(NULL)
 * does nothing.
 */
struct fill_max { int t, side, w, h, png; size_t scratch; };

struct filler *filler_new(const struct fill_max *max);
void filler_free(struct filler *f);

/* The output of clip_fill. */
struct clip_out {
	uint8_t *bytes;			/* [t][side][side][3] RGB; for a raw
					 * clip ${raw} bytes, aligned to 16 */
	size_t raw;			/* above 0: write a raw clip
					 * (media/raw.h) into this many bytes,
					 * from decoded_clip_bytes; 0: write
					 * pixels */
	size_t used;			/* set to the size of the raw clip, in
					 * bytes */
	const atomic_int *stop;		/* 1: stop early; NULL: never */
	struct fill_cost cost;		/* increased by each call */
};

/*
 * clip_fill(f, s, r, out):
 * Write clip ${r} of ${s} to ${out}, with its crop and transforms.  A raw clip
 * must have no transforms (${r->effects} NULL).  Decode only the crop, at the
 * smallest sufficient scale.  Return 0, -1 on an I/O error, or -2 if the data
 * are damaged.  Print nothing, since clips are filled ahead and out of order:
 * filler_error has the message.  Once ${*stop} is not 0, return 0 early, with
 * ${out} incomplete.
 */
int clip_fill(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out);

/*
 * filler_error(f):
 * Return the message of the last failed clip_fill, with file, key and frame.
 * Valid until the next call.
 */
const char *filler_error(const struct filler *f);

#endif
