/* JPEG files one after the other: ITU-T T.81, B. */
#include "media/container/reader.h"

enum { SOF = 0xffc0, SOI = 0xffd8, EOI = 0xffd9, SOS = 0xffda };

/* Does the marker begin a frame header, of which there is one? */
static int
is_size(int marker)
{
	return marker >= SOF && marker <= 0xffcf && marker != 0xffc4 &&
	    marker != 0xffc8 && marker != 0xffcc;
}

/* After the coded data that begins at ${at}: the next marker but a restart. */
static int64_t
skip_coded(struct reader *r, int64_t at)
{
	for (; at < r->size; at++) {
		int next;

		if (reader_byte(r, at) != 0xff)
			continue;
		next = reader_byte(r, at + 1);
		if (next > 0 && next != 0xff && !(next >= 0xd0 && next <= 0xd7))
			break;
	}
	return at;
}

enum container_state
mjpeg_check(struct reader *r)
{
	int64_t at = 0, start = 0;
	int inside = 0, sized = 0;

	if (reader_big(r, 0, 2) != SOI)
		return CONTAINER_WHOLE;		/* not ours to judge */
	while (at < r->size) {
		int marker = (int)reader_big(r, at, 2);

		if (at + 2 > r->size)
			return reader_cut(r, at);
		if (marker == SOI && !inside) {
			start = at;
			inside = 1;
			sized = 0;
			at += 2;
		} else if (marker == EOI && inside) {
			inside = 0;
			at += 2;
		} else if (inside && marker >= SOF && marker != SOI &&
		    marker != 0xffff) {
			if (is_size(marker) && sized++)
				return reader_broken(r, at, "two frames in "
				    "one");
			at += 2 + (int64_t)reader_big(r, at + 2, 2);
			if (at > r->size)
				return reader_cut(r, start);
			if (marker == SOS)
				at = skip_coded(r, at);
		} else {
			return reader_broken(r, at, "no %s begins here",
			    inside ? "part of a frame" : "frame");
		}
	}
	return inside ? reader_cut(r, start) : CONTAINER_WHOLE;
}
