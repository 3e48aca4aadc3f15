/*
 * MPEG program streams, ISO/IEC 11172-1, 2.4.3 and 13818-1, 2.5.3: a sequence
 * of packs and packets, each with a start code.
 */
#include "media/container/reader.h"

enum { END = 0x1b9, PACK = 0x1ba, SYSTEM = 0x1bb, VIDEO = 0x1e0 };

#define ZEROS 512		/* zero bytes after a packet; a block that a
				 * disk lost has at least this many */

/*
 * A sector of a Video CD ends with 20 zero bytes, unless it has video.  Return
 * the number of zero bytes at ${at} if a pack, the end of the stream or of the
 * file follows them; otherwise 0.
 */
static int64_t
mpegps_zeros(struct container_reader *r, int64_t at)
{
	int64_t n = 0;
	uint64_t code;

	while (n < ZEROS && reader_byte(r, at + n) == 0)
		n++;
	if (at + n == r->size)
		return n < ZEROS ? n : 0;
	/* Two of the zeros belong to the start code. */
	code = reader_big(r, at + n - 2, 4);
	return n > 2 && n < ZEROS && (code == PACK || code == END) ? n - 2 : 0;
}

enum container_state
mpegps_check(struct container_reader *r)
{
	int64_t at = 0, n;
	uint64_t last = 0;

	if (reader_big(r, 0, 4) != PACK)
		return CONTAINER_WHOLE;		/* unknown structure: not
						 * checked */
	for (; at < r->size; at += n) {
		uint64_t code = reader_big(r, at, 4), before = last;
		int second = reader_byte(r, at + 4);

		last = code;
		if (before >= SYSTEM && before < VIDEO &&
		    (n = mpegps_zeros(r, at)) > 0)
			continue;
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
