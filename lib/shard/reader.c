/* Reads from an open shard: entries, keys, records, members. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "shard/reader.h"

#define Q text_quote

int
damage_set(struct damage *d, uint64_t offset, const char *kind,
    const char *fmt, ...)
{
	va_list ap;

	d->offset = offset;
	d->key[0] = '\0';
	d->kind = kind;
	va_start(ap, fmt);
	vsnprintf(d->detail, sizeof(d->detail), fmt, ap);
	va_end(ap);
	return -1;
}

/* A reader cannot distinguish damage from an I/O error by the message, so
 * the kind decides. */
int
damage_report(const char *path, const struct damage *d, struct error *e)
{
	char where[40] = "";

	if (d->offset != NOWHERE)
		snprintf(where, sizeof(where), "offset %llu: ",
		    (unsigned long long)d->offset);
	error_set(e, "%s: %s%s%s%s%s", Q(path), d->key[0] ? "key " : "", d->key,
	    d->key[0] ? ", " : "", where, d->detail);
	return strcmp(d->kind, "io") == 0 || strcmp(d->kind, "missing") == 0 ||
	    strcmp(d->kind, "files") == 0 ? -1 : -2;
}

int
shard_try_read(const struct shard *s, void *to, size_t n, uint64_t at,
    struct damage *d)
{
	size_t done = file_pread_some(s->fd, to, n, at);

	if (done < n && errno != 0)
		return damage_set(d, at + done, "io", "cannot read: %s",
		    strerror(errno));
	if (done < n)
		return damage_set(d, at + done, "io", "the file ends here, "
		    "%zu bytes are missing", n - done);
	return 0;
}

int
shard_read(const struct shard *s, void *to, size_t n, uint64_t at,
    struct error *e)
{
	struct damage d = { 0 };

	if (shard_try_read(s, to, n, at, &d) != 0) {
		damage_report(s->path, &d, e);
		return -1;
	}
	return 0;
}

const char *
shard_key(const struct shard *s, const struct shard_entry *e,
    char key[KEY_MAX + 1])
{
	memcpy(key, shard_section(s, SECTION_STRINGS) + e->key_at,
	    e->key_length);
	key[e->key_length] = '\0';
	return key;
}

struct sample
shard_sample(const struct shard *s, const struct shard_entry *e,
    const char *key)
{
	return (struct sample){
		.key = key,
		.streams = &s->streams,
		.label = e->label,
		.frames = (int)e->frames,
		.width = e->width,
		.height = e->height,
		.fps = { (int)e->fps_num, (int)e->fps_den },
		.flags = e->flags,
		.source_hash = e->source,
		.shard = s->path,
		.offset = (uint64_t)e->blk * USTAR_BLOCK,
	};
}

/* Keys are sorted by their hashes: search for the hash, then compare the
 * keys that have it. */
int64_t
shard_find(const struct shard *s, const char *key)
{
	const unsigned char *order = shard_section(s, SECTION_ORDER);
	uint64_t hash = hash64(key, strlen(key));
	uint32_t low = 0, high = s->footer.samples;
	char found[KEY_MAX + 1];

	while (low < high) {		/* the first hash that is not less */
		uint32_t middle = low + (high - low) / 2;

		if (shard_entry(s, get32(order + 4 * (size_t)middle)).key_hash <
		    hash)
			low = middle + 1;
		else
			high = middle;
	}
	/* Different keys may have the same hash. */
	for (; low < s->footer.samples; low++) {
		uint32_t i = get32(order + 4 * (size_t)low);
		struct shard_entry e = shard_entry(s, i);

		if (e.key_hash != hash)
			break;
		if (strcmp(shard_key(s, &e, found), key) == 0)
			return i;
	}
	return -1;
}

/* Records are not checked by shard_open, which does not read them.  So check
 * here that they do not point outside their sample. */
int
shard_records(const struct shard *s, const struct shard_entry *e,
    uint32_t from, uint32_t n, struct shard_record *to, struct error *why)
{
	uint64_t at = s->footer.index_at +
	    s->footer.section[SECTION_RECORDS].at + (uint64_t)SHARD_RECORD *
	    (e->first + from);
	uint64_t start = (uint64_t)e->blk * USTAR_BLOCK;
	uint64_t end = start + (uint64_t)e->blocks * USTAR_BLOCK;
	char key[KEY_MAX + 1];

	if (shard_read(s, to, (size_t)n * SHARD_RECORD, at, why) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t data = (uint64_t)to[i].blk * USTAR_BLOCK;

		/* Each member needs a block for its header, and must not
		 * overlap the one before. */
		if (data < start + USTAR_BLOCK || data > end ||
		    to[i].length > end - data)
			return error_set(why, "%s: key %s, offset %llu: record "
			    "%u lies outside its sample", Q(s->path),
			    shard_key(s, e, key), (unsigned long long)at,
			    from + i), -2;
		start = data + to[i].length;
	}
	return 0;
}

int
shard_member(const struct shard *s, const struct shard_entry *e,
    uint32_t number, struct buffer *to)
{
	struct shard_record r;
	char key[KEY_MAX + 1];
	int result = shard_records(s, e, number, 1, &r, NULL);

	if (result != 0)
		return result;
	to->n = 0;
	buffer_reserve(to, r.length);
	if (shard_read(s, to->data, r.length, (uint64_t)r.blk * USTAR_BLOCK,
	    NULL) != 0)
		return -1;
	to->n = r.length;
	to->data[to->n] = '\0';
	if (crc32c(0, to->data, to->n) != r.crc)
		return fail("%s: key %s, offset %llu: the checksum of the "
		    "data is wrong", Q(s->path), shard_key(s, e, key),
		    (unsigned long long)r.blk * USTAR_BLOCK), -2;
	return 0;
}

/* KEY.json is the last member of a sample. */
struct sample *
shard_sample_read(const struct shard *s, const struct shard_entry *e,
    const char *what, int *bad)
{
	struct buffer b = { 0 };
	struct sample *m = NULL;

	*bad = shard_member(s, e, (uint32_t)shard_record_count(e) - 1, &b);
	if (*bad == 0 && (m = sample_read(what, b.data, b.n, NULL,
	    NULL)) == NULL)
		*bad = -2;
	buffer_free(&b);
	return m;
}

struct sample *
shard_sample_at(const struct shard *s, uint32_t i, char *key, int *bad)
{
	struct shard_entry e = shard_entry(s, i);

	return shard_sample_read(s, &e, shard_key(s, &e, key), bad);
}
