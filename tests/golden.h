#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

/*
 * Make tests/golden/golden.tar from its rule.  It holds 4 samples run/v_00i of
 * 3+i frames, label i%2, source hash i*7+1, 340x256 at 30000/1001.  Frame f is
 * the first 700+37*f bytes of SHAKE-256 over the text "i-f"; its time is 333*f.
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "shard/writer.h"

#define GOLDEN_SIZE 38912
#define GOLDEN_SHA256 \
	"253440743a785390cf9841c3c462c235ece90a7b7443b1fe23a1ddc4d38637b2"

/* Keccak-f[1600], FIPS 202, section 3. */
static void
keccak(uint64_t a[25])
{
	uint64_t c[5], b[25];
	unsigned lfsr = 1;

	for (int round = 0; round < 24; round++) {
		for (int x = 0; x < 5; x++)
			c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
		for (int i = 0; i < 25; i++) {
			uint64_t d = c[(i + 1) % 5];

			a[i] ^= c[(i + 4) % 5] ^ (d << 1 | d >> 63);
		}
		b[0] = a[0];
		for (int t = 0, x = 1, y = 0; t < 24; t++) {
			int n = (t + 1) * (t + 2) / 2 % 64, z = (2 * x + 3 * y) % 5;
			uint64_t v = a[x + 5 * y];

			b[y + 5 * z] = n ? v << n | v >> (64 - n) : v;
			x = y;
			y = z;
		}
		for (int i = 0; i < 25; i++)
			a[i] = b[i] ^ (~b[i / 5 * 5 + (i + 1) % 5] &
			    b[i / 5 * 5 + (i + 2) % 5]);
		for (int j = 0; j < 7; j++) {
			if (lfsr & 1)
				a[0] ^= 1ull << ((1 << j) - 1);
			lfsr = lfsr << 1 ^ (lfsr & 0x80 ? 0x171 : 0);
		}
	}
}

/*
 * Write ${n} bytes of SHAKE-256 over ${text} to ${to}.  The text is shorter
 * than a block of 136 bytes.
 */
static void
shake256(const char *text, unsigned char *to, size_t n)
{
	uint64_t a[25] = { 0 };
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		a[i / 8] ^= (uint64_t)(unsigned char)text[i] << 8 * (i % 8);
	a[length / 8] ^= 0x1full << 8 * (length % 8);
	a[16] ^= 0x80ull << 56;
	for (size_t i = 0; i < n; i++) {
		if (i % 136 == 0)
			keccak(a);
		to[i] = (unsigned char)(a[i % 136 / 8] >> 8 * (i % 8));
	}
}

/*
 * Append a tar member ${name} with ${data}, and fill ${r} with its entry of the
 * index.  Advance ${blk} past it.  Return 0, or another value on failure.
 */
static int
golden_member(struct shard_writer *w, uint32_t *blk, struct shard_record *r,
    const char *name, const void *data, size_t n, uint32_t time)
{
	static const unsigned char zeros[USTAR_BLOCK];
	unsigned char header[USTAR_BLOCK];

	ustar_header(header, name, n);
	*r = (struct shard_record){ *blk + 1, (uint32_t)n, crc32c(0, data, n),
		time };
	*blk += 1 + (uint32_t)((n + USTAR_BLOCK - 1) / USTAR_BLOCK);
	return shard_put(w, header, sizeof(header)) |
	    shard_put(w, data, n) | shard_put(w, zeros, ustar_padding(n));
}

/*
 * golden_make(path, sum):
 * Write golden.tar to ${path} and its sums to ${sum}.  If ${path} is NULL, only
 * compute the sums.  Return 0, or -1 after a message.
 */
static int
golden_make(const char *path, struct shard_sum *sum)
{
	const struct stream_list streams = { 1, { { "rgb", "jpg" } } };
	struct shard_writer *w = shard_create(path, 0, 0,
	    (struct hash128){ { 0 } }, &streams);
	int bad = 0;

	for (int i = 0; i < 4 && w != NULL; i++) {
		char key[32];
		struct sample s = { .key = key, .frames = 3 + i,
			.streams = &streams, .label = i % 2, .width = 340,
			.height = 256, .fps = { 30000, 1001 },
			.source_hash = (uint64_t)i * 7 + 1 };
		struct shard_record r[16];
		char name[64], text[200];
		unsigned char data[1000];
		uint32_t blk = 0;
		int n = 0;

		sprintf(key, "run/v_%03d", i);
		for (int f = 0; f < 3 + i; f++) {
			sprintf(text, "%d-%d", i, f);
			shake256(text, data, 700 + 37 * (size_t)f);
			sprintf(name, "%s.%06d.jpg", key, f);
			bad |= golden_member(w, &blk, &r[n++], name, data,
			    700 + 37 * (size_t)f, 333 * (uint32_t)f);
		}
		sprintf(name, "%s.cls", key);
		sprintf(text, "%d", i % 2);
		bad |= golden_member(w, &blk, &r[n++], name, text, 1, 0);
		sprintf(name, "%s.json", key);
		sprintf(text, "{\"frames\":%d,\"key\":\"%s\",\"label\":%d,"
		    "\"src\":\"%s.mp4\",\"status\":\"ok\"}", 3 + i, key, i % 2,
		    key);
		bad |= golden_member(w, &blk, &r[n++], name, text, strlen(text),
		    0);
		bad |= shard_add(w, &s, r, (size_t)n);
	}
	return w == NULL || bad || shard_finish(w, sum) != 0 ? -1 : 0;
}

#endif
