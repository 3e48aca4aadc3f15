/*
 * Ogg, RFC 3533, 6: pages, each with a checksum and a number that counts within
 * its stream.
 */
#include "media/container/reader.h"

#define STREAMS 32		/* maximum streams checked; others are
				 * ignored */
#define FIRST 2			/* page flags: first page of its stream, */
#define LAST 4			/* last page */

/*
 * A stream.  ${next} is the number of its next page.  ${open} is 1 until its
 * last page.  ${has_data} is 1 after a page with a granule position above 0.
 */
struct ogg_stream { uint32_t serial, next; int open, has_data; };

/* Return the checksum of the page of ${n} bytes at ${at}. */
static uint32_t
ogg_checksum(struct container_reader *r, int64_t at, int64_t n)
{
	static const int64_t field = 22;	/* offset of the checksum, which
						 * counts as 0 */
	uint32_t crc = reader_crc(r, at, field, 0, 1);

	/* Advance the CRC over the field's 32 zero bits. */
	for (int i = 0; i < 32; i++)
		crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
	return reader_crc(r, at + field + 4, n - field - 4, crc, 1);
}

/*
 * Return the stream ${serial}, which may be new, or NULL if there are too many.
 */
static struct ogg_stream *
ogg_find(struct ogg_stream *s, int *n, uint32_t serial)
{
	for (int i = 0; i < *n; i++)
		if (s[i].serial == serial)
			return &s[i];
	if (*n == STREAMS)
		return NULL;
	s[*n] = (struct ogg_stream){ .serial = serial };
	return &s[(*n)++];
}

enum container_state
ogg_check(struct container_reader *r)
{
	struct ogg_stream known[STREAMS], *s;
	int64_t at = 0;
	int n = 0, all = 0;

	while (at < r->size) {
		int segments = reader_byte(r, at + 26);
		int flags = reader_byte(r, at + 5);
		int64_t next = at + 27 + segments;
		uint32_t number = (uint32_t)reader_little(r, at + 18, 4);

		if (segments < 0)
			return reader_cut(r, at);
		if (reader_big(r, at, 4) != 0x4f676753)	/* "OggS" */
			return reader_broken(r, at, "no page begins here");
		for (int i = 0; i < segments; i++)
			next += reader_byte(r, at + 27 + i);
		if (next > r->size)
			return reader_cut(r, at);
		if (ogg_checksum(r, at, next - at) != reader_little(r, at + 22,
		    4))
			return reader_broken(r, at, "the checksum of the page "
			    "is wrong");
		s = ogg_find(known, &n, (uint32_t)reader_little(r, at + 14, 4));
		if (s != NULL) {
			if (!(flags & FIRST) && number != s->next)
				return reader_broken(r, at, "page %u of a "
				    "stream (wanted %u)", number, s->next);
			s->next = number + 1;
			s->open = !(flags & LAST);
			s->has_data |= reader_little(r, at + 6, 8) != 0;
		}
		at = next;
	}
	for (int i = 0; i < n; i++)
		all |= known[i].has_data;
	/* A stream that has only headers may lack its last page if another
	 * stream has data. */
	for (int i = 0; i < n; i++)
		if (known[i].open && (known[i].has_data || !all))
			return reader_cut(r, r->size);
	/* All streams have their last page. */
	r->report->complete = n < STREAMS;
	return CONTAINER_WHOLE;
}
