/*
 * AVI: RIFF chunks.  The list "movi" contains the frames of a stream as chunks,
 * and an index after it lists them again.  A frame in the index that "movi"
 * lacks is lost.  A writer to a pipe leaves sizes of 0xffffffff and writes no
 * index.  The index of OpenDML 1.02, "indx" in the header of a stream, is
 * enough
 * alone: it has the places of indexes "ix00" in the lists "movi".  An empty
 * chunk repeats the frame before it.
 */
#include "media/container/reader.h"

#define UNKNOWN 0xffffffff	/* size that the writer could not fill in */
#define TAG(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

static const uint32_t RIFF = TAG('R', 'I', 'F', 'F'),
    LIST = TAG('L', 'I', 'S', 'T'), MOVI = TAG('m', 'o', 'v', 'i'),
    REC = TAG('r', 'e', 'c', ' '), JUNK = TAG('J', 'U', 'N', 'K'),
    IDX1 = TAG('i', 'd', 'x', '1'), HDRL = TAG('h', 'd', 'r', 'l'),
    AVIH = TAG('a', 'v', 'i', 'h'), STRL = TAG('s', 't', 'r', 'l'),
    INDX = TAG('i', 'n', 'd', 'x');

struct avi {
	int riffs;
	int64_t found, listed;		/* frames of our stream in the first
					 * movi, and in idx1 */
	int64_t all, places;		/* frames in all movi, and the offset of
					 * our stream's indx, 0 without */
	int streams;			/* headers found */
	int has_index, wants_index;
};

static int
avi_is_digit(int c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/*
 * Return the stream of a chunk such as "01wb" or "ix01", or -1 if it belongs to
 * none.
 */
static int
avi_stream_of(uint32_t tag)
{
	int a = tag >> 24, b = tag >> 16 & 255, c = tag >> 8 & 255,
	    d = tag & 255;

	if (a == 'i' && b == 'x')
		a = c, b = d, c = d = 'x';
	if (!avi_is_digit(a) || !avi_is_digit(b) || c < ' ' || d < ' ')
		return -1;
	a = a <= '9' ? a - '0' : (a | 32) - 'a' + 10;
	b = b <= '9' ? b - '0' : (b | 32) - 'a' + 10;
	return 16 * a + b;
}

static int
avi_is_data(uint32_t tag)
{
	return avi_stream_of(tag) >= 0 && tag >> 16 != ('i' << 8 | 'x');
}

static enum container_state
avi_check_movi(struct container_reader *r, int64_t at, int64_t end,
    struct avi *a)
{
	while (at + 8 <= end) {
		uint32_t tag = (uint32_t)reader_big(r, at, 4);
		int64_t n = (int64_t)reader_little(r, at + 4, 4);

		if (at + 8 > r->size)
			return reader_cut(r, at);
		if (tag == LIST && reader_big(r, at + 8, 4) == REC) {
			at += 12;
			continue;
		}
		if (avi_stream_of(tag) < 0 && tag != JUNK && tag != IDX1)
			return reader_broken(r, at, "no chunk begins here");
		if (n > r->size - at - 8)
			return reader_cut(r, at);
		if (n > end - at - 8)
			return reader_broken(r, at, "a chunk extends beyond "
			    "its list");
		if (avi_is_data(tag) && avi_stream_of(tag) == r->id) {
			a->all++;
			a->found += a->riffs == 1;
			r->report->repeats = n == 0 ? r->report->repeats + 1 :
			    0;
		}
		at += 8 + n + (n & 1);
	}
	return CONTAINER_WHOLE;
}

/* Read from the chunks of a header, "hdrl" or a "strl" in it, whether the file
 * has an index, and where OpenDML's is. */
static void
avi_read_header(struct container_reader *r, int64_t at, int64_t end,
    struct avi *a)
{
	int64_t n;

	for (; at + 12 <= end; at += 8 + n + (n & 1)) {
		uint32_t tag = (uint32_t)reader_big(r, at, 4);

		n = (int64_t)reader_little(r, at + 4, 4);
		if (tag == AVIH)
			a->wants_index |= (reader_little(r, at + 20, 4) & 0x10)
			    != 0;
		else if (tag == INDX && a->streams == r->id + 1)
			a->places = at;
		else if (tag == LIST && reader_big(r, at + 8, 4) == STRL) {
			a->streams++;
			avi_read_header(r, at + 12, at + 8 + n < end ?
			    at + 8 + n : end, a);
		}
	}
}

/*
 * OpenDML 1.02, 3: compare the indexes whose offsets are at a->places, 16 bytes
 * each, with the frames found.  An index without a second level lists the
 * frames itself.
 */
static enum container_state
avi_check_places(struct container_reader *r, const struct avi *a)
{
	int64_t n = (int64_t)reader_little(r, a->places + 12, 4), listed = 0;
	int64_t at = a->places + 32;

	if (reader_byte(r, a->places + 11) != 0)
		listed = n;
	else for (; n > 0; n--, at += 16) {
		int64_t ix = (int64_t)reader_little(r, at, 8);

		if (ix < 0 || ix > r->size - 24)
			return reader_cut(r, r->size);
		if (avi_stream_of((uint32_t)reader_big(r, ix, 4)) != r->id)
			return reader_broken(r, at, "no index begins at byte "
			    "%lld", (long long)ix);
		listed += (int64_t)reader_little(r, ix + 12, 4);
	}
	return a->all < listed ? reader_broken(r, a->places, "%lld of the %lld "
	    "frames that the index lists", (long long)a->all,
	    (long long)listed) : CONTAINER_WHOLE;
}

/* Check the chunks of a RIFF, "AVI " or "AVIX", up to ${end}. */
static enum container_state
avi_check_riff(struct container_reader *r, int64_t at, int64_t end,
    struct avi *a)
{
	enum container_state state;

	while (at + 8 <= end) {
		uint32_t tag = (uint32_t)reader_big(r, at, 4);
		uint32_t type = (uint32_t)reader_big(r, at + 8, 4);
		int64_t n = (int64_t)reader_little(r, at + 4, 4);

		if (n == UNKNOWN && tag == LIST && type == MOVI)
			n = end - at - 8;
		if (n > r->size - at - 8)
			return reader_cut(r, at);
		if (tag == LIST && type == HDRL)
			avi_read_header(r, at + 12, at + 8 + n, a);
		if (tag == LIST && type == MOVI) {
			state = avi_check_movi(r, at + 12, at + 8 + n, a);
			if (state != CONTAINER_WHOLE)
				return state;
		} else if (tag == IDX1 && a->riffs == 1) {
			a->has_index = 1;
			for (int64_t i = 0; i + 16 <= n; i += 16) {
				tag = (uint32_t)reader_big(r, at + 8 + i, 4);
				a->listed += avi_is_data(tag) &&
				    avi_stream_of(tag) == r->id;
			}
		} else if (tag == 0) {
			return reader_broken(r, at, "no chunk begins here");
		}
		at += 8 + n + (n & 1);
	}
	return CONTAINER_WHOLE;
}

enum container_state
avi_check(struct container_reader *r)
{
	struct avi a = { 0 };
	enum container_state state;
	int64_t at = 0;

	while (reader_big(r, at, 4) == RIFF) {
		int64_t n = (int64_t)reader_little(r, at + 4, 4), end;

		if (n == UNKNOWN)
			n = r->size - at - 8;
		end = at + 8 + n > r->size ? r->size : at + 8 + n;
		a.riffs++;
		state = avi_check_riff(r, at + 12, end, &a);
		if (state != CONTAINER_WHOLE)
			return state;
		if (at + 8 + n > r->size + 1)
			return reader_cut(r, r->size);
		at = end + (n & 1);
	}
	if (a.places > 0 && (state = avi_check_places(r, &a)) !=
	    CONTAINER_WHOLE)
		return state;
	if (a.wants_index && !a.has_index && a.places == 0)
		return reader_cut(r, r->size);
	if (a.has_index && a.found < a.listed)
		return reader_broken(r, at, "%lld of the %lld frames that the "
		    "index lists", (long long)a.found, (long long)a.listed);
	return CONTAINER_WHOLE;
}
