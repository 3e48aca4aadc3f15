/*
 * DHAV, the files of Dahua's recorders, as FFmpeg's libavformat/dhav.c reads
 * them: frames that begin with "DHAV" and a length, and end with "dhav" and the
 * same length.  A recorder may write 1024 bytes of its own before the first.
 */
#include "media/container/reader.h"

enum { HEAD = 24, TAIL = 8, OWN = 1024 };

enum container_state
dhav_check(struct container_reader *r)
{
	static const uint64_t begin = 0x44484156, end = 0x64686176;
	int64_t at = reader_big(r, 0, 5) == 0x4441485541 ? OWN : 0, n;

	for (; at < r->size; at += n) {
		n = (int64_t)reader_little(r, at + 12, 4);
		if (at + HEAD > r->size)
			return reader_cut(r, at);
		if (reader_big(r, at, 4) != begin || n < HEAD + TAIL)
			return reader_broken(r, at, "no frame begins here");
		if (n > r->size - at)
			return reader_cut(r, at);
		if (reader_big(r, at + n - TAIL, 4) != end ||
		    (int64_t)reader_little(r, at + n - 4, 4) != n)
			return reader_broken(r, at, "a frame of %lld bytes "
			    "does not end there", (long long)n);
	}
	return CONTAINER_WHOLE;
}
