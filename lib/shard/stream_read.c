/*
 * Reader of the stream, by libarchive.  libarchive handles the variants of tar;
 * this file checks that the members are those of a stream, that nothing is
 * missing, and the hash of the stream.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "shard/foreign.h"
#include "shard/sample.h"
#include "shard/stream_input.h"
#include "shard/stream_read.h"

#define Q text_quote
#define USTAR_TYPE 156			/* offset of the type in a ustar
					 * header */
#define NAMED 10			/* maximum number of warnings */

struct stream_reader {
	char *path;			/* quoted, for messages */
	struct stream_limits limits;
	struct stream_input in;
	struct archive *a;
	locale_t locale;		/* see stream_read_header */
	struct foreign *foreign;	/* makes the members, or NULL */
	int opened;			/* result of archive_read_open */
	struct stream_member member;
	uint64_t data_at, end;		/* of the member; end: with padding */
	int from_stdin;			/* 1: standard input */
	uint64_t members, skipped;	/* members: since the last end marker */
	int marked;			/* 1: the last member was an end
					 * marker */
};

/* ---- the archive ---- */

/* Deliver the next block to libarchive. */
static la_ssize_t
stream_read_callback(struct archive *a, void *arg, const void **data)
{
	struct stream_reader *r = arg;

	if (stream_input_next(&r->in) != 0) {
		archive_set_error(a, errno, "cannot read: %s",
		    strerror(errno));
		return -1;
	}
	*data = r->in.block;
	return (la_ssize_t)r->in.filled;
}

/*
 * Open the archive, which parses its first block, or read the next header if
 * ${e} is not NULL.  libarchive converts the names of a pax header from UTF-8
 * to the character set of the locale.  Python's tarfile, and so WebDataset,
 * writes pax headers for names that are not ASCII.
 */
static int
stream_read_header(struct stream_reader *r, struct archive_entry **e)
{
	locale_t before = r->locale != (locale_t)0 ? uselocale(r->locale) :
	    (locale_t)0;
	int got = e != NULL ? archive_read_next_header(r->a, e) :
	    archive_read_open(r->a, r, NULL, stream_read_callback, NULL);

	if (before != (locale_t)0)
		uselocale(before);
	return got;
}

struct stream_reader *
stream_read_open(const char *path, const struct stream_limits *limits)
{
	struct stream_reader *r = xcalloc(1, sizeof(*r));
	int input = strcmp(path, "-") == 0;

	r->path = xstrdup(input ? "standard input" : Q(path));
	r->limits = *limits;
	r->from_stdin = input;
	r->in.fd = -1;
	if (!input && file_is_dir(path)) {
		if (limits->foreign == STREAM_OWN)
			fail("%s: a directory (wanted a stream; vt-pack "
			    "--foreign takes folders of pictures)", r->path);
		else if ((r->foreign = foreign_folder(path, limits,
		    &r->skipped)) != NULL)
			return r;
		goto err;
	}
	if (limits->foreign == STREAM_WEBDATASET)
		r->foreign = foreign_archive(r, limits);
	if (stream_input_open(&r->in, input ? NULL : path, limits) != 0) {
		fail_errno("%s: cannot open", r->path);
		goto err;
	}
	r->a = archive_read_new();
	/* No filters: compressed input must be decompressed by another
	 * program. */
	if (r->a == NULL || archive_read_support_format_tar(r->a) !=
	    ARCHIVE_OK || archive_read_set_options(r->a,
	    "read_concatenated_archives") != ARCHIVE_OK) {
		fail("libarchive: %s", r->a ? archive_error_string(r->a) :
		    "out of memory");
		goto err;
	}
	r->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	r->opened = stream_read_header(r, NULL);	/* stream_next reports
							 * an error */
	return r;
err:
	stream_read_close(r);
	return NULL;
}

void
stream_read_close(struct stream_reader *r)
{
	if (r == NULL)
		return;
	if (r->a != NULL)
		archive_read_free(r->a);
	foreign_free(r->foreign);
	if (r->locale != (locale_t)0)
		freelocale(r->locale);
	stream_input_close(&r->in);
	free(r->path);
	free(r);
}

const char *
stream_path(const struct stream_reader *r)
{
	return r->path;
}

int
stream_is_stdin(const struct stream_reader *r)
{
	return r->from_stdin;
}

uint64_t
stream_bytes(const struct stream_reader *r)
{
	return r->in.total;
}

uint64_t
stream_skipped(const struct stream_reader *r)
{
	return r->skipped;
}

enum stream_layout
stream_foreign(const struct stream_reader *r)
{
	return r->limits.foreign;
}

const char *
stream_library(void)
{
	return archive_version_string();
}

/*
 * Return the type of the member from its header, or '0' (a file) if the header
 * is no longer in the buffer.  libarchive reports members of unknown types as
 * files.
 */
static char
stream_read_member_type(const struct stream_reader *r)
{
	uint64_t start = r->in.total - r->in.filled, at = r->member.offset;

	return at >= start && at + USTAR_BLOCK <= r->in.total ?
	    r->in.block[at - start + USTAR_TYPE] : '0';
}

/* Return NULL if the member is a regular file with a valid name, else the
 * reason.  libarchive delivers everything that a tar can contain. */
static const char *
stream_read_check_entry(const struct stream_reader *r, struct archive_entry *e,
    struct stream_member *m)
{
	const char *name = archive_entry_pathname(e);
	char type = stream_read_member_type(r);

	if (name == NULL || *name == '\0')
		return "a name that is not plain text";
	/* Links first: a hard link has the type of a regular file. */
	if (archive_entry_hardlink(e) != NULL)
		return "a hard link (wanted a regular file)";
	switch (archive_entry_filetype(e)) {
	case AE_IFREG:
		break;
	case AE_IFLNK:
		return "a symbolic link (wanted a regular file)";
	case AE_IFDIR:
		return "a directory (wanted a regular file)";
	default:
		return "a device, pipe or other special file (wanted a regular "
		    "file)";
	}
	if (archive_entry_sparse_count(e) > 0)
		return "a sparse file (wanted a plain one)";
	if (type != '0' && type != '\0')
		return "a member of another type, such as sparse or contiguous "
		    "(wanted a regular file)";
	if (!archive_entry_size_is_set(e) || archive_entry_size(e) < 0)
		return "no valid size";
	return r->foreign != NULL ? foreign_member_name(name, m) :
	    stream_member_name(name, m);
}

/* ---- members ---- */

/* Return 1 if the error is that the input ends before offset ${wanted}. */
static int
stream_read_is_truncated(const struct stream_reader *r, uint64_t wanted)
{
	return r->in.eof && (wanted > r->in.total ||
	    (r->end > 0 && r->in.total % USTAR_BLOCK != 0));
}

/* Return the program that decompresses the input, by its first bytes, or
 * NULL. */
static const char *
stream_read_unpacker(const struct stream_reader *r)
{
	static const struct { const char *name, *magic; size_t n; } packers[] =
	    {
		{ "gzip", "\x1f\x8b", 2 },
		{ "xz", "\xfd" "7zXZ", 5 },
		{ "zstd", "\x28\xb5\x2f\xfd", 4 },
		{ "bzip2", "BZh", 3 },
		{ "lz4", "\x04\x22\x4d\x18", 4 },
	};

	for (size_t i = 0; i < sizeof(packers) / sizeof(*packers); i++)
		if (r->end == 0 && memcmp(r->in.first, packers[i].magic,
		    packers[i].n) == 0)
			return packers[i].name;
	return NULL;
}

/* Report libarchive's error.  A signal needs no message: the caller reports
 * it. */
static int
stream_read_damaged(struct stream_reader *r, uint64_t at)
{
	if (r->in.stopped)
		return STREAM_BAD;
	if (r->end == 0 && r->in.total > 0)
		return fail("%s: not a tar stream, as vt-extract writes it: %s",
		    r->path, archive_error_string(r->a));
	return fail("%s: offset %llu: %s", r->path, (unsigned long long)at,
	    archive_error_string(r->a));
}

/* Return the result for the end of the archive. */
static int
stream_read_finish(struct stream_reader *r)
{
	/* A tar ends with two zero blocks; without them it was truncated. */
	if (r->in.total < r->end || r->in.total - r->end < 2 * USTAR_BLOCK ||
	    r->in.total % USTAR_BLOCK != 0)
		return STREAM_TRUNCATED;
	return r->marked || r->limits.foreign ? STREAM_DONE : STREAM_UNMARKED;
}

/* Handle a member that does not belong to a stream.  Return 0 if it is
 * skipped, or -1 after a message. */
static int
stream_read_refuse(struct stream_reader *r, struct archive_entry *e,
    const char *why)
{
	const char *name = archive_entry_pathname(e);

	/* Skip the index and fillers of a shard that is packed again, and
	 * directories, which other programs store. */
	if (r->limits.foreign && name != NULL &&
	    (strcmp(name, "__vt__/.index") == 0 ||
	    strcmp(name, "__vt__/.pad") == 0 ||
	    (archive_entry_filetype(e) == AE_IFDIR &&
	    archive_entry_hardlink(e) == NULL)))
		return 0;
	if (!r->limits.skip)
		return fail("%s: offset %llu: member %s: %s; %s%s", r->path,
		    (unsigned long long)r->member.offset, Q(name ? name : ""),
		    why, archive_entry_filetype(e) == AE_IFDIR ? "vt-pack "
		    "--foreign takes archives of other programs, with "
		    "directories" : "vt-pack --skip-foreign omits such members",
		    r->limits.foreign == STREAM_ARCHIVED ? ", "
		    "--foreign=webdataset takes KEY.jpg" : "");
	if (r->skipped++ < NAMED)
		warning("%s: offset %llu: member %s left out: %s", r->path,
		    (unsigned long long)r->member.offset, Q(name ? name : ""),
		    why);
	return 0;
}

int
stream_member_next(struct stream_reader *r, struct stream_member *m)
{
	struct archive_entry *e;
	const char *why;

	for (;;) {
		int got = r->opened != ARCHIVE_OK ? r->opened :
		    stream_read_header(r, &e);

		if (r->in.eof && r->in.total == 0)
			return fail("%s: empty (wanted a stream of vt-extract)",
			    r->path);
		if (got != ARCHIVE_OK && stream_read_unpacker(r) != NULL)
			return fail("%s: compressed (wanted a tar stream: %s "
			    "-dc FILE | %s)", r->path, stream_read_unpacker(r),
			    program_name());
		if (got == ARCHIVE_EOF && !r->in.stopped)
			return stream_read_finish(r);
		if (r->in.eof && r->in.total < USTAR_BLOCK && !r->in.stopped)
			return fail("%s: not a tar stream, as vt-extract "
			    "writes it: %llu bytes", r->path,
			    (unsigned long long)r->in.total);
		if (got != ARCHIVE_OK)
			return stream_read_is_truncated(r,
			    r->end + USTAR_BLOCK) ? STREAM_TRUNCATED :
			    stream_read_damaged(r, r->end);
		r->data_at = (uint64_t)archive_filter_bytes(r->a, 0);
		/* archive_read_header_position would give the offset of the
		 * zero blocks skipped before this header. */
		r->member = (struct stream_member){
			.offset = r->data_at - USTAR_BLOCK,
			.size = archive_entry_size(e) < 0 ? 0 :
			    (uint64_t)archive_entry_size(e) };
		if (r->members == 0) {		/* a stream begins */
			stream_input_hash_from(&r->in, r->member.offset);
		}
		r->members++;
		r->marked = 0;
		why = stream_read_check_entry(r, e, &r->member);
		if (why == NULL && r->member.size > r->limits.member)
			return fail("%s: offset %llu: member %s: %llu bytes "
			    "(wanted at most %llu: vt-pack --max-member)",
			    r->path, (unsigned long long)r->member.offset,
			    Q(r->member.name),
			    (unsigned long long)r->member.size,
			    (unsigned long long)r->limits.member);
		r->end = r->data_at + r->member.size +
		    ustar_padding(r->member.size);
		if (why == NULL)
			break;
		if (stream_read_refuse(r, e, why) != 0)
			return STREAM_BAD;
	}
	*m = r->member;
	return STREAM_MORE;
}

int
stream_next(struct stream_reader *r, struct stream_member *m)
{
	return r->foreign != NULL ? foreign_next(r->foreign, m) :
	    stream_member_next(r, m);
}

int
stream_data(struct stream_reader *r, void *to)
{
	return r->foreign != NULL ? foreign_data(r->foreign, to) :
	    stream_member_data(r, to);
}

int
stream_member_data(struct stream_reader *r, void *to)
{
	size_t n = 0, size = (size_t)r->member.size;

	while (n < size) {
		la_ssize_t got = archive_read_data(r->a, (char *)to + n,
		    size - n);

		if (got == ARCHIVE_RETRY)
			continue;
		/* The member is shorter than its header says. */
		if (got <= 0)
			return stream_read_is_truncated(r, r->data_at + size) ?
			    STREAM_TRUNCATED : stream_read_damaged(r,
			    r->data_at + n);
		n += (size_t)got;
	}
	return STREAM_MORE;
}

static int
stream_read_parse_mark(const struct stream_reader *r, const char *text,
    size_t n, struct stream_marker *mark, char hash[17])
{
	char *what = xprintf("%s: offset %llu: end-of-stream marker", r->path,
	    (unsigned long long)r->member.offset);
	struct json *o = json_parse(what, text, n);
	const char *status = json_to_text(json_get(o, "status"));
	const char *tool = json_to_text(json_get(o, "tool"));
	const char *xxh3 = json_to_text(json_get(o, "xxh3"));
	int64_t samples, frames;
	int result = -1;

	if (o == NULL)
		goto out;
	if (status == NULL || tool == NULL || xxh3 == NULL ||
	    strlen(xxh3) != 16 ||
	    json_to_int(json_get(o, "samples"), 0, INT64_MAX, &samples) != 0 ||
	    json_to_int(json_get(o, "frames"), 0, INT64_MAX, &frames) != 0) {
		fail("%s: a field is missing or wrong (wanted frames, samples, "
		    "status, tool, xxh3)", what);
		goto out;
	}
	mark->samples = (uint64_t)samples;
	mark->frames = (uint64_t)frames;
	snprintf(mark->status, sizeof(mark->status), "%s", status);
	snprintf(mark->tool, sizeof(mark->tool), "%s", tool);
	strcpy(hash, xxh3);
	result = 0;
out:
	json_free(o);
	free(what);
	return result;
}

int
stream_read_marker(struct stream_reader *r, struct stream_marker *mark)
{
	int known = stream_input_hash_to(&r->in, r->member.offset) == 0;
	int result;
	char got[17], *text = xmalloc((size_t)r->member.size + 1), want[17];

	hash64_text(hasher_64(r->in.hash), got);
	result = stream_data(r, text);
	if (result == STREAM_MORE && stream_read_parse_mark(r, text,
	    (size_t)r->member.size, mark, want) != 0)
		result = STREAM_BAD;
	if (result == STREAM_MORE && (!known || strcmp(got, want) != 0))
		result = fail("%s: offset %llu: end-of-stream marker: the "
		    "hash of the stream "
		    "is %s, but its writer sent %s: %s", r->path,
		    (unsigned long long)r->member.offset, known ? got :
		    "unknown", want, r->limits.foreign ? "damaged in transit, "
		    "or archived again (then omit __vt__)" :
		    "damaged in transit");
	free(text);
	r->members = 0;
	r->marked = 1;
	return result;
}
