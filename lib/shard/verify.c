/*
 * Verification of one shard: its bytes from first to last, and their hash.
 * Each byte is read once, and the headers are compared with those that the
 * index implies.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/stop.h"
#include "base/text.h"
#include "shard/stream_read.h"
#include "shard/verify.h"

#define CHUNK (256 << 10)	/* read, hashed and checked while in cache */

/* A window that moves through the file in order.  Each byte is read and
 * hashed once. */
struct verify_window {
	const struct shard *s;
	struct hasher *hash;
	unsigned char *own;		/* buffer, [cap] */
	const unsigned char *data;	/* [n] bytes at offset ${at} */
	size_t n, cap;
	uint64_t at, limit;		/* limit: offset of the end for now */
};

/* The state of verify_shard. */
struct verify_walk {
	const struct verify *v;
	const char *name;
	const struct shard *s;
	struct verify_window w;
	int thread, wrong, stop, unread;	/* wrong: number of errors */
	char key[KEY_MAX + 1];		/* of the current sample, or "" */
};

/*
 * Report an error at ${offset}, with the sample k->key if it is not "".  A
 * callback that returns -1 stops the walk.
 */
static void __attribute__((format(printf, 4, 5)))
verify_report(struct verify_walk *k, uint64_t offset, const char *kind,
    const char *fmt, ...)
{
	struct damage d = { 0 };
	char text[sizeof(d.detail)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	damage_set(&d, offset, kind, "%s", text);
	strcpy(d.key, k->key);
	k->wrong++;
	k->stop |= k->v->found(k->v->found_arg, k->name, &d) != 0;
}

/* Report that the file cannot be read, and stop: nothing more can be
 * verified. */
static void
verify_unreadable(struct verify_walk *k, const struct damage *d)
{
	verify_report(k, d->offset, d->kind, "%s", d->detail);
	k->unread = 1;
	k->stop = 1;
}

/* Return 1 if ${n} bytes are zero, 0 otherwise. */
static int
verify_all_zero(const unsigned char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* ---- bytes ---- */

/*
 * Return a pointer to ${n} bytes at ${w->at}, fewer if the limit comes first.
 * Return NULL if they cannot be read, which is reported.
 */
static const unsigned char *
verify_window_fill(struct verify_walk *k, size_t n)
{
	struct verify_window *w = &k->w;
	struct damage d = { 0 };
	size_t more;

	if (n <= w->n)
		return w->data;
	memmove(w->own, w->data, w->n);
	if (w->cap < n + CHUNK) {
		w->cap = n + CHUNK;
		w->own = xrealloc(w->own, w->cap, 1);
	}
	more = w->cap - w->n;
	if (more > w->limit - w->at - w->n)
		more = w->limit - w->at - w->n;
	if (shard_try_read(k->s, w->own + w->n, more, w->at + w->n, &d) != 0) {
		verify_unreadable(k, &d);
		return NULL;
	}
	hasher_add(w->hash, w->own + w->n, more);
	if (k->v->tick != NULL)
		k->v->tick(k->v->arg, more);
	w->data = w->own;
	w->n += more;
	k->stop |= stop_signal() != 0;
	return w->data;
}

/* Advance by ${n} bytes, which are hashed even if nothing examines them. */
static void
verify_advance(struct verify_walk *k, uint64_t n)
{
	while (n > 0 && !k->stop) {
		size_t part = n < CHUNK ? (size_t)n : CHUNK;

		if (verify_window_fill(k, part) == NULL)
			return;
		k->w.data += part;
		k->w.n -= part;
		k->w.at += part;
		n -= part;
	}
}

/* ---- members ---- */

/* Check the header of ${name} here, and advance past it. */
static void
verify_check_header(struct verify_walk *k, const char *name, uint64_t size)
{
	unsigned char want[USTAR_BLOCK];
	const unsigned char *got = verify_window_fill(k, USTAR_BLOCK);
	int i = 0;

	if (got == NULL)
		return;
	ustar_header(want, name, size);
	if (memcmp(got, want, USTAR_BLOCK) != 0) {
		while (got[i] == want[i])
			i++;
		verify_report(k, k->w.at + (uint64_t)i, "header",
		    "byte %d of the header of %s is 0x%02x (wanted 0x%02x)",
		    i, name, got[i], want[i]);
	}
	verify_advance(k, USTAR_BLOCK);
}

/* Check the filler before an aligned sample: a member that is all zeros. */
static void
verify_check_pad(struct verify_walk *k, uint64_t to)
{
	uint64_t size = to - k->w.at - USTAR_BLOCK;

	if (size > USTAR_SIZE) {
		verify_report(k, k->w.at, "index",
		    "the sample begins at %llu (wanted it here)",
		    (unsigned long long)to);
		verify_advance(k, to - k->w.at);
		return;
	}
	verify_check_header(k, SHARD_PAD, size);
	while (k->w.at < to && !k->stop) {
		const unsigned char *p = verify_window_fill(k, USTAR_BLOCK);

		if (p != NULL && !verify_all_zero(p, USTAR_BLOCK))
			verify_report(k, k->w.at, "padding",
			    "filler that is not zero");
		verify_advance(k, USTAR_BLOCK);
	}
}

/* The name of record ${n}, as the writer must have chosen it. */
static void
verify_member_name(const struct verify_walk *k, const struct shard_entry *e,
    uint32_t n, char name[USTAR_NAME + 1])
{
	uint32_t frames = e->frames * e->streams;

	if (n == frames + e->aux - 1)
		snprintf(name, USTAR_NAME + 1, "%s.json", k->key);
	else if (n >= frames)
		snprintf(name, USTAR_NAME + 1, "%s.cls", k->key);
	else
		stream_frame_name(k->key, n / e->streams,
		    &k->s->streams.kind[n % e->streams], name);
}

/* KEY.cls must be exactly the decimal label of the index. */
static void
verify_check_label(struct verify_walk *k, const struct shard_entry *e,
    const void *data, size_t n)
{
	char want[16];

	snprintf(want, sizeof(want), "%d", e->label);
	if (e->label < 0 || n != strlen(want) || memcmp(data, want, n) != 0)
		verify_report(k, k->w.at, "label",
		    "%s.cls is not the label of the index, %d",
		    k->key, e->label);
}

/* Return the first field of KEY.json that differs from the index, or NULL. */
static const char *
verify_disagrees(const struct verify_walk *k, const struct sample *s,
    const struct shard_entry *e, const struct shard_record *r)
{
	struct sample want = shard_sample(k->s, e, k->key);

	if (strcmp(s->key, want.key) != 0)
		return "key";
	if (s->frames != want.frames)
		return "frames";
	if (s->label != want.label)
		return "label";
	if (s->flags != want.flags)
		return "flags";
	if (s->width != want.width || s->height != want.height)
		return "width or height";
	if (s->fps.num != want.fps.num || s->fps.den != want.fps.den)
		return "fps";
	if (s->source_hash != want.source_hash)
		return "src_xxh3";
	if (!stream_list_equal(s->streams, want.streams))
		return "streams";
	for (int f = 0; s->time != NULL && f < s->frames; f++)
		if (s->time[f] != r[f * e->streams].time)
			return "t";
	return NULL;
}

/* KEY.json must parse, agree with the index and be in canonical form. */
static void
verify_check_info(struct verify_walk *k, const struct shard_entry *e,
    const struct shard_record *r, const void *data, size_t n)
{
	struct error why = { "" };
	char what[KEY_MAX + 8], *canonical = NULL;
	const char *field = NULL;
	struct sample *s;

	snprintf(what, sizeof(what), "%s.json", k->key);
	s = sample_read(what, data, n, &canonical, &why);
	if (s == NULL)
		verify_report(k, k->w.at, "json", "%s", why.text);
	else if ((field = verify_disagrees(k, s, e, r)) != NULL)
		verify_report(k, k->w.at, "json",
		    "%s: \"%s\" is not what the index says",
		    what, field);
	else if (strlen(canonical) != n || memcmp(canonical, data, n) != 0)
		verify_report(k, k->w.at, "json",
		    "%s is not in canonical form", what);
	free(canonical);
	sample_free(s);
}

/* Let the caller decode the frame, if it can. */
static void
verify_check_frame(struct verify_walk *k, const struct shard_entry *e,
    uint32_t number, const void *data, size_t n)
{
	const char *ext = k->s->streams.kind[number % e->streams].ext;
	struct error why = { "" };
	int bad;

	if (k->v->frame == NULL)
		return;
	/* The index has the frame size of stream 0 only. */
	bad = k->v->frame(k->v->arg, k->thread, ext, data, n,
	    number % e->streams == 0 ? e->width : 0,
	    number % e->streams == 0 ? e->height : 0, &why);
	if (bad)
		verify_report(k, k->w.at, "frame",
		    "frame %u: %s", number / e->streams, why.text);
}

/* Check record ${n} of the sample: its header, its data, its padding. */
static void
verify_check_member(struct verify_walk *k, const struct shard_entry *e,
    const struct shard_record *r, uint32_t n)
{
	uint32_t frames = e->frames * e->streams;
	size_t length = r[n].length, padded = length + ustar_padding(length);
	char name[USTAR_NAME + 1];
	const unsigned char *data;
	uint32_t crc;

	verify_member_name(k, e, n, name);
	verify_check_header(k, name, length);
	if (k->stop || (data = verify_window_fill(k, padded)) == NULL)
		return;
	crc = crc32c(0, data, length);
	/* Below VERIFY_DECODE, the CRC stands for the content. */
	if (crc != r[n].crc)
		verify_report(k, k->w.at, "data",
		    "the checksum of %s is %08x (wanted %08x)",
		    name, crc, r[n].crc);
	else if (n >= frames && n < frames + e->aux - 1u)
		verify_check_label(k, e, data, length);
	else if (k->v->depth == VERIFY_DECODE && n >= frames)
		verify_check_info(k, e, r, data, length);
	else if (k->v->depth == VERIFY_DECODE)
		verify_check_frame(k, e, n, data, length);
	if (!verify_all_zero(data + length, padded - length))
		verify_report(k, k->w.at + length, "padding",
		    "bytes after %s that are not zero", name);
	verify_advance(k, padded);
}

/* Check the members of sample ${i} in order, and that they fill its blocks
 * exactly.  After an error of the layout, continue at the end of the sample. */
static void
verify_check_sample(struct verify_walk *k, uint32_t i)
{
	struct shard_entry e = shard_entry(k->s, i);
	uint32_t n = (uint32_t)shard_record_count(&e);
	uint64_t start = (uint64_t)e.blk * USTAR_BLOCK;
	uint64_t end = start + (uint64_t)e.blocks * USTAR_BLOCK;
	struct shard_record *r = xcalloc(n, sizeof(*r));
	struct error why = { "" };
	int bad;

	shard_key(k->s, &e, k->key);
	/* A gap before the sample must be filler. */
	if (start >= k->w.at + USTAR_BLOCK)
		verify_check_pad(k, start);
	bad = shard_records(k->s, &e, 0, n, r, &why);
	if (bad)
		verify_report(k, k->s->footer.index_at, "index", "%s",
		    why.text);
	for (uint32_t m = 0; m < n && !bad && !k->stop; m++) {
		bad = (uint64_t)r[m].blk * USTAR_BLOCK != k->w.at + USTAR_BLOCK;
		if (bad)
			verify_report(k, k->w.at, "index",
			    "record %u begins at %llu (wanted %llu)",
			    m, (unsigned long long)r[m].blk *
			    USTAR_BLOCK, (unsigned long long)k->w.at +
			    USTAR_BLOCK);
		else
			verify_check_member(k, &e, r, m);
	}
	if (!bad && !k->stop && k->w.at != end)
		verify_report(k, k->w.at, "index",
		    "the sample ends here (wanted %llu)",
		    (unsigned long long)end);
	if (k->w.at < end)
		verify_advance(k, end - k->w.at);
	k->key[0] = '\0';
	free(r);
}

/* Check everything before the index, then read the rest of the file for its
 * hash. */
static void
verify_walk(struct verify_walk *k, struct hash128 *hash)
{
	const struct shard_footer *f = &k->s->footer;

	k->w.limit = f->data_length;
	for (uint32_t i = 0; i < f->samples && !k->stop; i++)
		verify_check_sample(k, i);
	if (k->stop)
		return;
	if (k->w.at != f->data_length) {
		verify_report(k, k->w.at, "index",
		    "the last sample ends here, but the data at %llu",
		    (unsigned long long)f->data_length);
		verify_advance(k, f->data_length - k->w.at);
	}
	/* The hash shows only that something is wrong.  If the place is
	 * known, it has been reported. */
	if (k->wrong == 0 && !hash128_equal(hasher_128(k->w.hash),
	    f->data_hash))
		verify_report(k, 0, "hash",
		    "the hash of the data is not the one in the footer");
	k->w.limit = k->s->size;
	verify_check_header(k, SHARD_INDEX, f->index_length);
	verify_advance(k, k->s->size - k->w.at);
	*hash = hasher_128(k->w.hash);
}

/* ---- the index and the footer ---- */

/* Check that ${n} bytes of the file at ${at} are zero, as writers must leave
 * them. */
static void
verify_index_check_zero(struct verify_walk *k, uint64_t at, uint64_t n,
    const char *kind, const char *what)
{
	unsigned char bytes[USTAR_BLOCK];
	struct damage d = { 0 };

	if (n > sizeof(bytes)) {
		verify_report(k, at, kind, "%llu bytes of %s (wanted fewer "
		    "than %d)", (unsigned long long)n, what, USTAR_BLOCK);
		return;
	}
	if (shard_try_read(k->s, bytes, n, at, &d) != 0)
		verify_unreadable(k, &d);
	else if (!verify_all_zero(bytes, n))
		verify_report(k, at, kind, "%s are not zero", what);
}

/*
 * Check that flags and bytes without a meaning are zero, and that no key occurs
 * twice.  Equal keys have equal hashes, so they are adjacent in the order
 * section.
 */
static void
verify_index_check_entries(struct verify_walk *k)
{
	const struct shard_footer *f = &k->s->footer;
	const unsigned char *order = shard_section(k->s, SECTION_ORDER);
	struct shard_entry a, b = { 0 };
	char before[KEY_MAX + 1];

	for (uint32_t i = 0; i < f->samples && !k->stop; i++) {
		const struct shard_entry *e = &k->s->entry[i];

		if (f->minor == 0 && (e->flags > 63 || e->unused != 0 ||
		    e->unused_too != 0))
			verify_report(k, f->index_at + (uint64_t)SHARD_SAMPLE *
			    i, "index", "sample %u: reserved flags or bytes "
			    "are not zero", i);
		a = shard_entry(k->s, get32(order + 4 * (size_t)i));
		if (i > 0 && a.key_hash == b.key_hash && strcmp(shard_key(k->s,
		    &a, k->key), shard_key(k->s, &b, before)) == 0)
			verify_report(k, (uint64_t)a.blk * USTAR_BLOCK, "key",
			    "the key occurs twice");
		k->key[0] = '\0';
		b = a;
	}
}

/* Check the parts of the index that shard_open does not check. */
static void
verify_index(struct verify_walk *k)
{
	const struct shard_footer *f = &k->s->footer;
	uint64_t footer = k->s->size - SHARD_END - SHARD_FOOTER;

	for (int i = 0; i < SECTIONS && !k->stop; i++) {
		uint64_t at = f->section[i].at + f->section[i].length;
		uint64_t end = i + 1 < SECTIONS ? f->section[i + 1].at :
		    f->index_length - SHARD_FOOTER;

		verify_index_check_zero(k, f->index_at + at, end - at, "index",
		    "bytes after a section");
	}
	/* A later minor version may use these bytes. */
	if (f->minor == 0 && !k->stop) {
		verify_index_check_zero(k, footer + offsetof(
		    struct shard_footer, unused), sizeof(f->unused), "footer",
		    "reserved bytes");
		verify_index_check_zero(k, footer + offsetof(
		    struct shard_footer, unused_too), sizeof(f->unused_too),
		    "footer", "reserved bytes");
	}
	verify_index_check_entries(k);
}

int
verify_shard(const struct verify *v, const char *name, const struct shard *s,
    int thread, struct hash128 *hash)
{
	struct verify_walk k = { .v = v, .name = name, .s = s,
	    .thread = thread };

	verify_index(&k);
	if (v->depth != VERIFY_FAST && !k.stop) {
		k.w.s = s;
		k.w.hash = hasher_new();
		k.w.own = xmalloc(k.w.cap = 2 * CHUNK);
		k.w.data = k.w.own;
		verify_walk(&k, hash);
		hasher_free(k.w.hash);
		free(k.w.own);
	}
	return k.stop && !k.unread ? -1 : k.wrong;
}
