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

#include "base/feed.h"
#include "base/spool.h"
#include "clip/augment.h"
#include "clip/transforms.h"
#include "media/image.h"
#include "media/jpeg.h"
#include "shard/dataset.h"

/*
 * The part of each frame that is decoded for all clips of a repeated sample, in
 * pixels of the largest level.  It depends on all clips of the sample, so the
 * bits of a clip do not depend on which of the clips are loaded together.
 */
struct clip_share {
	struct region part;		/* w 0: only the crop of the clip */
	double w, h;			/* smallest width and height of a
					 * crop */
};

/*
 * clip_share_add(s, crop, side):
 * Extend ${s}, at first all 0, by ${crop} and the pixels around it that
 * resizing it to ${side} pixels reads.
 */
void clip_share_add(struct clip_share *s, const struct crop *crop, int side);

/*
 * The contents of a clip: a pure function of the seed and the clip's number,
 * or of the number of a view.
 */
struct clip_request {
	/* number of frames; width and height in pixels */
	int t, side;
	int *frame;			/* [t] frame numbers from 0, owned by
					 * the caller */
	struct crop crop;		/* in pixels of the largest level */
	int level;			/* number of the level to read
					 * (clip/cover.h); 0: the largest */
	struct clip_share share;
	const struct transforms *transforms;	/* NULL: none */
	struct rng random;		/* rng_clip of the clip, for effects */
};

/* The stored frames of one video: of a sample of a dataset, or of a spool. */
struct frame_source {
	const char *file, *key;		/* for messages */
	int frames, width, height;	/* width and height of the largest
					 * level */
	struct level_list levels;	/* n 0: one level */
	double fps;			/* 0: unknown */
	int png;			/* 1: frames are PNG, 0: JPEG */
	/* get(s, level, r, why): read the frames ${r} of level ${level}, as
	 * dataset_frames_read.  Any thread may call it. */
	int (*get)(const struct frame_source *s, int level,
	    const struct frame_read *r, struct error *why);
	int stream;			/* number of level 0 */
	/* of frame_source_sample */
	const struct dataset *data;
	uint32_t sample;
	/* of frame_source_spool */
	int streams;			/* of the sample */
	struct spool *spool;
	const int *item;		/* [frames] spool items of the frames in
					 * stream 0, which those of the other
					 * streams follow; NULL: all items in
					 * order */
	pthread_mutex_t *lock;		/* protects ${spool} */
};

/*
 * frame_source_sample(d, i, stream):
 * Return stream number ${stream} of sample ${i} of ${d}, which must outlive it;
 * of stream 0, all levels.  ${file} is from text_quote: valid until the fourth
 * later call by this thread, so use the source for one clip.
 */
struct frame_source frame_source_sample(const struct dataset *d, uint32_t i,
    int stream);

/*
 * fill_find_sources(l, name, stream):
 * Set ${stream} to the numbers of the stored streams that make the input stream
 * ${name}: x and y for flow, rgb for rgbdiff, else the one of that name.
 * Return how many these are, or 0 if ${l} lacks one.
 */
int fill_find_sources(const struct stream_list *l, const char *name,
    int stream[2]);

/*
 * frame_source_spool(m, stream, spool, item, lock):
 * Return stream number ${stream} of sample ${m}; of stream 0, all levels.
 * Frame k of stream s is item ${item}[k] + s of ${spool}; ${item} NULL: item k
 * times the number of streams, plus s.  ${lock} protects ${spool}.  The caller
 * owns all arguments, which must outlive the result.
 */
struct frame_source frame_source_spool(const struct sample *m, int stream,
    struct spool *spool, const int *item, pthread_mutex_t *lock);

/*
 * The level of a source that a request reads: its number, stream and size.
 * ${part} is the crop of the request in it, and ${decode} the part to decode.
 */
struct frame_level {
	int level, stream, w, h;	/* w 0: of unknown size */
	struct region part;
	struct jpeg_part decode;	/* r.w 0: the whole */
	int png;			/* as in struct frame_source */
};

/*
 * frame_level(s, r):
 * Return the level of ${s} that ${r} reads.  The crop is that of ${r}, in
 * proportion to the size of the level.
 */
struct frame_level frame_level(const struct frame_source *s,
    const struct clip_request *r);

/* The decoders of one thread; ${jpeg} is NULL until it is needed. */
struct frame_decoder { struct jpeg_decoder *jpeg; struct image pixels; };

/*
 * frame_decoder_run(d, data, n, l, m, at, why):
 * Decode at least the part ${l->decode} of a frame, ${n} bytes at ${data}.
 * ${m} is valid until the next call, and has the part at ${*at}.  A JPEG has
 * one channel if it is gray, else three.  A PNG is decoded whole and has three.
 * Return 0, or -1 after a message (error_set), also if the frame does not have
 * the size of ${l}.
 *
 * frame_decoder_free(d): Free the decoders, but not ${d}.
 */
int frame_decoder_run(struct frame_decoder *d, const void *data, size_t n,
    const struct frame_level *l, struct image *m, struct region *at,
    struct error *why);
void frame_decoder_free(struct frame_decoder *d);

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
 * pixel (24 in PNG), and clips above 64 MiB as stored.  ${max->t} counts the
 * stored frames that a clip reads, and ${max->stacks} is 1 if any clip has
 * stacks.  ${max->scratch} is from dataset_frames_workspace.  NULL:
 * buffers grow as needed.  filler_free(NULL) does nothing.
 */
struct fill_max { int t, side, w, h, png, stacks; size_t scratch; };

struct filler *filler_new(const struct fill_max *max);
void filler_free(struct filler *f);

/* The output of clip_fill. */
struct clip_out {
	uint8_t *bytes;			/* [t][side][side][3] RGB */
	const atomic_int *stop;		/* 1: stop early; NULL: never */
	struct fill_cost cost;		/* increased by each call */
};

/*
 * clip_fill(f, s, r, out):
 * Write clip ${r} of ${s} to ${out}, with its crop and transforms.  Decode only
 * the crop, at the smallest sufficient scale.  Return 0, -1 on an I/O error, or
 * -2 if the data are damaged.  Print nothing, since clips are filled ahead and
 * out of order: filler_error has the message.  Once ${*stop} is not 0, return 0
 * early, with ${out} incomplete.
 */
int clip_fill(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out);

/*
 * clips_fill(f, s, r, out, n):
 * Do the same for ${n} clips, 1 to CLIPS_MAX, which have the same frames, side,
 * level and share: read and decode each frame once.  The cost of this is that
 * of ${out}[0].  If it fails, it fails for all of them.
 */
#define CLIPS_MAX 64

int clips_fill(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out, int n);

/*
 * clips_fill_stream(f, stream, s, r, out, n):
 * Write the clips ${r}[n] as the input stream ${stream} (base/feed.h) to
 * ${out}[n], as clips_fill.  ${s} is its sources, in the order of
 * fill_find_sources.
 *
 * A stack reads frames up to the last one of ${s} and then repeats it; a
 * difference of repeated frames is 0.  Each frame of a clip is decoded once,
 * whatever stacks it is in.  A mirrored displacement v to the right becomes 255
 * - v, as in the TSN program (transforms.py).  Stacks have no transforms.
 */
int clips_fill_stream(struct filler *f, const struct stream_spec *stream,
    const struct frame_source s[2], const struct clip_request *r,
    struct clip_out *out, int n);

/*
 * filler_error(f):
 * Return the message of the last failed clip_fill, with file, key and frame.
 * Valid until the next call.
 */
const char *filler_error(const struct filler *f);

#endif
