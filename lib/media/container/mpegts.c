/*
 * MPEG transport streams, ISO/IEC 13818-1, 2.4.3: packets of one size, which
 * each stream numbers from 0 to 15.  Files are joined by appending one to the
 * other: there numbers and times begin anew.
 */
#include "media/container/reader.h"

#define SYNC 0x47

/* Bytes of a packet, of which 188 count; ${*lead} come before those. */
static int
packet_bytes(struct reader *r, int *lead)
{
	static const int kind[][2] = { { 188, 0 }, { 192, 4 }, { 204, 0 } };

	for (int i = 0; i < 3; i++) {
		int n = kind[i][0];

		*lead = kind[i][1];
		if (reader_byte(r, *lead) == SYNC &&
		    reader_byte(r, *lead + n) == SYNC &&
		    reader_byte(r, *lead + 2 * n) == SYNC)
			return n;
	}
	return 0;
}

/* Is time stamp ${a} at or after ${b}?  They begin anew after 2^33. */
static int
is_after(int64_t a, int64_t b)
{
	return ((a - b) & 0x1ffffffff) < 0x100000000;
}

/*
 * 2.4.3.6: the header of a packet of a stream, which says when the frame that
 * begins in it is shown.  -1 if there is none.  1 if a file that was appended
 * begins here: time goes back to ${*first} or before, or at all to a frame that
 * ${is_key}.  Where packets were lost it never does.
 */
static int
read_header(struct reader *r, int64_t at, int is_key, int64_t *first)
{
	uint64_t pts = reader_big(r, at + 9, 5);
	int64_t time = (int64_t)((pts >> 33 & 7) << 30 | (pts >> 17 & 0x7fff) <<
	    15 | (pts >> 1 & 0x7fff)), *newest = &r->report->newest;
	int anew;

	if (reader_big(r, at, 3) != 1)
		return -1;
	if (!(reader_byte(r, at + 7) & 0x80))
		return 0;
	anew = *newest >= 0 && is_after(*newest, time) &&
	    (is_key || is_after(*first, time));
	if (*newest < 0 || anew)
		*first = *newest = time;
	else if (is_after(time, *newest))
		*newest = time;
	return anew;
}

enum container_state
mpegts_check(struct reader *r)
{
	int lead, n = packet_bytes(r, &lead), last = -1;
	int64_t first = -1;
	uint64_t last_head = 0;

	for (int64_t at = lead; n > 0 && at < r->size; at += n) {
		uint64_t head = reader_big(r, at, 4);
		int has_field = head & 0x20, has_data = head & 0x10;
		int count = head & 15;
		int field = has_field && reader_byte(r, at + 4) > 0 ?
		    reader_byte(r, at + 5) : 0;
		int jumps = field & 0x80, header = 0;

		if (head >> 24 != SYNC)
			return reader_broken(r, at, "no packet begins here");
		if (at + 188 > r->size)
			return reader_cut(r, at);
		if ((int)(head >> 8 & 0x1fff) != r->id)
			continue;
		if (head & 0x400000 && has_data)
			header = read_header(r, at + 4 + (has_field ? 1 +
			    reader_byte(r, at + 4) : 0), field & 0x40, &first);
		if (header < 0)
			return reader_broken(r, at, "the header of a frame is "
			    "missing");
		if (head & 0x800000)
			return reader_broken(r, at, "a packet that was received "
			    "with errors");
		/* A packet may be there twice. */
		r->report->appended += header;
		if (has_data && last >= 0 && !jumps && header == 0 &&
		    count != (last + 1) % 16 && head != last_head)
			return reader_broken(r, at, "packet %d of a stream "
			    "(wanted %d)", count, (last + 1) % 16);
		if (has_data || jumps) {
			last = count;
			last_head = head;
		}
	}
	return CONTAINER_WHOLE;
}
