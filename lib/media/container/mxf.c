/* MXF, SMPTE ST 377-1, 6.3 and 7: triplets of key, length and value. */
#include "media/container/reader.h"

#define RUN_IN 65536		/* maximum bytes before the first key */
#define KEY 0x060e2b34		/* first bytes of every key */

enum container_state
mxf_check(struct container_reader *r)
{
	int64_t at = 0, start;
	uint64_t footer = 0;

	while (at < RUN_IN && reader_big(r, at, 4) != KEY)
		at++;
	start = at;
	if (at == RUN_IN)
		return CONTAINER_WHOLE;		/* unknown structure: not
						 * checked */
	while (at < r->size) {
		int first = reader_byte(r, at + 16), more;
		uint64_t n = (uint64_t)(first & 127);
		int64_t data;

		if (at + 17 > r->size)
			return reader_cut(r, at);
		if (reader_big(r, at, 4) != KEY)
			return reader_broken(r, at, "no key begins here");
		more = first & 128 ? first & 127 : 0;
		if (more > 8)
			return reader_broken(r, at, "no length after the key");
		if (more > 0)
			n = reader_big(r, at + 17, more);
		data = at + 17 + more;
		if (n > (uint64_t)(r->size - data) || data > r->size)
			return reader_cut(r, at);
		/*
		 * A partition pack has the offset of the last one, the footer.
		 */
		if (reader_big(r, at + 4, 4) == 0x02050101 &&
		    reader_big(r, at + 8, 5) == 0x0d01020101 &&
		    reader_byte(r, at + 13) >= 2 &&
		    reader_byte(r, at + 13) <= 4)
			footer = reader_big(r, data + 24, 8);
		at = data + (int64_t)n;
	}
	return footer > (uint64_t)(r->size - start) ? reader_cut(r, r->size) :
	    CONTAINER_WHOLE;
}
