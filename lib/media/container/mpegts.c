/*
 * MPEG transport streams, ISO/IEC 13818-1, 2.4.3: packets of one size.  Each
 * stream numbers its packets from 0 to 15.  Files may be concatenated; packet
 * numbers and times restart at each join.
 */
#include "media/container/reader.h"

#define SYNC 0x47

/*
 * Return the size of a packet, or 0 if unknown.  Set ${*lead} to the bytes
 * before its 188 bytes of ISO/IEC 13818-1.
 */
static int
mpegts_packet_bytes(struct container_reader *r, int *lead)
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

/*
 * Return 1 if time stamp ${a} is at or after ${b}.  Time stamps wrap at 2^33.
 */
static int
mpegts_is_after(int64_t a, int64_t b)
{
	return ((a - b) & 0x1ffffffff) < 0x100000000;
}

/* Return the 33-bit time stamp at ${at}. */
static int64_t
mpegts_time_stamp(struct container_reader *r, int64_t at)
{
	uint64_t v = reader_big(r, at, 5);

	return (int64_t)((v >> 33 & 7) << 30 | (v >> 17 & 0x7fff) << 15 |
	    (v >> 1 & 0x7fff));
}

/*
 * 2.4.3.6: read the header of a stream's packet, which has the decoding and
 * display times of the frame that begins in it.  Return -1 if there is no
 * header, 1 if an appended file begins here, else 0.
 *
 * An appended file sets time back, and starts with a frame that is a key frame
 * (${is_key}) or is decoded at ${*first} or before.  A leading picture is
 * displayed before the first frame, but decoded after it.  Lost packets never
 * set time back.
 */
static int
mpegts_read_header(struct container_reader *r, int64_t at, int is_key,
    int64_t *first)
{
	int64_t time = mpegts_time_stamp(r, at + 9),
	    *newest = &r->report->newest;
	int64_t decoded = time;
	int appended, has = reader_byte(r, at + 7);

	if (reader_big(r, at, 3) != 1)
		return -1;
	if (!(has & 0x80))
		return 0;
	if (has & 0x40)
		decoded = mpegts_time_stamp(r, at + 14);
	appended = *newest >= 0 && mpegts_is_after(*newest, time) &&
	    (is_key || mpegts_is_after(*first, decoded));
	if (*newest < 0 || appended) {
		*first = decoded;
		*newest = time;
	} else if (mpegts_is_after(time, *newest)) {
		*newest = time;
	}
	return appended;
}

enum container_state
mpegts_check(struct container_reader *r)
{
	int lead, n = mpegts_packet_bytes(r, &lead), last = -1;
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
			header = mpegts_read_header(r, at + 4 + (has_field ? 1 +
			    reader_byte(r, at + 4) : 0), field & 0x40, &first);
		if (header < 0)
			return reader_broken(r, at, "the header of a frame is "
			    "missing");
		if (head & 0x800000)
			return reader_broken(r, at, "a packet that was "
			    "received with errors");
		/* A packet may be repeated once, with the same head. */
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
