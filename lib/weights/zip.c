/*
 * List the members of a zip archive in memory.  Compressed members are refused.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "weights/zip.h"

/* Signatures and fixed sizes of the records, and of their fields. */
enum {
	END = 0x06054b50, END_BYTES = 22, COMMENT = 65535,
	END64 = 0x06064b50, END64_BYTES = 56,
	LOCATOR = 0x07064b50, LOCATOR_BYTES = 20,
	ENTRY = 0x02014b50, ENTRY_BYTES = 46,
	LOCAL = 0x04034b50, LOCAL_BYTES = 30,
	EXTRA64 = 1,
	ENCRYPTED = 1
};

#define DAMAGED(...) (fail(__VA_ARGS__), -2)
#define UNKNOWN(...) (fail(__VA_ARGS__), -3)	/* intact */

/* The archive, and its central directory: entries, offset and bytes. */
struct zip_archive {
	const char *path;
	const unsigned char *data;
	size_t n;
	uint64_t entries, at, bytes;
};

/* Return 1 if ${n} bytes at offset ${at} lie within the archive. */
static int
zip_inside(const struct zip_archive *a, uint64_t at, uint64_t n)
{
	return at <= a->n && n <= a->n - at;
}

/*
 * Return the offset of the end-of-central-directory record, or -1.  An archive
 * comment may follow it; the comment's declared length must reach the end of
 * the file, which rejects a signature inside the comment.
 */
static int64_t
zip_find_end(const struct zip_archive *a)
{
	size_t least = a->n > END_BYTES + COMMENT ?
	    a->n - END_BYTES - COMMENT : 0;

	for (size_t at = a->n < END_BYTES ? 0 : a->n - END_BYTES + 1;
	    at-- > least;)
		if (get32(a->data + at) == END && get16(a->data + at + 20) ==
		    a->n - at - END_BYTES)
			return (int64_t)at;
	return -1;
}

static int
zip_find_directory(struct zip_archive *a)
{
	int64_t end = zip_find_end(a);
	const unsigned char *p;
	uint64_t at;

	if (end < 0)
		return DAMAGED("%s: no end record of a zip archive: truncated",
		    a->path);
	p = a->data + end;
	a->entries = get16(p + 10);
	a->bytes = get32(p + 12);
	a->at = get32(p + 16);
	/*
	 * A zip64 locator directly before the end record: its record has the
	 * 64-bit fields that replace those of the end record.
	 */
	if (end >= LOCATOR_BYTES && get32(p - LOCATOR_BYTES) == LOCATOR) {
		at = get64(p - LOCATOR_BYTES + 8);
		if (!zip_inside(a, at, END64_BYTES) ||
		    get32(a->data + at) != END64)
			return DAMAGED("%s: offset %lld: no zip64 record where "
			    "it says", a->path,
			    (long long)end - LOCATOR_BYTES);
		a->entries = get64(a->data + at + 32);
		a->bytes = get64(a->data + at + 40);
		a->at = get64(a->data + at + 48);
	}
	if (!zip_inside(a, a->at, a->bytes))
		return DAMAGED("%s: a directory beyond the file's %zu bytes",
		    a->path, a->n);
	return 0;
}

/*
 * zip64: a 32-bit size field of all ones means that the value is in the extra
 * field.  The extra field holds only those values, in this order.
 */
static void
zip_widen(const unsigned char *extra, size_t n, uint64_t *size[3])
{
	while (n >= 4 && 4 + (size_t)get16(extra + 2) <= n) {
		size_t left = get16(extra + 2);
		const unsigned char *p = extra + 4;

		for (int i = 0; get16(extra) == EXTRA64 && i < 3; i++)
			if (*size[i] == UINT32_MAX && left >= 8) {
				*size[i] = get64(p);
				p += 8;
				left -= 8;
			}
		n -= 4 + (size_t)get16(extra + 2);
		extra += 4 + get16(extra + 2);
	}
}

/*
 * Add the entry at ${p} of the directory, whose name has ${length} bytes, to
 * ${z}.
 */
static int
zip_read_entry(const struct zip_archive *a, const unsigned char *p,
    size_t length, struct zip *z, size_t *cap)
{
	char *name = xstrndup((const char *)p + ENTRY_BYTES, length);
	const char *shown = text_quote(name);
	uint64_t packed = get32(p + 20), bytes = get32(p + 24);
	uint64_t at = get32(p + 42), begin = 0;
	uint64_t *size[] = { &bytes, &packed, &at };
	int bad = 0;

	zip_widen(p + ENTRY_BYTES + length, get16(p + 30), size);
	if (strlen(name) != length)
		bad = DAMAGED("%s: a member's name has a zero byte", a->path);
	else if (get16(p + 8) & ENCRYPTED)
		bad = UNKNOWN("%s: member %s is encrypted", a->path, shown);
	else if (get16(p + 10) != 0)
		bad = UNKNOWN("%s: member %s is compressed by method %d "
		    "(torch.save stores it as it is)", a->path, shown,
		    get16(p + 10));
	else if (!zip_inside(a, at, LOCAL_BYTES) ||
	    get32(a->data + at) != LOCAL)
		bad = DAMAGED("%s: member %s: no header at offset %llu",
		    a->path, shown, (unsigned long long)at);
	else
		/*
		 * The data follow the local header.  Its name and extra field
		 * may differ in length from those in the directory.
		 */
		begin = at + LOCAL_BYTES + get16(a->data + at + 26) +
		    get16(a->data + at + 28);
	if (!bad && (packed != bytes || !zip_inside(a, begin, bytes)))
		bad = DAMAGED("%s: member %s: %llu bytes at offset %llu of a "
		    "file of %zu", a->path, shown, (unsigned long long)bytes,
		    (unsigned long long)begin, a->n);
	if (!bad && names_add(z->names, name) < 0)
		bad = DAMAGED("%s: two members %s", a->path, shown);
	if (!bad) {
		z->member = array_reserve(z->member, z->members, cap,
		    sizeof(*z->member));
		z->member[z->members++] = (struct zip_member){ (size_t)begin,
			(size_t)bytes, get32(p + 16) };
	}
	free(name);
	return bad;
}

int
zip_open(const char *path, const void *data, size_t n, struct zip *z)
{
	struct zip_archive a = { .path = path, .data = data, .n = n };
	size_t cap = 0, left;
	const unsigned char *p;
	int bad = zip_find_directory(&a);

	*z = (struct zip){ .names = names_new() };
	p = bad ? NULL : a.data + a.at;
	left = (size_t)a.bytes;
	for (uint64_t i = 0; i < a.entries && !bad; i++) {
		size_t whole = 0;

		/* An entry ends with its name, extra field and comment. */
		if (left >= ENTRY_BYTES && get32(p) == ENTRY)
			whole = ENTRY_BYTES + (size_t)get16(p + 28) +
			    get16(p + 30) + get16(p + 32);
		if (whole == 0 || whole > left)
			bad = DAMAGED("%s: offset %td: no entry of a zip "
			    "directory (wanted %llu of them)", path,
			    p - a.data, (unsigned long long)a.entries);
		else
			bad = zip_read_entry(&a, p, get16(p + 28), z, &cap);
		p += whole;
		left -= bad ? 0 : whole;
	}
	if (bad)
		zip_close(z);
	return bad;
}

void
zip_close(struct zip *z)
{
	names_free(z->names);
	free(z->member);
	*z = (struct zip){ 0 };
}

const struct zip_member *
zip_find(const struct zip *z, const char *name)
{
	long i = names_find(z->names, name);

	return i >= 0 ? &z->member[i] : NULL;
}
