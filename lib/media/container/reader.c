/*
 * Read bytes of a file as numbers and checksums, and dispatch container_check
 * to the check of a format.
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

const uint8_t *
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
 * Continue ${crc} over the ${n} bytes at ${at}, or as many as there are.  If
 * ${high}, hash_crc32 gets the bits of each byte in reversed order.
 */
static uint32_t
reader_checksum(struct container_reader *r, int64_t at, int64_t n, uint32_t crc,
    int high)
{
	uint8_t flipped[4096];

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
	return crc;
}

uint32_t
reader_crc(struct container_reader *r, int64_t at, int64_t n, uint32_t crc)
{
	return reader_checksum(r, at, n, crc, 0);
}

/*
 * hash_crc32 takes the lowest bit first and complements its argument and
 * result.  Reverse the bits before and after, and undo the complements.
 */
uint32_t
reader_crc_high(struct container_reader *r, int64_t at, int64_t n, uint32_t crc)
{
	crc = ~__builtin_bswap32(reader_flip(crc));
	crc = ~reader_checksum(r, at, n, crc, 1);
	return reader_flip(__builtin_bswap32(crc));
}

/* ---- dispatch ---- */

void
container_check(int fd, int64_t size, const uint8_t *bytes,
    const char *format, int id, struct container_report *report)
{
	static const struct { const char *name; container_checker *check; }
	known[] = {
		{ "asf", asf_check }, { "avi", avi_check },
		{ "dhav", dhav_check }, { "dv", dv_check },
		{ "flv", flv_check }, { "gif", gif_check },
		{ "h264", nal_check }, { "hevc", nal_check },
		{ "ivf", ivf_check }, { "m4v", nal_check },
		{ "matroska", matroska_check },
		{ "mjpeg", mjpeg_check }, { "mov", mov_check },
		{ "mpeg", mpegps_check }, { "mpegts", mpegts_check },
		{ "mpegvideo", mpegvideo_check }, { "mxf", mxf_check },
		{ "ogg", ogg_check }, { "yuv4mpegpipe", y4m_check },
	};
	struct container_reader r = { .fd = fd, .id = id, .size = size,
		.report = report, .data = bytes,
		.n = bytes != NULL ? (ssize_t)size : 0 };

	*report = (struct container_report){ .state = CONTAINER_WHOLE,
		.newest = -1 };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(format, known[i].name) == 0)
			report->state = known[i].check(&r);
}
