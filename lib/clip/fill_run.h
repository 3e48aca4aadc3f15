#ifndef CLIP_FILL_RUN_H
#define CLIP_FILL_RUN_H

/*
 * Internal state of a filler, for fill.c, which fills clips of RGB frames, and
 * fill_stack.c, which fills stacks of several frames.
 */

#include "clip/fill.h"

struct filler {
	struct frame_decoder decoder;
	struct resizer *resizer;
	struct buffer bytes[2];	/* stored frames of a clip, concatenated, by
				 * source */
	size_t *at[2];		/* [max + 1] offset of each */
	struct buffer scratch;	/* for reading them */
	struct buffer frame;	/* for effects */
	int max;		/* capacity of ${at}, in frames */
	/* The next ones are for stacks. */
	int *stacked;			/* [max] frames to read, ascending */
	struct image planes;		/* three decoded planes of flow */
	struct buffer resized[2];	/* [side][side][3] */
	struct error error;
};

/* The frames of one source that a clip reads. */
struct fill_job {
	struct filler *f;
	int i;				/* number of the source */
	const struct frame_source *s;
	const struct clip_request *r;
	const int *frame;		/* [n], which may repeat */
	int n;
	struct fill_cost *cost;
};

/* fill_reserve_frames(f, n): reserve for reading ${n} frames of a clip. */
void fill_reserve_frames(struct filler *f, int n);

/*
 * fill_read(j):
 * Read the frames of ${j}, for which memory is reserved.
 *
 * fill_decode(j, k, gray, m, at):
 * Decode at least the part of frame j->frame[k] that the clip needs.  ${m} is
 * valid until the next call, and has the part at ${*at}.  A JPEG has one
 * channel if ${gray}, else three.  A PNG is decoded whole and has three.
 *
 * Both return as clip_fill, and add to the cost.
 */
int fill_read(const struct fill_job *j);
int fill_decode(const struct fill_job *j, int k, int gray, struct image *m,
    struct region *at);

/*
 * fill_resize(f, r, m, at, to):
 * Resize the region ${at} of ${m} to ${to}, [side][side][3], as ${r} says.
 */
void fill_resize(struct filler *f, const struct clip_request *r,
    const struct image *m, struct region at, uint8_t *to);

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
