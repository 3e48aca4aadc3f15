#ifndef DEMO_ENCODE_H
#define DEMO_ENCODE_H

#include "media/fps.h"
#include "media/image.h"

/*
 * Write frames to a video file, for tests and for the demo.  The extension of
 * the file selects the container.  The same frames give the same bytes with the
 * same version of FFmpeg.  An encoder must be used by one thread at a time;
 * several encoders may run at once.
 */
struct encoder;

struct encoder_options {
	const char *codec;	/* an FFmpeg encoder: "libx264", "mpeg4",
				 * "libvpx-vp9", "mjpeg", "ffv1" ... */
	int w, h;
	struct fraction fps;
	int quality;		/* 1 (worst) to 100 (best) */
	int keyframes;		/* maximal keyframe interval in frames; 0: the
				 * default of the codec */
};

/*
 * encoder_open(path, o): begin the file ${path}.  Return an encoder, or NULL
 * after a message, which names the codec if this FFmpeg lacks it.  The file
 * gets its name when it is complete.  encoder_done() or encoder_drop() frees
 * the encoder.
 */
struct encoder *encoder_open(const char *path, const struct encoder_options *o);

/*
 * encoder_add(e, m): add the next frame, RGB of the size in the options.
 * Return 0, or -1 after a message.
 */
int encoder_add(struct encoder *e, const struct image *m);

/*
 * encoder_done(e): complete the file and make it durable.  Return 0, or -1
 * after a message.  ${e} is freed in both cases.
 */
int encoder_done(struct encoder *e);

/* encoder_drop(e): free ${e} and discard the file; ${e} may be NULL. */
void encoder_drop(struct encoder *e);

/*
 * encoder_known(codec): return 1 if this FFmpeg has the encoder, else 0,
 * without a message.
 */
int encoder_known(const char *codec);

#endif
