/*
 * Raw MPEG-1 and MPEG-2 video, ISO/IEC 13818-2, 6.3.8 and 6.3.9: frames are
 * numbered in display order.  Numbers restart in each group.
 */
#include <string.h>

#include "media/container/reader.h"

enum { FRAME = 0x100, GROUP = 0x1b8 };
#define MAX 1024		/* numbers have 10 bits */

/*
 * Return the first number missing below the largest of ${seen}, or -1 if none
 * is.  If ${broken_link} is set, an editor removed earlier frames: start at the
 * smallest number.
 */
static int
mpegvideo_missing(const char seen[MAX], int broken_link)
{
	int first = -1, i = 0;

	while (broken_link && i < MAX && !seen[i])
		i++;
	for (; i < MAX; i++)
		if (!seen[i] && first < 0)
			first = i;
		else if (seen[i] && first >= 0)
			return first;
	return -1;
}

/*
 * Return the first number that a group must have: 0, or its smallest one in the
 * first group, which some writers begin with 1, and after a broken link.
 */
static int
mpegvideo_least_frames(const char seen[MAX], int first_group, int broken_link)
{
	int i = 0;

	while ((first_group || broken_link) && i < MAX && !seen[i])
		i++;
	return i < MAX ? i : 0;
}

enum container_state
mpegvideo_check(struct container_reader *r)
{
	char seen[MAX] = { 0 };
	uint32_t code = ~0u;
	int groups = 0, link = 0, lost;

	for (int64_t at = 0; at < r->size;) {
		size_t n = 65536;
		const uint8_t *p = reader_bytes(r, at, &n);
		size_t i = 0;

		if (p == NULL)
			break;
		while (i < n) {
			code = code << 8 | p[i++];
			if (code == GROUP || code == FRAME)
				break;
		}
		at += (int64_t)i;
		if (code == GROUP) {
			if ((lost = mpegvideo_missing(seen,
			    mpegvideo_least_frames(seen, groups == 1, link))) >=
			    0)
				return reader_broken(r, at - 4, "frame %d of "
				    "the previous group is missing", lost);
			memset(seen, 0, sizeof(seen));
			groups++;
			link = reader_byte(r, at + 3) >> 5 & 1;
		} else if (code == FRAME) {
			seen[reader_big(r, at, 2) >> 6] = 1;
		}
		code = ~0u;
	}
	lost = mpegvideo_missing(seen, mpegvideo_least_frames(seen, groups == 1,
	    link));
	return lost >= 0 ? reader_broken(r, r->size, "frame %d of the last "
	    "group is missing", lost) : CONTAINER_WHOLE;
}
