#ifndef BASE_DECODED_FRAME_H
#define BASE_DECODED_FRAME_H

/* The memory layout of a frame that is decoded but not resized
 * (media/raw.h).  The host writes it and a device reads it, so it has no
 * pointers. */

#include <stddef.h>
#include <stdint.h>

/*
 * A frame of ${w} x ${h} RGB pixels at ${pixels}, to be resized to side x side.
 * If ${across} is 0, it has that size already.  ${pixels} and ${taps} are byte
 * offsets from the beginning of the clip.
 *
 * The table at ${taps} has 32-bit integers: at[side] and k[side][across] for
 * the columns, then at[side] and k[side][down] for the rows.  Output pixel i of
 * an axis is the sum over j of input pixel at[i] + j with weight k[i][j].  An
 * index beyond the last input pixel means the last one; its weight is 0, or it
 * continues the edge.  base/resize_sums.h defines the arithmetic.
 */
struct decoded_frame {
	uint64_t pixels, taps;
	int32_t w, h;
	int32_t across, down;		/* taps per output pixel */
	int32_t antialias;		/* 0: bilinear */
	int32_t unused;
};

enum {
	RAW_ALIGN = 16,			/* bytes, of frames and tables */
	RAW_TAPS = 8			/* per pixel, as decoded_clip_bytes assumes */
};

/*
 * decoded_pixel_bytes(w, h):
 * Return the bytes of ${w} x ${h} RGB pixels, rounded up to RAW_ALIGN.
 * decoded_table_bytes(side, across, down):
 * Return the bytes of a table, rounded up to RAW_ALIGN.
 */
size_t decoded_pixel_bytes(int w, int h);
size_t decoded_table_bytes(int side, int across, int down);

/*
 * decoded_clip_bytes(t, side, w, h):
 * Return the buffer size in bytes for a clip of ${t} frames stored with at most
 * ${w} x ${h} pixels, a multiple of 64.  It suffices if a device shrinks each
 * frame by less than about 2, as after a decoder that can halve its output.
 * media/raw.c resizes larger frames on the host.
 */
size_t decoded_clip_bytes(int t, int side, int w, int h);

#endif
