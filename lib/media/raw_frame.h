#ifndef MEDIA_RAW_FRAME_H
#define MEDIA_RAW_FRAME_H

/* How a frame lies in memory that is not yet resized (media/raw.h). */

#include <stdint.h>

/*
 * A frame of ${side} x ${side} that the w x h pixels at ${pixels} become, or, if
 * ${across} is 0, already are.  Both places are bytes from the beginning of the
 * clip on.
 * The table at ${taps} is, of 32 bits each, at[side] and k[side][across] for the
 * columns, then at[side] and k[side][down] for the rows: place i is made of
 * at[i] + j with weight k[i][j]; what lies beyond the last one is that, of weight
 * 0 or the last one's own neighbour.  media/resize_sums.h says how.
 */
struct raw_frame {
	uint64_t pixels, taps;
	int32_t w, h;
	int32_t across, down;		/* taps of a place */
	int32_t antialias;		/* 0: bilinear */
	int32_t unused;
};

#endif
