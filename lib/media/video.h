#ifndef MEDIA_VIDEO_H
#define MEDIA_VIDEO_H

/*
 * Video files, decoded in full from the first frame to the last, with an
 * account of what the file claims, what was there and what was damaged.
 *
 * What a file is, is decided by its bytes, never by its name.  Only containers
 * that hold their own frames are read; a playlist, which would open other
 * files, is refused, and no demuxer can open a file or reach the network.
 *
 * One video is one thread's work; several videos may be decoded at once by as
 * many threads.
 */

#include <stdint.h>
#include <stdio.h>

#include "media/fps.h"
#include "media/image.h"
#include "media/plane.h"

/* video_ready(): -1 after a message if this build cannot decode video. */
int video_ready(void);

/* video_versions(f): print the versions of the libraries used, a line each. */
void video_versions(FILE *f);

struct video;

/* What the headers say.  Sizes are those of the frame the right way up. */
struct video_info {
	char format[32], codec[32], pixels[32];
	int width, height;
	struct plane_turn turn;		/* which way up it is stored */
	struct fraction tick;		/* seconds, of the times below */
	struct fraction rate[2];	/* frames a second, as claimed */
	double claimed;			/* seconds; 0 if the file claims none */
	double likely;			/* frames, by that; 0: no idea */
	size_t expected;		/* and somewhat more */
};

/* What was seen, complete once video_next has returned 0. */
struct video_account {
	int64_t frames;		/* delivered so far */
	double decoded;		/* seconds, up to the end of the last frame */
	int truncated;		/* the file ends before what it claims */
	int64_t packets, listed;	/* of the stream: read, and in the index
				 * of the file; -1: it has no such index */
	int64_t damage;		/* places where the demuxer or the decoder met
				 * an error: packets or frames */
	int64_t packets_corrupt;	/* of these: flagged by the demuxer */
	int64_t frames_corrupt;	/* flagged by the decoder */
	int64_t refused;	/* packets the decoder returned an error for */
	int64_t errors;		/* messages of either */
	int64_t gaps;		/* gaps in a constant frame rate; not damage */
	double gap_time, gap_length;	/* first gap: time of the frame before
					 * it, and its length, in seconds */
	int64_t times_mended;	/* frames without a time, or not after the
				 * frame before; not damage */
	int resized;		/* the size changed on the way */
	char message[160];	/* the first error, "" if none */
	char cut[120];		/* where the container ends too early, "" if
				 * it does not or cannot tell */
};

struct video_limits {
	int64_t pixels;		/* of one frame; more is refused before any
				 * memory is taken */
};

/*
 * video_open(fd, path, limits):
 * Begin to decode the best video stream of the regular file ${fd}, which stays
 * the caller's and must stay open; ${path} is for messages.  Cover pictures
 * are no videos.  NULL after a message if nothing can be decoded: it says what
 * the file is instead.
 */
struct video *video_open(int fd, const char *path,
    const struct video_limits *limits);
void video_free(struct video *v);

const struct video_info *video_info(const struct video *v);
const struct video_account *video_account(const struct video *v);

/*
 * video_next(v, frame): go on to the next frame.  1, 0 at the end, -1 after a
 * message if the file cannot be read or there is no memory.  Damage is no
 * error: it is counted, and decoding goes on.  The last packet of a file is
 * not decoded if it is incomplete.
 */
int video_next(struct video *v, struct video_frame *frame);

/*
 * video_hash(v, bytes, hash):
 * Set ${*hash} to the XXH3-64 of the whole file and ${*bytes} to its length.
 * The hash takes the bytes that the demuxer reads in order; the others are read
 * here, so call it after the last video_next.  Return 0, or -1 after a message,
 * which may be video_next's.
 */
int video_hash(struct video *v, uint64_t *bytes, uint64_t *hash);

/*
 * video_planes(v, w, h):
 * The frame as ${w} by ${h} pixels, the right way up, as JPEG takes it: 4:2:0,
 * BT.601 weights, full range.  Shrinking averages areas, growing is bicubic.
 * Valid until the next call with ${v}.  NULL after a message.
 *
 * Sources of other weights (BT.709, BT.2020, ...) and of the narrow range are
 * converted; one that does not say is taken as BT.601 and narrow.  Deeper
 * pixels are rounded to 8 bits; the transfer function stays as it is, HDR too.
 * Pixels count as square.  Interlaced frames stay woven as they are decoded.
 * Transparency is dropped.
 */
const struct planes *video_planes(struct video *v, int w, int h);

/* video_rgb(v, w, h): the same as RGB. */
const struct image *video_rgb(struct video *v, int w, int h);

/*
 * The same for pictures that are no video's: picture_planes(p, path, m, w, h)
 * gives RGB image ${m} as video_planes gives a frame, picture_rgb as video_rgb;
 * ${path} is for messages.
 */
struct picture;

struct picture *picture_new(void);
void picture_free(struct picture *p);
const struct planes *picture_planes(struct picture *p, const char *path,
    const struct image *m, int w, int h);
const struct image *picture_rgb(struct picture *p, const char *path,
    const struct image *m, int w, int h);

#endif
