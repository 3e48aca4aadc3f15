#ifndef MEDIA_VIDEO_H
#define MEDIA_VIDEO_H

/*
 * Read video files: decode every frame, and report what the file declares, what
 * it contains and what is damaged.
 *
 * The first bytes of a file decide its format, never its name.  Only containers
 * that hold their own frames are read.  A playlist would open other files, so
 * it is refused; no demuxer can open a file or reach the network.
 *
 * A struct video belongs to one thread at a time.  Different threads may decode
 * different videos.
 */

#include <stdint.h>
#include <stdio.h>

#include "media/fps.h"
#include "media/image.h"
#include "media/plane.h"

/*
 * video_ready():
 * Load FFmpeg unless it is loaded.  Return 0, or -1 after a message if this
 * build or this machine lacks it.  Any thread may call it.
 */
int video_ready(void);

/*
 * video_versions(f):
 * Print the versions of the FFmpeg libraries in use to ${f}, one line each.
 * Print nothing if this build or this machine lacks FFmpeg.
 */
void video_versions(FILE *f);

/* A video file that is being decoded. */
struct video;

/* Data from the headers.  Sizes are those of the upright frame. */
struct video_info {
	/* FFmpeg's names of the container, the codec and the pixel format */
	char format[32], codec[32], pixels[32];
	int width, height;		/* of the first frame, in pixels */
	struct plane_turn turn;		/* turns a stored frame upright */
	struct fraction tick;		/* unit of frame times, in seconds */
	struct fraction rate[2];	/* frames per second: the declared
					 * average, then FFmpeg's guess; 0/0 or
					 * 0/1 if unknown */
	double declared_seconds;	/* declared duration in seconds, 0 if
					 * absent */
	double likely_frames;		/* number of frames by ${rate[0]} and
					 * ${declared_seconds}, or by FFmpeg's
					 * estimate of the duration; 0 if
					 * unknown */
	size_t expected;		/* capacity to reserve for lists of
					 * frames: a little above
					 * ${likely_frames} */
};

/* Findings of decoding, complete once video_next has returned 0. */
struct video_account {
	int64_t frames;		/* returned by video_next so far */
	double decoded;		/* end of the last frame, in seconds from the
				 * first */
	int64_t repeats;	/* ticks for which the file repeats the last
				 * frame, known when it is returned */
	int truncated;		/* 1 if the file ends before its declared end */
	int64_t packets, listed;	/* packets of the stream: read, and
					 * listed in the file's index (-1: the
					 * format has no complete index) */
	int64_t samples;	/* frames in the index of mp4 and mov, also
				 * those that an edit list hides; 0 if
				 * unknown */
	int64_t damage;		/* packets or frames at which the demuxer or the
				 * decoder reported an error */
	int64_t packets_corrupt;	/* packets that the demuxer flagged */
	int64_t frames_corrupt;	/* frames that the decoder flagged */
	int64_t refused;	/* packets for which the decoder returned an
				 * error */
	int64_t errors;		/* error messages of FFmpeg */
	int64_t gaps;		/* gaps in a constant frame rate; not damage */
	double gap_time, gap_length;	/* first gap: time of the frame before
					 * it, and its length, in seconds */
	int64_t times_mended;	/* frames without a time, or not after the
				 * frame before; not damage */
	int resized;		/* 1 if a frame differs in size from the
				 * first */
	char message[160];	/* first error, "" if none */
	char cut[120];		/* where the container ends too early; "" if it
				 * does not, or if its format cannot show it */
};

struct video_limits {
	int64_t pixels;		/* maximum of one frame.  A larger frame is
				 * refused before memory is allocated. */
};

/*
 * video_open(fd, path, limits):
 * Open the best video stream of the regular file ${fd} and decode its first
 * frame.  Cover pictures are not video streams.  ${path} is for messages only,
 * and copied.  Return NULL after a message if no frame can be decoded; the
 * message says what the file is instead.  The caller keeps ${fd} open until
 * video_free, then closes it.
 */
struct video *video_open(int fd, const char *path,
    const struct video_limits *limits);

/* video_free(v): release ${v}, or do nothing if it is NULL. */
void video_free(struct video *v);

/*
 * video_info(v), video_account(v):
 * Return the headers' data, or the findings so far.  Valid until video_free.
 */
const struct video_info *video_info(const struct video *v);
const struct video_account *video_account(const struct video *v);

/*
 * video_next(v, frame):
 * Advance to the next frame and set ${*frame} to its times, in ticks.  Return
 * 1, or 0 after the last frame.  Return -1 after a message if the file cannot
 * be read, is encrypted or has a frame above the limit, or if memory is
 * exhausted.  Damage is not an error: it is counted, and decoding continues.
 * The last packet of a file is not decoded if it is incomplete.
 */
int video_next(struct video *v, struct video_frame *frame);

/*
 * video_hash(v, bytes, hash):
 * Set ${*hash} to the XXH3-64 of the whole file and ${*bytes} to its length.
 * The hash covers the bytes that the demuxer read in order; this call reads the
 * others.  Call it after the last video_next.  Return 0, or -1 after a message,
 * which video_next may have printed.
 */
int video_hash(struct video *v, uint64_t *bytes, uint64_t *hash);

/*
 * video_planes(v, w, h):
 * Return the current frame, upright, as ${w} by ${h} pixels in the format of
 * JPEG: 4:2:0, BT.601 weights, full range.  Shrinking averages areas, enlarging
 * is bicubic.  Call it only after video_next has returned 1.  Return NULL after
 * a message.  The result belongs to ${v} and is valid until its next call.
 *
 * Sources with other weights (BT.709, BT.2020, ...) or limited range are
 * converted.  A source without this information counts as BT.601 with limited
 * range.  Samples of more than 8 bits are rounded to 8.  The transfer function
 * is kept, also that of HDR.  Pixels count as square.  Interlaced frames stay
 * interleaved.  Transparency is dropped.
 */
const struct planes *video_planes(struct video *v, int w, int h);

/* video_rgb(v, w, h): as video_planes, but return RGB, [h][w][3]. */
const struct image *video_rgb(struct video *v, int w, int h);

/*
 * A converter for pictures that do not come from a video.  It keeps buffers
 * between calls and belongs to one thread at a time.
 */
struct picture;

/*
 * picture_new():
 * Return a converter, or NULL where video_ready fails.  The program ends if
 * memory is exhausted.
 */
struct picture *picture_new(void);

/* picture_free(p): release ${p}, or do nothing if it is NULL. */
void picture_free(struct picture *p);

/*
 * picture_planes(p, path, m, w, h), picture_rgb(p, path, m, w, h):
 * Convert the RGB image ${m} to ${w} by ${h} pixels, as video_planes or
 * video_rgb converts a frame.  ${path} is for messages only.  Return NULL after
 * a message.  The result belongs to ${p} and is valid until its next call.
 */
const struct planes *picture_planes(struct picture *p, const char *path,
    const struct image *m, int w, int h);
const struct image *picture_rgb(struct picture *p, const char *path,
    const struct image *m, int w, int h);

#endif
