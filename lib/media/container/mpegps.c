/*
 * MPEG program streams, ISO/IEC 11172-1, 2.4.3 and 13818-1, 2.5.3: a sequence
 * of packs and packets, each with a start code.
 */
#include "media/container/reader.h"

enum { END = 0x1b9, PACK = 0x1ba, SYSTEM = 0x1bb };

enum container_state
mpegps_check(struct reader *r)
{
	int64_t at = 0, n;

	if (reader_big(r, 0, 4) != PACK)
		return CONTAINER_WHOLE;		/* unknown structure: not
						 * checked */
	for (; at < r->size; at += n) {
		uint64_t code = reader_big(r, at, 4);
		int second = reader_byte(r, at + 4);

		if (at + 4 > r->size)
			return reader_cut(r, at);
		if (code == END)
			n = 4;
		else if (code == PACK && second >> 6 == 1)
			n = 14 + (reader_byte(r, at + 13) & 7);
		else if (code == PACK && second >> 4 == 2)
			n = 12;
		else if (code >= SYSTEM && code <= 0x1ff)
			n = 6 + (int64_t)reader_big(r, at + 4, 2);
		else
			return reader_broken(r, at, "no packet begins here");
		if (n > r->size - at)
			return reader_cut(r, at);
	}
	return CONTAINER_WHOLE;
}
