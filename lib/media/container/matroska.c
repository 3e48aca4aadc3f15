/*
 * Matroska and WebM, RFC 8794 and RFC 9559: elements of an identifier, a size
 * and content.  Some begin with a checksum of the rest of their content.
 */
#include "media/container/reader.h"

#define UNKNOWN INT64_MAX	/* size of an element whose writer did not know
				 * it */

enum { EBML = 0x1a45dfa3, SEGMENT = 0x18538067, CLUSTER = 0x1f43b675,
	VOID = 0xec, CRC = 0xbf };

struct matroska_element { uint32_t id; int64_t at, data, size; };

/* Elements allowed in a segment, and in a cluster. */
static const uint32_t in_segment[] = { 0x114d9b74, 0x1549a966, 0x1654ae6b,
	CLUSTER, 0x1c53bb6b, 0x1254c367, 0x1941a469, 0x1043a770, VOID, CRC, 0 };
static const uint32_t in_cluster[] = { 0xe7, 0x5854, 0xa7, 0xab, 0xa3, 0xa0,
	0xaf, VOID, CRC, 0 };

static int
matroska_is_one_of(uint32_t id, const uint32_t *list)
{
	while (*list != 0)
		if (*list++ == id)
			return 1;
	return 0;
}

/*
 * Return the size in bytes of a number whose first byte is ${first}; above 8 if
 * invalid.
 */
static int
matroska_number_bytes(int first)
{
	int n = 1;

	while (n <= 8 && !(first & 0x80 >> (n - 1)))
		n++;
	return n;
}

/*
 * Read the head of the element at ${at}.  Return 0, or -1 if none begins there.
 */
static int
matroska_read_head(struct container_reader *r, int64_t at,
    struct matroska_element *e)
{
	int n = matroska_number_bytes(reader_byte(r, at)), k;
	uint64_t size;

	e->at = at;
	if (reader_byte(r, at) < 0 || n > 4)
		return -1;
	e->id = (uint32_t)reader_big(r, at, n);
	k = matroska_number_bytes(reader_byte(r, at + n));
	if (reader_byte(r, at + n) < 0 || k > 8)
		return -1;
	size = reader_big(r, at + n, k) & ((UINT64_C(1) << 7 * k) - 1);
	e->data = at + n + k;
	e->size = size == (UINT64_C(1) << 7 * k) - 1 ? UNKNOWN : (int64_t)size;
	return 0;
}

/* Return 1 if ${e} begins with a checksum and the rest does not match it. */
static int
matroska_is_changed(struct container_reader *r,
    const struct matroska_element *e)
{
	if (e->size == UNKNOWN || e->size < 6 ||
	    reader_big(r, e->data, 2) != (CRC << 8 | 0x84))
		return 0;
	return reader_little(r, e->data + 2, 4) !=
	    reader_crc(r, e->data + 6, e->size - 6, 0, 0);
}

/*
 * Check the head of the element at ${at}, which must be in ${list} and end by
 * ${end}.
 */
static enum container_state
matroska_check_head(struct container_reader *r, int64_t at, int64_t end,
    struct matroska_element *e, const uint32_t *list)
{
	int head = matroska_read_head(r, at, e);

	if (head != 0 && at + 12 > r->size)
		return reader_cut(r, at);
	if (head != 0 || !matroska_is_one_of(e->id, list))
		return reader_broken(r, at, "no element begins here");
	if (e->size == UNKNOWN)
		return e->id == CLUSTER ? CONTAINER_WHOLE :
		    reader_broken(r, at, "an element without a size");
	if (e->size > end - e->data)
		return end == r->size ? reader_cut(r, at) :
		    reader_broken(r, at, "an element extends beyond its "
		    "parent");
	return CONTAINER_WHOLE;
}

/* Check the elements of a cluster, and set ${*at} to its end. */
static enum container_state
matroska_check_cluster(struct container_reader *r,
    const struct matroska_element *c, int64_t end, int64_t *at)
{
	enum container_state state;
	struct matroska_element e;

	*at = c->data;
	if (c->size != UNKNOWN)
		end = c->data + c->size;
	for (; *at < end; *at = e.data + e.size) {
		if (c->size == UNKNOWN && matroska_read_head(r, *at, &e) == 0 &&
		    !matroska_is_one_of(e.id, in_cluster) &&
		    matroska_is_one_of(e.id, in_segment))
			break;
		state = matroska_check_head(r, *at, end, &e, in_cluster);
		if (state != CONTAINER_WHOLE)
			return state;
	}
	return CONTAINER_WHOLE;
}

enum container_state
matroska_check(struct container_reader *r)
{
	enum container_state state;
	struct matroska_element e;
	int64_t at, end = r->size;
	int sized;

	if (matroska_read_head(r, 0, &e) != 0 || e.id != EBML ||
	    e.size > r->size || matroska_read_head(r, e.data + e.size, &e) !=
	    0 || e.id != SEGMENT)
		return CONTAINER_WHOLE;		/* unknown structure: not
						 * checked */
	sized = e.size != UNKNOWN;
	if (sized) {
		if (e.size > r->size - e.data)
			return reader_cut(r, r->size);
		end = e.data + e.size;
	}
	for (at = e.data; at < end;) {
		state = matroska_check_head(r, at, end, &e, in_segment);
		if (state == CONTAINER_WHOLE && matroska_is_changed(r, &e))
			state = reader_broken(r, at, "the checksum is wrong");
		if (state == CONTAINER_WHOLE && e.id == CLUSTER)
			state = matroska_check_cluster(r, &e, end, &at);
		else if (state == CONTAINER_WHOLE)
			at = e.data + e.size;
		if (state != CONTAINER_WHOLE)
			return state;
	}
	r->report->complete = sized;
	return CONTAINER_WHOLE;
}
