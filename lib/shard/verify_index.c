/* Verification of the index and footer of a shard that shard_open accepted. */
#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "shard/verify_walk.h"

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

void
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
