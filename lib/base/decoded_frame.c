/* Sizes of decoded frames and of their resize tables. */
#include "base/number.h"
#include "base/decoded_frame.h"

size_t
decoded_pixel_bytes(int w, int h)
{
	return round_up(3 * (size_t)w * (size_t)h, RAW_ALIGN);
}

size_t
decoded_table_bytes(int side, int across, int down)
{
	return round_up(sizeof(int32_t) * (size_t)side *
	    (2 + (size_t)across + (size_t)down), RAW_ALIGN);
}

size_t
decoded_clip_bytes(int t, int side, int w, int h)
{
	/* A frame that shrinks by at most 2, plus the taps at its edges. */
	int largest = 2 * side + RAW_TAPS;
	size_t sized = decoded_pixel_bytes(side, side);
	size_t raw = decoded_pixel_bytes(w < largest ? w : largest, h < largest ? h : largest);

	return round_up((size_t)t * (sizeof(struct decoded_frame) + (raw > sized ?
	    raw : sized)) + decoded_table_bytes(side, RAW_TAPS, RAW_TAPS), 64);
}
