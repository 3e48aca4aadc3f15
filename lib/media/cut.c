/* Where a container ends, read from its structure. */
#include <string.h>
#include <unistd.h>

#include "media/cut.h"

#define HEADER 65536		/* bytes in which an asf header must show */

/* A window on a file, moved as bytes are asked for. */
struct reader {
	int fd;
	int64_t size, start;
	ssize_t n;
	uint8_t data[65536];
};

/* The byte at ${at}; -1 beyond the end, or if it cannot be read. */
static int
byte(struct reader *r, int64_t at)
{
	if (at < 0 || at >= r->size)
		return -1;
	if (at < r->start || at >= r->start + r->n) {
		r->start = at;
		r->n = pread(r->fd, r->data, sizeof(r->data), at);
		if (r->n <= 0)
			return -1;
	}
	return r->data[at - r->start];
}

/* ${n} bytes at ${at} as a number; what lies beyond the end counts as 0. */
static uint64_t
big_endian(struct reader *r, int64_t at, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++) {
		int b = byte(r, at + i);

		v = v << 8 | (uint64_t)(b > 0 ? b : 0);
	}
	return v;
}

static uint64_t
little_endian(struct reader *r, int64_t at, int n)
{
	uint64_t v = 0;

	while (n-- > 0) {
		int b = byte(r, at + n);

		v = v << 8 | (uint64_t)(b > 0 ? b : 0);
	}
	return v;
}

/* Bytes of a GIF colour table announced by the flags ${f}. */
static int
colours(int f)
{
	return f >= 0 && f & 0x80 ? 3 << ((f & 7) + 1) : 0;
}

/* GIF89a, 15 to 27: blocks up to a trailer, ';'. */
static int
gif_is_cut(struct reader *r)
{
	int64_t at = 13 + colours(byte(r, 10));
	int n;

	for (;;) {
		switch (byte(r, at)) {
		case 0x3b:
			return 0;
		case 0x21:		/* extension: label */
			at += 2;
			break;
		case 0x2c:		/* image: place, colours, code size */
			at += 11 + colours(byte(r, at + 9));
			break;
		case -1:
			return 1;
		default:
			return 0;	/* not ours to judge */
		}
		while ((n = byte(r, at)) > 0)
			at += n + 1;
		at++;
	}
}

/* RFC 3533, 6: pages of up to 255 segments; flag 4 is the end of a stream. */
static int
ogg_is_cut(struct reader *r)
{
	int64_t at = 0;
	int ended = 0;

	while (at < r->size) {
		int segments = byte(r, at + 26);
		int64_t next = at + 27 + segments;

		if (big_endian(r, at, 4) != 0x4f676753)	/* "OggS" */
			return at + 4 > r->size;
		for (int i = 0; i < segments; i++)
			next += byte(r, at + 27 + i);
		if (segments < 0 || next > r->size)
			return 1;
		ended |= byte(r, at + 5) & 4;
		at = next;
	}
	return !ended;
}

/* ASF specification, 3.2: the file properties object holds the file's size,
 * unless it was written as a broadcast. */
static int
asf_is_cut(struct reader *r)
{
	static const uint8_t properties[16] = { 0xa1, 0xdc, 0xab, 0x8c, 0x47,
		0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0x00, 0xc0, 0x0c, 0x20, 0x53,
		0x65 };

	for (int64_t at = 0; at + 104 <= r->size && at < HEADER; at++) {
		int i = 0;

		while (i < 16 && byte(r, at + i) == properties[i])
			i++;
		if (i == 16)
			return !(little_endian(r, at + 88, 4) & 1) &&
			    little_endian(r, at + 40, 8) > (uint64_t)r->size;
	}
	return 0;
}

/* ISO/IEC 14496-12, 4.2: boxes of a size and a type.  Only the boxes of
 * fragments count: elsewhere the index tells, and sizes are often wrong. */
static int
mov_is_cut(struct reader *r)
{
	int64_t at = 0;
	int fragments = 0;

	while (at < r->size) {
		uint64_t size = big_endian(r, at, 4);
		uint64_t type = big_endian(r, at + 4, 4);

		fragments |= type == 0x6d6f6f66;		/* "moof" */
		if (size == 1)
			size = big_endian(r, at + 8, 8);
		if (size == 0)
			return 0;			/* up to the end */
		if (at + 8 > r->size || size > (uint64_t)(r->size - at))
			return fragments && (at + 8 > r->size ||
			    type == 0x6d6f6f66 || type == 0x6d646174);
		if (size < 8)
			return 0;
		at += (int64_t)size;
	}
	return 0;
}

int
cut_find(int fd, int64_t size, const char *format)
{
	static const struct { const char *name; int (*is_cut)(struct reader *); }
	known[] = {
		{ "gif", gif_is_cut }, { "ogg", ogg_is_cut },
		{ "asf", asf_is_cut }, { "mov", mov_is_cut },
	};
	struct reader r = { .fd = fd, .size = size };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(format, known[i].name) == 0)
			return known[i].is_cut(&r);
	return 0;
}
