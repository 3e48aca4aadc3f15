/* Opening a shard.  Its footer and index come from a file that may be
 * damaged or hostile, so every offset and count is checked before it is
 * used. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "shard/reader.h"

#define Q text_quote
#define CHUNK (1 << 20)			/* records are hashed in pieces of
					 * this many bytes */

static uint64_t
shard_footer_at(const struct shard *s)
{
	return s->size - SHARD_END - SHARD_FOOTER;
}

/* The footer has a fixed place at the end, so it is found without the index. */
static int
shard_read_footer(struct shard *s, struct damage *d)
{
	static const unsigned char zeros[SHARD_END];
	unsigned char end[SHARD_FOOTER + SHARD_END];
	const char *wrong;

	if (s->size % USTAR_BLOCK != 0 || s->size < SHARD_SMALLEST)
		return damage_set(d, s->size, "size", "%llu bytes (wanted a "
		    "multiple of %d, at least %d): truncated, or not a shard",
		    (unsigned long long)s->size, USTAR_BLOCK, SHARD_SMALLEST);
	if (shard_try_read(s, end, sizeof(end), shard_footer_at(s), d) != 0)
		return -1;
	if ((wrong = shard_footer_get(end, &s->footer)) != NULL)
		return damage_set(d, shard_footer_at(s), "footer", "%s", wrong);
	if (memcmp(end + SHARD_FOOTER, zeros, SHARD_END) != 0)
		return damage_set(d, s->size - SHARD_END, "end",
		    "the two blocks at the end are not zero");
	s->footer_hash = hash128(end, SHARD_FOOTER);
	return 0;
}

/* Check that the index and its sections lie within the file.  This precedes
 * every allocation, so a damaged length cannot exhaust memory. */
static int
shard_check_layout(const struct shard *s, struct damage *d)
{
	const struct shard_footer *f = &s->footer;
	const uint64_t want[SECTIONS] = { (uint64_t)SHARD_SAMPLE * f->samples,
		(uint64_t)SHARD_RECORD * f->records, 4 * (uint64_t)f->samples,
		f->section[SECTION_STRINGS].length,
		f->section[SECTION_META].length };
	/* An index of at most an eighth of the file, or 64 MiB for small
	 * files. */
	uint64_t largest = s->size / 8 > 64 << 20 ? s->size / 8 : 64 << 20;
	uint64_t end = 0, limit;

	if (f->index_length > s->size || f->index_length < SHARD_FOOTER ||
	    f->index_length % USTAR_BLOCK != 0 ||
	    f->index_at != s->size - SHARD_END - f->index_length ||
	    f->index_at < USTAR_BLOCK ||
	    f->data_length != f->index_at - USTAR_BLOCK)
		return damage_set(d, shard_footer_at(s), "footer",
		    "index at %llu, "
		    "%llu bytes, data %llu bytes do not fit a file of %llu "
		    "bytes", (unsigned long long)f->index_at,
		    (unsigned long long)f->index_length,
		    (unsigned long long)f->data_length,
		    (unsigned long long)s->size);
	if (largest > USTAR_SIZE)
		largest = USTAR_SIZE;
	if (f->index_length > largest)
		return damage_set(d, shard_footer_at(s), "footer",
		    "an index of %llu "
		    "bytes (wanted at most %llu)",
		    (unsigned long long)f->index_length,
		    (unsigned long long)largest);
	limit = f->index_length - SHARD_FOOTER;
	for (int i = 0; i < SECTIONS; i++) {
		const struct shard_section *x = &f->section[i];

		if (x->at % 8 != 0 || x->at < end || x->at > limit ||
		    (i == 0 && x->at != 0) ||
		    x->length > limit - x->at || x->length != want[i])
			return damage_set(d, shard_footer_at(s), "footer",
			    "section %d "
			    "at %llu, %llu bytes, does not fit", i,
			    (unsigned long long)x->at,
			    (unsigned long long)x->length);
		end = x->at + x->length;
	}
	return 0;
}

/* Read the index once to check its hash.  Keep all of it except the records,
 * which are the largest part and are read on demand. */
static int
shard_read_index(struct shard *s, struct damage *d)
{
	const struct shard_footer *f = &s->footer;
	uint64_t records = f->section[SECTION_RECORDS].at;
	uint64_t order = f->section[SECTION_ORDER].at;
	uint64_t tail = f->index_length - SHARD_FOOTER - order;
	struct hasher *h = hasher_new();
	unsigned char *chunk = xmalloc(CHUNK);
	int result = -1;

	s->entry = xmalloc(records);
	s->tail = xmalloc(tail);
	if (shard_try_read(s, s->entry, records, f->index_at, d) != 0)
		goto out;
	hasher_add(h, s->entry, records);
	for (uint64_t at = records, n; at < order; at += n) {
		n = order - at < CHUNK ? order - at : CHUNK;
		if (shard_try_read(s, chunk, n, f->index_at + at, d) != 0)
			goto out;
		hasher_add(h, chunk, n);
	}
	if (shard_try_read(s, s->tail, tail, f->index_at + order, d) != 0)
		goto out;
	hasher_add(h, s->tail, tail);
	result = hash128_equal(hasher_128(h), f->index_hash) ? 0 :
	    damage_set(d, f->index_at, "index",
	    "the hash of the index is not the one in the footer");
out:
	free(chunk);
	hasher_free(h);
	return result;
}

/* The description says which streams a sample has. */
static int
shard_read_meta(struct shard *s, struct damage *d)
{
	const struct shard_section *x = &s->footer.section[SECTION_META];
	uint64_t at = s->footer.index_at + x->at;
	struct error said = { "" };
	struct json *meta;
	const char *format;
	int64_t version;
	int result = 0;

	meta = json_try("the index's description",
	    (const char *)shard_section(s, SECTION_META), x->length,
	    &said);
	if (meta == NULL)
		return damage_set(d, at, "index", "%s", said.text);
	format = json_to_text(json_get(meta, "format"));
	if (format == NULL || strcmp(format, "vtshard") != 0 ||
	    json_to_int(json_get(meta, "version"), 1, 1, &version) != 0 ||
	    stream_list_read(json_get(meta, "streams"), &s->streams) != 0)
		result = damage_set(d, at, "index", "format, version or "
		    "streams of the index's description is missing or wrong");
	json_free(meta);
	return result;
}

/* Check the sample ${e} against the footer and the strings.  ${record} and
 * ${blk} are of the sample before it.  Return NULL, or the error. */
static const char *
shard_check_sample(const struct shard *s, const struct shard_entry *e,
    uint64_t record, uint64_t blk)
{
	uint64_t strings = s->footer.section[SECTION_STRINGS].length;
	char key[KEY_MAX + 1];

	if (e->key_length > KEY_MAX || e->key_at > strings ||
	    e->key_length > strings - e->key_at)
		return "its key lies outside the strings";
	if (!key_is_valid(shard_key(s, e, key)) || strlen(key) != e->key_length)
		return "its key is not valid";
	if (hash64(key, strlen(key)) != e->key_hash)
		return "the hash of its key is wrong";
	if (e->streams != s->streams.n || e->aux < 1 || e->aux > 2 ||
	    e->frames < 1 || e->frames > FRAME_MAX)
		return "its number of streams, frames or other members is "
		    "wrong";
	if (e->first != record)
		return "its records do not follow those of the sample before";
	if (e->blk < blk || (uint64_t)e->blk + e->blocks >
	    s->footer.data_length / USTAR_BLOCK)
		return "it does not lie after the sample before";
	if (e->label < -1 || e->fps_num > INT32_MAX || e->fps_den > INT32_MAX ||
	    (e->fps_num == 0) != (e->fps_den == 0) || e->width == 0 ||
	    e->height == 0)
		return "its label, rate or size is impossible";
	return NULL;
}

/* Check every sample, and that their sums are those of the footer. */
static int
shard_check_samples(const struct shard *s, struct damage *d)
{
	const struct shard_footer *f = &s->footer;
	uint64_t record = 0, frames = 0, blk = 0;

	for (uint32_t i = 0; i < f->samples; i++) {
		struct shard_entry e = shard_entry(s, i);
		const char *wrong = shard_check_sample(s, &e, record, blk);

		if (wrong != NULL)
			return damage_set(d,
			    f->index_at + (uint64_t)SHARD_SAMPLE * i, "index",
			    "sample %u: %s", i, wrong);
		record += shard_record_count(&e);
		frames += e.frames;
		blk = (uint64_t)e.blk + e.blocks;
	}
	if (record != f->records || frames != f->frames)
		return damage_set(d, shard_footer_at(s), "footer",
		    "%u records and "
		    "%llu frames, but the samples have %llu and %llu",
		    f->records, (unsigned long long)f->frames,
		    (unsigned long long)record, (unsigned long long)frames);
	return 0;
}

/* Check that the order section ascends strictly by (hash, number).  Then it
 * is also a permutation of the samples. */
static int
shard_check_order(const struct shard *s, struct damage *d)
{
	const struct shard_section *x = &s->footer.section[SECTION_ORDER];
	const unsigned char *order = shard_section(s, SECTION_ORDER);
	uint64_t hash = 0, last = 0;

	for (uint32_t k = 0; k < s->footer.samples; k++) {
		uint32_t i = get32(order + 4 * (size_t)k);
		uint64_t h = i < s->footer.samples ?
		    s->entry[i].key_hash : 0;

		if (i >= s->footer.samples || (k > 0 && (h < hash ||
		    (h == hash && i <= last))))
			return damage_set(d, s->footer.index_at + x->at + 4 *
			    (uint64_t)k, "index", "the table by key is out of "
			    "order");
		hash = h;
		last = i;
	}
	return 0;
}

/* The order matters: each step relies on the checks of the steps before. */
static int
shard_load(struct shard *s, uint64_t size, struct damage *d)
{
	s->size = size;
	if (shard_read_footer(s, d) != 0 || shard_check_layout(s, d) != 0 ||
	    shard_read_index(s, d) != 0 || shard_read_meta(s, d) != 0 ||
	    shard_check_samples(s, d) != 0 || shard_check_order(s, d) != 0)
		return -1;
	return 0;
}

struct shard *
shard_open(const char *path, struct damage *d)
{
	struct shard *s = xcalloc(1, sizeof(*s));
	struct damage own, *why = d != NULL ? d : &own;
	struct stat st;
	int bad;

	s->path = xstrdup(path);
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		bad = damage_set(why, NOWHERE, errno == ENOENT ? "missing" :
		    errno == EMFILE || errno == ENFILE ? "files" : "io",
		    "cannot open: %s", strerror(errno));
	else if (fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode))
		bad = damage_set(why, NOWHERE, "io", "not a regular file");
	else
		bad = shard_load(s, (uint64_t)st.st_size, why);
	if (!bad)
		return s;
	if (d == NULL)
		damage_report(path, why, NULL);
	shard_close(s);
	return NULL;
}

void
shard_close(struct shard *s)
{
	if (s == NULL)
		return;
	shard_close_file(s);
	free(s->entry);
	free(s->tail);
	free(s->path);
	free(s);
}

void
shard_close_file(struct shard *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int
shard_reopen(struct shard *s, struct error *e)
{
	unsigned char footer[SHARD_FOOTER];
	struct stat st;

	if (s->fd >= 0)
		return 0;
	s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 && (errno == EMFILE || errno == ENFILE))
		return -1;
	if (s->fd < 0)
		return error_errno(e, "%s: cannot open again", Q(s->path));
	/* The footer has the hashes of all content, so an equal footer means
	 * an equal shard. */
	if (fstat(s->fd, &st) != 0 || (uint64_t)st.st_size != s->size ||
	    file_pread(s->fd, s->path, footer, sizeof(footer),
	    shard_footer_at(s), e) != 0 || !hash128_equal(hash128(footer,
	    sizeof(footer)), s->footer_hash)) {
		shard_close_file(s);
		errno = 0;
		return error_set(e, "%s: changed since it was first opened",
		    Q(s->path));
	}
	return 0;
}
