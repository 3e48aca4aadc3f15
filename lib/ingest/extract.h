#ifndef INGEST_EXTRACT_H
#define INGEST_EXTRACT_H

/* One video file to one sample: decoded, resized, chosen in time, encoded. */

#include <stdint.h>

#include "base/spool.h"
#include "ingest/list.h"
#include "media/fps.h"
#include "media/jpeg.h"

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

/* What became of a video. */
enum extract_status {
	EXTRACT_OK,
	EXTRACT_TRUNCATED,		/* the file ends early */
	EXTRACT_DAMAGED,		/* there were errors in it */
	EXTRACT_FAILED			/* it could not be decoded at all */
};

struct extraction {
	enum extract_status status;
	int kept;			/* frames are there to be stored */
	char message[600];		/* why not, or what was wrong; "" */
	struct spool *frame;		/* the encoded frames */
	int *place;			/* [frames] of these, -1: not needed;
					 * NULL: they are all, in order */
	int frames, width, height;	/* as stored */
	int source_width, source_height;	/* upright */
	struct fraction fps;		/* as stored; 0/0: unknown */
	uint32_t *time;			/* [frames] 0.1 ms, if not constant */
	unsigned flags;			/* SHARD_TRUNCATED ... */
	uint64_t bytes, hash;		/* of the file, XXH3-64 if hashed */
	int hashed;
	char container[32], codec[32], pixels[32];
	int64_t decoded_frames;
	double decoded, claimed;	/* seconds; claimed 0: no claim */
	int64_t damage, packets_corrupt, frames_corrupt, refused, errors;
	int64_t gaps, times_mended;
	int resized;			/* the size changed on the way */
	double spent;			/* seconds of work */
};

/* extract_status_name(s): "ok", "truncated", "damaged" or "failed". */
const char *extract_status_name(enum extract_status s);

/* extract_size(o, w, h, to_w, to_h): the stored size of a w by h frame. */
void extract_size(const struct extract_options *o, int w, int h, int *to_w,
    int *to_h);

/*
 * extract_video(path, part, o, e, x):
 * Decode all of ${path}, whatever becomes of it, and fill ${x}; only frames of
 * ${part} are stored, but damage counts wherever it is.  A folder is one of
 * frames (ingest/folder.h).  Messages go there and not to standard error.  ${e}
 * is the calling thread's and serves all its videos; extraction_free(x) afterwards.
 */
struct extractor;

struct extractor *extractor_new(int quality);
void extractor_free(struct extractor *e);
void extract_video(const char *path, const struct list_part *part,
    const struct extract_options *o, struct extractor *e, struct extraction *x);

/*
 * extract_look(path, part, o, x): as extract_video, but read only the headers
 * and the first frame.  For a folder, also check that the frames of ${part}
 * exist.
 */
void extract_look(const char *path, const struct list_part *part,
    const struct extract_options *o, struct extraction *x);

void extraction_free(struct extraction *x);	/* leaves an empty one */

#endif
