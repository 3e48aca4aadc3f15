#ifndef INGEST_EXTRACT_H
#define INGEST_EXTRACT_H

/*
 * Convert one video file to one sample: decode, resize, select frames by time,
 * and encode.
 */

#include <stdint.h>

#include "base/spool.h"
#include "ingest/list.h"
#include "media/jpeg.h"
#include "media/video.h"
#include "shard/stream.h"

enum extract_format { EXTRACT_JPEG, EXTRACT_PNG };
enum extract_flow { EXTRACT_NO_FLOW, EXTRACT_TVL1 };

struct extraction;

struct extract_options {
	int short_side;			/* of the stored frames; 0: source
					 * size */
	int width, height;		/* exact size of the stored frames; 0:
					 * use short_side */
	int enlarge;			/* 1: short_side may enlarge */
	int levels;			/* number of smaller levels, at most
					 * STREAM_MAX - 1 (shard/level.h) */
	int level[STREAM_MAX - 1];	/* their short sides, descending, below
					 * short_side */
	struct fraction fps;		/* stored rate; 0/0: every source
					 * frame */
	int64_t max_frames;		/* refuse videos with more stored
					 * frames */
	int64_t max_pixels;		/* limit for a decoded frame */
	enum extract_format format;
	int quality;			/* JPEG quality, 1 to 100 */
	enum extract_flow flow;		/* store optical flow, as streams x and
					 * y */
	int rgb;			/* 1: with flow, store frames, too */
	int no_phash;			/* 1: compute no perceptual hash */
	int pairs;			/* 1: store all frames but the last, one
					 * for each pair; set with ${flow} */
	int allow_truncated;
	int64_t max_damage;		/* maximum number of damaged places to
					 * accept */
	int strict_rate;		/* count gaps in a constant frame rate
					 * as damage */
	struct spool_budget *memory;	/* budget for encoded frames in
					 * memory */
	int (*stopped)(void);		/* polled between frames; 1: give up;
					 * NULL: never */

	/*
	 * need(of, x, frames, fps, wanted): set ${wanted}[k] to 1 for each
	 * needed frame k of video ${x}, assuming ${frames} frames at ${fps} per
	 * second (0/0: unknown).  The size in ${x} is already set.  Called on
	 * any thread.  NULL: all frames are needed.
	 */
	void (*need)(const void *of, const struct extraction *x, int frames,
	    struct fraction fps, char *wanted);
	const void *need_of;		/* first argument of ${need} */
};

/* The result of extracting a video or a folder of frames. */
struct extraction {
	struct sample sample;		/* the sample of the row, and what was
					 * stored; status "failed": not decoded;
					 * ${time} belongs to the extraction */
	int kept;			/* 1: accepted, with frames to store */
	struct error message;		/* why not, or what was wrong; "" if
					 * nothing */
	struct stream_list streams;	/* of the sample */
	struct spool *frame;		/* the encoded frames: for each stored
					 * frame one item per stream */
	int *frame_item;		/* [frames]: index in ${frame} of the
					 * frame in stream 0, -1: not needed;
					 * NULL: all frames, in order */
	int lost;			/* 1: the machine failed, not the video:
					 * no process could decode it, or its
					 * frames could not be spooled */
	int hashed;			/* 1: sample has the hash of the
					 * source */
	struct video_info info;		/* folder of frames: format, codec,
					 * size */
	struct video_account account;	/* folder of frames: only ${frames} */
	int64_t damage;			/* damaged places; with gaps if
					 * strict_rate */
	double spent;			/* seconds of work */
	double cpu;			/* seconds of the processor */
};

/*
 * extract_streams(o, to):
 * Set ${to} to the streams of a sample that ${o} makes.
 */
void extract_streams(const struct extract_options *o, struct stream_list *to);

/*
 * extraction_begin(row, o, x):
 * Fill in what is known before the video of ${row} is opened.  The status is
 * "failed".
 */
void extraction_begin(const struct list_row *row,
    const struct extract_options *o, struct extraction *x);

/*
 * extraction_item(x, frame, stream):
 * Return the index in x->frame of ${frame}, which is stored, in ${stream}.
 */
size_t extraction_item(const struct extraction *x, int frame, int stream);

/*
 * extract_size(o, w, h, to_w, to_h):
 * Compute the stored size of a ${w} by ${h} frame in pixels.
 */
void extract_size(const struct extract_options *o, int w, int h, int *to_w,
    int *to_h);

/*
 * The encoders, decoders and buffers of one thread, reused from video to video.
 */
struct extractor;

/*
 * extractor_new(quality):
 * Return a new extractor whose encoder has JPEG quality ${quality}, 1 to 100.
 * The caller frees it with extractor_free; NULL does nothing there.
 */
struct extractor *extractor_new(int quality);
void extractor_free(struct extractor *e);

/*
 * extractor_add_flow(e, o, threads):
 * Let ${e} compute the optical flow of ${o} with ${threads} threads.  Without
 * this call, extract_video uses one.
 */
void extractor_add_flow(struct extractor *e, const struct extract_options *o,
    int threads);

/*
 * extract_video(row, o, e, x):
 * Decode the whole video of ${row}, even if it will be refused, and fill in
 * ${x}, beginning with the sample of ${row}.  Store only frames of the row's
 * part, but count damage everywhere.  A directory is read as a folder of frames
 * (ingest/folder.h).
 * x->kept says whether the video was accepted.  Messages go to x->message, not
 * to standard error.
 * Each thread uses its own ${e}.  The caller frees ${x} with extraction_free;
 * ${row} must outlive it.
 */
void extract_video(const struct list_row *row, const struct extract_options *o,
    struct extractor *e, struct extraction *x);

/*
 * extract_probe(row, o, x):
 * Fill in ${x} as extract_video does, but read only the headers and the first
 * frame, and store no frames.  For a folder, also check that the frames of its
 * part exist.
 */
void extract_probe(const struct list_row *row, const struct extract_options *o,
    struct extraction *x);

/*
 * extraction_write(x, s, w, bytes):
 * Write the sample ${s}, with all frames of ${x}, to ${w}, and add the bytes of
 * the frames to ${*bytes}.  Return 0, or -1 after a message.
 */
int extraction_write(const struct extraction *x, const struct sample *s,
    struct stream_writer *w, int64_t *bytes);

/* extraction_free(x): Free everything that ${x} owns and leave it empty. */
void extraction_free(struct extraction *x);

#endif
