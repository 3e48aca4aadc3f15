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

enum extract_format { EXTRACT_JPEG, EXTRACT_PNG };

struct extraction;

struct extract_options {
	int short_side;			/* of the stored frames; 0: source
					 * size */
	int width, height;		/* exact size of the stored frames; 0:
					 * use short_side */
	int enlarge;			/* 1: short_side may enlarge */
	struct fraction fps;		/* stored rate; 0/0: every source
					 * frame */
	int64_t max_frames;		/* refuse videos with more stored
					 * frames */
	int64_t max_pixels;		/* limit for a decoded frame */
	enum extract_format format;
	int quality;			/* JPEG quality, 1 to 100 */
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
	struct spool *frame;		/* the encoded frames */
	int *frame_item;			/* [frames]: index in ${frame}, -1: not
					 * needed; NULL: one item per frame, in
					 * order */
	int hashed;			/* 1: sample has the hash of the
					 * source */
	struct video_info info;		/* folder of frames: format, codec,
					 * size */
	struct video_account account;	/* folder of frames: only ${frames} */
	int64_t damage;			/* damaged places; with gaps if
					 * strict_rate */
	double spent;			/* seconds of work */
};

/*
 * extract_streams(f):
 * Return the stream list of a sample whose frames have format ${f}.  It is
 * static.
 */
const struct stream_list *extract_streams(enum extract_format f);

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

/* extraction_free(x): Free everything that ${x} owns and leave it empty. */
void extraction_free(struct extraction *x);

#endif
