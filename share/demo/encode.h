#ifndef DEMO_ENCODE_H
#define DEMO_ENCODE_H

#include "media/fps.h"
#include "media/image.h"

/*
 * Frames to a video file, for tests and for the demo's own videos.  The
 * container follows from the extension.  The same frames give the same bytes
 * with the same FFmpeg.  One thread per encoder; several may run at once.
 */
struct encoder;

struct encoder_options {
	const char *codec;	/* FFmpeg's name of an encoder: "libx264",
				 * "mpeg4", "libvpx-vp9", "mjpeg", "ffv1" ... */
	int w, h;
	struct fraction fps;
	int quality;		/* 1 worst to 100 best; 75 is ordinary */
	int keyframes;		/* at most so many frames apart; 0: the codec's
				 * own choice */
};

/*
 * encoder_open(path, o): NULL after a message, which names the encoder if this
 * FFmpeg lacks it.  The file gets its name when it is complete.
 */
struct encoder *encoder_open(const char *path, const struct encoder_options *o);

/* encoder_add(e, m): the next frame, RGB of the size that was said. */
int encoder_add(struct encoder *e, const struct image *m);

/* encoder_done(e): complete the file, durably; frees ${e} in any case. */
int encoder_done(struct encoder *e);

/* encoder_drop(e): without a file; NULL is fine. */
void encoder_drop(struct encoder *e);

/* encoder_known(codec): 1 if this FFmpeg has the encoder, without a message. */
int encoder_known(const char *codec);

#endif
