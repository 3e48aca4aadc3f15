/*
 * AVI: RIFF chunks.  The list "movi" contains the frames of a stream as chunks,
 * and an index after it lists them again.  A frame in the index that "movi"
 * lacks is lost.  A writer to a pipe leaves sizes of 0xffffffff and writes no
 * index.
 */
#include "media/container/reader.h"

#define UNKNOWN 0xffffffff	/* size that the writer could not fill in */
#define TAG(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

static const uint32_t RIFF = TAG('R', 'I', 'F', 'F'),
    LIST = TAG('L', 'I', 'S', 'T'), MOVI = TAG('m', 'o', 'v', 'i'),
    REC = TAG('r', 'e', 'c', ' '), JUNK = TAG('J', 'U', 'N', 'K'),
    IDX1 = TAG('i', 'd', 'x', '1'), HDRL = TAG('h', 'd', 'r', 'l'),
    AVIH = TAG('a', 'v', 'i', 'h');

struct avi {
	int riffs;
	int64_t found, listed;		/* frames of our stream in the first
					 * movi, and in idx1 */
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
	int a = tag >> 24, b = tag >> 16 & 255, c = tag >> 8 & 255, d = tag & 255;

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
avi_check_movi(struct reader *r, int64_t at, int64_t end, struct avi *a)
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
		a->found += a->riffs == 1 && avi_is_data(tag) &&
		    avi_stream_of(tag) == r->id;
		at += 8 + n + (n & 1);
	}
	return CONTAINER_WHOLE;
}

/* Return 1 if the list "hdrl" at ${at} declares an index. */
static int
avi_wants_index(struct reader *r, int64_t at)
{
	return reader_big(r, at + 12, 4) == AVIH &&
	    reader_little(r, at + 32, 4) & 0x10;
}

/* Check the chunks of a RIFF, "AVI " or "AVIX", up to ${end}. */
static enum container_state
avi_check_riff(struct reader *r, int64_t at, int64_t end, struct avi *a)
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
			a->wants_index |= avi_wants_index(r, at);
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
avi_check(struct reader *r)
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
	if (a.wants_index && !a.has_index)
		return reader_cut(r, r->size);
	if (a.has_index && a.found < a.listed)
		return reader_broken(r, at, "%lld of the %lld frames that the "
		    "index lists", (long long)a.found, (long long)a.listed);
	return CONTAINER_WHOLE;
}
