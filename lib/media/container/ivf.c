/* IVF: a header of 32 bytes, then frames, each after its size and time. */
#include "media/container/reader.h"

enum container_state
ivf_check(struct container_reader *r)
{
	int64_t at = (int64_t)reader_little(r, 6, 2), frames = 0;
	int64_t length = (int64_t)reader_little(r, 24, 4), step = 0, first = 0;
	int64_t time = -1, scale = (int64_t)reader_little(r, 20, 4);
	int64_t per_second = (int64_t)reader_little(r, 16, 4) /
	    (scale > 0 ? scale : 1);

	while (at < r->size) {
		uint64_t size = reader_little(r, at, 4);
		int64_t now = (int64_t)reader_little(r, at + 4, 8);

		if (at + 12 > r->size)
			return reader_cut(r, at);
		if (size == 0 || now < 0 || (frames > 0 && now < time))
			return reader_broken(r, at, "no frame begins here");
		if (size > (uint64_t)(r->size - at - 12))
			return reader_cut(r, at);
		if (frames++ == 0)
			first = now;
		else
			step = now - time;
		time = now;
		at += 12 + (int64_t)size;
	}
	/* The header has the number of frames, or ticks in files of newer
	 * FFmpeg.  0 and UINT32_MAX mean unknown; a writer to a pipe leaves the
	 * latter. */
	if (length == 0 || length == UINT32_MAX)
		return CONTAINER_WHOLE;
	/* For one frame of up to a second, newer FFmpeg stores its duration in
	 * milliseconds. */
	if (frames == 1 && per_second >= 1000 && length <= per_second)
		length = 1;
	if (frames < length && time - first < length - step)
		return reader_cut(r, r->size);
	r->report->complete = 1;
	return CONTAINER_WHOLE;
}
