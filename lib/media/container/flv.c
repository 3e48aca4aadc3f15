/*
 * FLV 10.1, annex E: tags of sound, video and data, each followed by its size.
 * Most files declare their own size in the first data tag.
 */
#include <string.h>

#include "media/container/reader.h"

enum { SOUND = 8, VIDEO = 9, DATA = 18 };

/*
 * Return the file size declared by "onMetaData", ${n} bytes at ${at}, or 0 if
 * absent.
 */
static int64_t
flv_stated_size(struct container_reader *r, int64_t at, int64_t n)
{
	static const char name[] = "\0\010filesize";	/* then a double */
	const int length = sizeof(name) - 1;
	union { uint64_t bits; double number; } v;

	for (int64_t i = at; i + length + 9 <= at + n; i++) {
		int k = 0;

		while (k < length && reader_byte(r, i + k) == (uint8_t)name[k])
			k++;
		if (k < length || reader_byte(r, i + length) != 0)
			continue;
		v.bits = reader_big(r, i + length + 1, 8);
		return v.number >= 1 && v.number < 1e15 ? (int64_t)v.number : 0;
	}
	return 0;
}

enum container_state
flv_check(struct container_reader *r)
{
	int64_t at = (int64_t)reader_big(r, 5, 4) + 4, stated = 0;
	int first = 1;

	while (at < r->size) {
		int type = reader_byte(r, at);
		int64_t n = (int64_t)reader_big(r, at + 1, 3), after;

		if (at + 11 > r->size)
			return reader_cut(r, at);
		/* 0x20 marks an encrypted tag.  The stream number is 0. */
		type &= ~0x20;
		if ((type != SOUND && type != VIDEO && type != DATA) ||
		    reader_big(r, at + 8, 3) != 0)
			return reader_broken(r, at, "no tag begins here");
		if (n > r->size - at - 15)
			return reader_cut(r, at);
		/* Some writers omit their own 11 bytes, or the whole size. */
		after = (int64_t)reader_big(r, at + 11 + n, 4);
		if (after != n + 11 && after != n && after != 0)
			return reader_broken(r, at, "a tag of %lld bytes, "
			    "followed by the size %lld", (long long)n + 11,
			    (long long)after);
		if (type == DATA && first) {
			stated = flv_stated_size(r, at + 11, n);
			first = 0;
		}
		at += 11 + n + 4;
	}
	r->report->complete = stated == r->size;
	return stated > r->size ? reader_cut(r, r->size) : CONTAINER_WHOLE;
}
