/*
 * The index of a shard: an accepted index finds every sample by its key, and
 * verification gives each damage a kind.  Hashes protect against accidents, not
 * against malice.  The target makes them valid, so that the code behind them is
 * tested, too.
 */
#include "base/bytes.h"
#include "base/hash.h"
#include "shard/verify.h"

#include "fuzz.h"
#include "../shard_memory.h"

static void
make_true(uint8_t *file, size_t size)
{
	uint8_t *f;
	uint64_t at, length;
	struct hash128 hash;

	if (size < SHARD_SMALLEST)
		return;
	f = file + size - SHARD_END - SHARD_FOOTER;
	at = get64(f + 16);
	length = get64(f + 24);
	if (length >= SHARD_FOOTER && length <= size && at <= size - length) {
		hash = hash128(file + at, length - SHARD_FOOTER);
		memcpy(f + 152, hash.byte, sizeof(hash.byte));
	}
	put32(f + 508, crc32c(0, f, 508));
}

static int
found(void *arg, const char *name, const struct damage *d)
{
	(void)arg;
	(void)name;
	MUST(strlen(d->detail) < sizeof(d->detail) && d->kind != NULL);
	return 0;
}

static void
look(const struct shard *s)
{
	const struct verify v = { VERIFY_DECODE, .found = found };
	struct buffer b = { 0 };
	struct hash128 hash;
	char key[KEY_MAX + 1];

	for (uint32_t i = 0; i < s->footer.samples; i++) {
		struct shard_entry e = shard_entry(s, i);
		uint64_t n = shard_record_count(&e);

		MUST(shard_find(s, shard_key(s, &e, key)) >= 0);
		(void)shard_member(s, &e, 0, &b);
		(void)shard_member(s, &e, (uint32_t)n - 1, &b);
	}
	(void)verify_shard(&v, "shard", s, 0, &hash);
	buffer_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = xmalloc(size);
	struct damage d;
	struct shard *s;

	FUZZ_QUIET();
	memcpy(copy, data, size);
	make_true(copy, size);
	if ((s = shard_open_memory(copy, size, &d)) != NULL)
		look(s);
	shard_close(s);
	free(copy);
	return 0;
}
