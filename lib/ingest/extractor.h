#ifndef INGEST_EXTRACTOR_H
#define INGEST_EXTRACTOR_H

/*
 * State and functions shared by the extraction of videos (extract.c) and of
 * folders of frames (extract_folder.c).
 */

#include "ingest/flow.h"
#include "media/phash.h"

/*
 * Codecs and buffers reused from video to video.  Buffers grow to the largest
 * need.
 */
struct extractor {
	struct jpeg_encoder *jpeg;
	struct jpeg_decoder *decoder;	/* for frames of a folder */
	/* resizes frames of a folder */
	struct picture *picture;
	struct image pixels;		/* a decoded PNG */
	struct buffer file, bytes;	/* a frame of a folder: its file; a
					 * frame encoded */
	struct phash phash;		/* of the stored frames */
	struct flow_maker *flow;	/* NULL: without flow */
	int64_t *time;			/* of each stored frame, in ticks */
	size_t cap;
};

/*
 * extract_add_frame(o, e, x, encode, of):
 * Store one frame at the size of ${x} and at each smaller level of ${o}.
 * ${encode}(of, w, h) puts the frame of ${w} x ${h} pixels into ${e->bytes},
 * and returns 0, or -1 after a message.  Return 0, or -1 after a message.
 */
int extract_add_frame(const struct extract_options *o, struct extractor *e,
    struct extraction *x, int (*encode)(void *of, int w, int h), void *of);

/*
 * extract_folder(row, o, e, x):
 * Do what extract_video does, for a folder of frames.  With a NULL ${e}, do
 * what extract_probe does.  Messages are printed with fail(); extract_video
 * collects them.
 */
void extract_folder(const struct list_row *row,
    const struct extract_options *o, struct extractor *e, struct extraction *x);

/*
 * extract_other_count(path, frames, listed):
 * Report that the video ${path} has ${frames} frames but its list declares
 * ${listed}.  Return -1 after the message.
 */
int extract_other_count(const char *path, int64_t frames, int64_t listed);

/*
 * extract_lone_frame(path):
 * Report that the video ${path} has one frame, and so no flow.  Return -1 after
 * the message.
 */
int extract_lone_frame(const char *path);

#endif
