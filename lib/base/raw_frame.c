/* Sizes of decoded frames and of their resize tables. */
#include "base/number.h"
#include "base/raw_frame.h"

size_t
raw_pixel_bytes(int w, int h)
{
	return round_up(3 * (size_t)w * (size_t)h, RAW_ALIGN);
}

size_t
raw_table_bytes(int side, int across, int down)
{
	return round_up(sizeof(int32_t) * (size_t)side *
	    (2 + (size_t)across + (size_t)down), RAW_ALIGN);
}

size_t
raw_room(int t, int side, int w, int h)
{
	/* A frame that shrinks by at most 2, plus the taps at its edges. */
	int most = 2 * side + RAW_TAPS;
	size_t sized = raw_pixel_bytes(side, side);
	size_t raw = raw_pixel_bytes(w < most ? w : most, h < most ? h : most);

	return round_up((size_t)t * (sizeof(struct raw_frame) + (raw > sized ?
	    raw : sized)) + raw_table_bytes(side, RAW_TAPS, RAW_TAPS), 64);
}
