#ifndef INGEST_EXTRACT_H
#define INGEST_EXTRACT_H

/* One video file to one sample: decoded, resized, chosen in time, encoded. */

#include <stdint.h>

#include "base/spool.h"
#include "ingest/list.h"
#include "media/jpeg.h"
#include "media/video.h"

enum extract_format { EXTRACT_JPEG, EXTRACT_PNG };

struct extraction;

struct extract_options {
	int short_side;			/* of the stored frames; 0: as it is */
	int width, height;		/* exactly these, if not 0 */
	int enlarge;			/* short_side may enlarge */
	struct fraction fps;		/* 0/0: every frame as it is */
	int64_t max_frames;		/* stored; a video of more is refused */
	int64_t max_pixels;		/* of a decoded frame */
	enum extract_format format;
	int quality;			/* of JPEG, 1 to 100 */
	int allow_truncated;
	int64_t max_damage;		/* places */
	int strict_rate;		/* count gaps in a constant frame rate
					 * as damage */
	struct spool_budget *memory;	/* for the encoded frames */
	int (*stopped)(void);		/* asked now and then; 1: give up */

	/*
	 * need(of, x, frames, fps, wanted): set ${wanted}[k] to 1 if frame k of
	 * video ${x} is needed, were it ${frames} at ${fps} a second (0/0: not
	 * known); it says the size already.  On any thread.  NULL: all are.
	 */
	void (*need)(const void *of, const struct extraction *x, int frames,
	    struct fraction fps, char *wanted);
	const void *need_of;
};

/* The result of extracting a video or a folder of frames. */
struct extraction {
	struct sample sample;		/* the row's, and what was stored; status
					 * "failed": it could not be decoded;
					 * time belongs to the extraction */
	int kept;			/* frames are there to be stored */
	struct error message;		/* why not, or what was wrong; "" */
	struct spool *frame;		/* the encoded frames */
	int *place;			/* [frames] of these, -1: not needed;
					 * NULL: they are all, in order */
	int hashed;			/* sample has the hash of the source */
	struct video_info info;		/* of a folder: format, codec, size */
	struct video_account account;	/* of a folder: frames */
	int64_t damage;			/* places, gaps too if they count */
	double spent;			/* seconds of work */
};

/* extract_streams(f): the streams of a sample whose frames are ${f}. */
const struct stream_list *extract_streams(enum extract_format f);

/* extract_size(o, w, h, to_w, to_h): the stored size of a w by h frame. */
void extract_size(const struct extract_options *o, int w, int h, int *to_w,
    int *to_h);

/*
 * extract_video(row, o, e, x):
 * Decode all of the video of ${row}, even if it will be refused, and fill ${x},
 * beginning with the sample of ${row}.  Store only frames of the row's part, but
 * count damage wherever it is.  A folder is one of frames (ingest/folder.h).
 * Messages go to x->message and not to standard error.  ${e} belongs to the
 * calling thread and serves all its videos.  extraction_free(x) frees the result;
 * ${row} must outlive it.
 */
struct extractor;

struct extractor *extractor_new(int quality);
void extractor_free(struct extractor *e);
void extract_video(const struct list_row *row, const struct extract_options *o,
    struct extractor *e, struct extraction *x);

/*
 * extract_look(row, o, x): as extract_video, but read only the headers and the
 * first frame.  For a folder, also check that the frames of its part exist.
 */
void extract_look(const struct list_row *row, const struct extract_options *o,
    struct extraction *x);

void extraction_free(struct extraction *x);	/* leaves an empty one */

#endif
