#ifndef MEDIA_PHASH_H
#define MEDIA_PHASH_H

/*
 * A perceptual hash of a video: 64 bits, most of which stay the same if the
 * video is encoded or resized again.
 *
 * Up to 32 frames, at equal distances in the order of the frames, are reduced
 * to 32 x 32 means of luma.  Those nearest to 16 relative times (i + 1/2) / 16
 * are transformed by a DCT over time, rows and columns.  The coefficients of
 * the lowest frequencies u + v, without that of the mean, give the bits:
 *
 *	bits 0 to 31	of the sum over time, 32 coefficients
 *	bits 32 to 47	of temporal frequency 1, 16 coefficients
 *	bits 48 to 63	of temporal frequency 2, 16 coefficients
 *
 * A single frame gives 64 coefficients of its own.  A bit is 1 if its
 * coefficient exceeds the median of its row above by more than noise.  Sources:
 * Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions",
 * 2010, for images; Coskun et al., "Spatio-Temporal Transform Based Video
 * Hashing", IEEE Transactions on Multimedia 8(6), 2006.
 */

#include <stdint.h>

#include "media/image.h"

enum { PHASH_SIDE = 32, PHASH_FRAMES = 32 };

/* The frames so far.  Begin with all 0. */
struct phash {
	int frames;			/* reduced frames kept */
	int64_t seen;			/* frames offered */
	int64_t every;			/* keep frames 0, every, ...; 0: 1 */
	uint8_t mean[PHASH_FRAMES][PHASH_SIDE * PHASH_SIDE];
};

/*
 * phash_wants(p): return 1 if the next frame is used, or count it and return 0.
 * Then one of the next two functions adds it.
 * phash_luma(p, y, stride, w, h): add a frame by its luma.
 * phash_rgb(p, m): add a frame of 3 channels, 8 bits each.
 */
int phash_wants(struct phash *p);
void phash_luma(struct phash *p, const uint8_t *y, int stride, int w, int h);
void phash_rgb(struct phash *p, const struct image *m);

/*
 * phash_end(p):
 * Return the hash, 0 without frames.  A video without structure, such as a
 * black one, also has 0.  Integers only, so that all machines agree.
 */
uint64_t phash_end(const struct phash *p);

#endif
