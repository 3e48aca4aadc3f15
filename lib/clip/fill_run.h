#ifndef CLIP_FILL_RUN_H
#define CLIP_FILL_RUN_H

/*
 * Internal state of a filler, for fill.c, which fills clips of RGB frames, and
 * fill_stack.c, which fills stacks of several frames.
 */

#include "clip/fill.h"
#include "media/image.h"
#include "media/jpeg.h"

struct filler {
	struct jpeg_decoder *jpeg;
	struct image pixels;	/* of a PNG; those of a JPEG belong to
				 * ${jpeg} */
	struct resizer *resizer;
	struct buffer bytes;	/* stored frames of a clip, concatenated */
	struct buffer scratch;	/* for reading them */
	struct buffer frame;	/* for effects */
	size_t *at;		/* [max + 1] offset of each in ${bytes} */
	/* capacity of ${at}, in frames */
	int max;
	/* The next ones are for stacks. */
	int *stacked;			/* [max] frames to read, ascending */
	struct buffer more_bytes;	/* frames of the second source */
	size_t *more_at;		/* [max + 1] offset of each */
	struct image planes;		/* three decoded planes of flow */
	struct buffer resized[2];	/* [side][side][3] */
	struct error error;
};

/* fill_reserve_frames(f, n): reserve for reading ${n} frames of a clip. */
void fill_reserve_frames(struct filler *f, int n);

/*
 * fill_decode(f, s, data, n, l, gray, out, at, why):
 * Decode at least the part ${l->decode} of a frame, ${n} bytes at ${data}.
 * ${out} is valid until the next call, and has the region at ${*at}.  A JPEG
 * has one channel if ${gray}, else three.  A PNG is decoded whole and has
 * three.  Return 0, or -1 after a message (error_set).
 */
int fill_decode(struct filler *f, const struct frame_source *s,
    const void *data, size_t n, const struct frame_level *l,
    int gray, struct image *out, struct region *at, struct error *why);

/* fill_is_stopped(out): return 1 if the clip need not be completed. */
int fill_is_stopped(const struct clip_out *out);

/*
 * fill_flow(f, s, r, c, out):
 * fill_differences(f, s, r, c, out):
 * Write clip ${r} to ${out}, as clips_fill_stream.  ${s} is the stream x and
 * the stream y of flow, or the RGB frames.
 */
int fill_flow(struct filler *f, const struct frame_source s[2],
    const struct clip_request *r, int c, struct clip_out *out);
int fill_differences(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, int c, struct clip_out *out);

#endif
