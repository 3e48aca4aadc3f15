#ifndef BASE_RAW_FRAME_H
#define BASE_RAW_FRAME_H

/* How a frame lies in memory that is not yet resized (media/raw.h). */

#include <stddef.h>
#include <stdint.h>

/*
 * A frame of ${side} x ${side} that the w x h pixels at ${pixels} become, or, if
 * ${across} is 0, already are.  Both places are bytes from the beginning of the
 * clip on.
 * The table at ${taps} is, of 32 bits each, at[side] and k[side][across] for the
 * columns, then at[side] and k[side][down] for the rows: place i is made of
 * at[i] + j with weight k[i][j]; what lies beyond the last one is that, of weight
 * 0 or the last one's own neighbour.  base/resize_sums.h says how.
 */
struct raw_frame {
	uint64_t pixels, taps;
	int32_t w, h;
	int32_t across, down;		/* taps of a place */
	int32_t antialias;		/* 0: bilinear */
	int32_t unused;
};

enum {
	RAW_ALIGN = 16,			/* bytes: where frames and tables begin */
	RAW_TAPS = 8			/* of a place that raw_room allows for */
};

/*
 * raw_pixel_bytes(w, h): the bytes of ${w} x ${h} pixels, aligned.
 * raw_table_bytes(side, across, down): the bytes of a table, aligned.
 */
size_t raw_pixel_bytes(int w, int h);
size_t raw_table_bytes(int side, int across, int down);

/*
 * raw_room(t, side, w, h): the bytes that a clip should have room for whose
 * frames are ${w} x ${h} as they are stored, at the most; a multiple of 64.  They
 * are enough for frames that are shrunk to half and less short of it, as all are
 * whose decoder can halve them.
 */
size_t raw_room(int t, int side, int w, int h);

#endif
