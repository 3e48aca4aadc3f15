/*
 * The table of containers, and the bytes of a file as numbers and checksums for
 * their checks.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "media/container/reader.h"

/*
 * Make r->data contain the byte at ${at}.  Return 0, or -1 if it cannot be
 * read.
 */
static int
reader_move(struct container_reader *r, int64_t at)
{
	if (at < 0 || at >= r->size)
		return -1;
	if (at < r->start || at >= r->start + r->n) {
		r->start = at;
		r->n = TEMP_FAILURE_RETRY(pread(r->fd, r->window,
		    sizeof(r->window), at));
		r->data = r->window;
		if (r->n <= 0) {
			r->n = 0;
			return -1;
		}
	}
	return 0;
}

int
reader_byte(struct container_reader *r, int64_t at)
{
	return reader_move(r, at) == 0 ? r->data[at - r->start] : -1;
}

/*
 * Return the address of the bytes at ${at}, and set ${*n} to their number: at
 * least 1 and at most ${*n}.  Return NULL outside the file or if a read fails.
 * Valid until the next call.
 */
static const uint8_t *
reader_bytes(struct container_reader *r, int64_t at, size_t *n)
{
	size_t there;

	if (reader_move(r, at) != 0)
		return NULL;
	there = (size_t)(r->start + r->n - at);
	*n = *n < there ? *n : there;
	return r->data + (at - r->start);
}

uint64_t
reader_big(struct container_reader *r, int64_t at, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++) {
		int b = reader_byte(r, at + i);

		v = v << 8 | (uint64_t)(b > 0 ? b : 0);
	}
	return v;
}

uint64_t
reader_little(struct container_reader *r, int64_t at, int n)
{
	uint64_t v = 0;

	while (n-- > 0) {
		int b = reader_byte(r, at + n);

		v = v << 8 | (uint64_t)(b > 0 ? b : 0);
	}
	return v;
}

enum container_state
reader_cut(struct container_reader *r, int64_t at)
{
	snprintf(r->report->text, sizeof(r->report->text),
	    "the structure at byte %lld is incomplete", (long long)at);
	return CONTAINER_CUT;
}

enum container_state
reader_broken(struct container_reader *r, int64_t at, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(r->report->text, sizeof(r->report->text),
	    "at byte %lld: ", (long long)at);

	va_start(ap, fmt);
	vsnprintf(r->report->text + n, sizeof(r->report->text) - (size_t)n, fmt,
	    ap);
	va_end(ap);
	return CONTAINER_BROKEN;
}

/* ---- checksums ---- */

/* Reverse the order of the bits in each byte. */
static uint32_t
reader_flip(uint32_t x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	return (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
}

/*
 * hash_crc32 takes the lowest bit first and complements its argument and
 * result.  For the highest bit first, reverse the bits of each byte, and those
 * of the sum before and after, and undo the complements.
 */
uint32_t
reader_crc(struct container_reader *r, int64_t at, int64_t n, uint32_t crc,
    int high)
{
	uint8_t flipped[4096];

	if (high)
		crc = ~__builtin_bswap32(reader_flip(crc));
	while (n > 0) {
		size_t some = n < (int64_t)sizeof(flipped) ? (size_t)n :
		    sizeof(flipped);
		const uint8_t *p = reader_bytes(r, at, &some);

		if (p == NULL)
			break;
		for (size_t i = 0; i < some && high; i++)
			flipped[i] = (uint8_t)reader_flip(p[i]);
		crc = hash_crc32(crc, high ? flipped : p, some);
		at += (int64_t)some;
		n -= (int64_t)some;
	}
	return high ? reader_flip(__builtin_bswap32(~crc)) : crc;
}

/* ---- the table ---- */

/*
 * Containers with their own frames, and raw streams that can be identified by
 * content.  All other formats are refused: lists of other files (hls, concat,
 * dash, image2), devices, and single pictures.
 *
 * Where a gap in the times is not a lost frame: mov lists all packets, with
 * times as far apart as it declares; fragmented files are an exception
 * (media/ffmpeg/claim.c).  Raw streams, dv and yuv4mpegpipe have no times, gif
 * has the duration of each frame, and avi counts frames.  The pages of ogg are
 * numbered: a frame missing from it was never encoded.
 */
#define CONTAINER_ROW(name, timed, check) { #name, timed, check },
const struct container containers[] = { CONTAINER_CHECKS(CONTAINER_ROW)
	{ "dv", 0, NULL }, { "h261", 0, NULL }, { "h263", 0, NULL },
	{ "h264", 0, NULL }, { "hevc", 0, NULL }, { "ivf", 1, NULL },
	{ "m4v", 0, NULL }, { "mjpeg", 0, NULL }, { "mpegvideo", 0, NULL },
	{ "mxf", 1, NULL }, { "obu", 0, NULL }, { "yuv4mpegpipe", 0, NULL },
	{ NULL, 0, NULL } };

const struct container *
container_find(const char *names)
{
	size_t n = strcspn(names, ",");

	for (const struct container *c = containers; c->name != NULL; c++)
		if (strlen(c->name) == n && memcmp(c->name, names, n) == 0)
			return c;
	return NULL;
}

void
container_check(const struct container *c, int fd, int64_t size,
    const uint8_t *bytes, int id, struct container_report *report)
{
	struct container_reader r = { .fd = fd, .id = id, .size = size,
		.report = report, .data = bytes,
		.n = bytes != NULL ? (ssize_t)size : 0 };

	*report = (struct container_report){ .state = CONTAINER_WHOLE,
		.newest = -1 };
	if (c->check != NULL)
		report->state = c->check(&r);
}
