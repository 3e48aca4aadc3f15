/*
 * Raw H.264 and HEVC (ITU-T H.264 and H.265, annex B) and MPEG-4 visual.  No
 * unit contains three zero bytes in a row; a few may follow it.  Missing frames
 * show only in their order, and headers must be decoded to see it:
 * media/ffmpeg/poc.c.
 */
#include "media/container/reader.h"

#define ZEROS 32		/* zero bytes; no writer pads with this many */

enum container_state
nal_check(struct container_reader *r)
{
	int64_t zeros = 0;

	for (int64_t at = 0; at < r->size;) {
		size_t n = 65536;
		const uint8_t *p = reader_bytes(r, at, &n);

		if (p == NULL)
			break;
		for (size_t i = 0; i < n; i++) {
			zeros = p[i] == 0 ? zeros + 1 : 0;
			if (zeros == ZEROS)
				return reader_broken(r, at + (int64_t)i + 1 -
				    ZEROS, "only zeros");
		}
		at += (int64_t)n;
	}
	return CONTAINER_WHOLE;
}
