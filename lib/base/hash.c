/* Checksums: CRC32C by the SSE4.2 instruction or by a table of 256 entries,
 * CRC-32 by zlib, XXH3 by libxxhash. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>
#include <zlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#define POLYNOMIAL 0x82f63b78u	/* RFC 3720, bits reversed */

struct hasher { XXH3_state_t *state; };

static uint32_t table[256];

/* Compute the CRC of each single byte, for crc32c_table. */
static void
hash_make_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
		table[i] = c;
	}
}

/* Compute CRC32C one byte at a time.  This is the portable version, and the
 * reference that hash_make_shift derives its tables from. */
static uint32_t
crc32c_table(uint32_t crc, const void *data, size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const unsigned char *p = data;

	pthread_once(&once, hash_make_table);
	crc = ~crc;
	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ table[(crc ^ p[i]) & 0xff];
	return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

/*
 * The instruction has a latency of 3 cycles but can start once a cycle.  Three
 * lanes of LANE bytes therefore run interleaved, and their CRCs are combined.
 * The CRC of a lane followed by LANE zero bytes is a linear map of its CRC.
 * shift_by_lane tabulates that map for each byte of the CRC.
 */
#define LANE 1024

static uint32_t shift_by_lane[4][256];

/* Return the CRC state ${crc} after LANE zero bytes. */
static uint32_t
hash_shift(uint32_t crc)
{
	return shift_by_lane[0][crc & 0xff] ^ shift_by_lane[1][crc >> 8 &
	    0xff] ^ shift_by_lane[2][crc >> 16 & 0xff] ^ shift_by_lane[3][crc >>
	    24];
}

/* memcpy because ${p} may be at any address. */
__attribute__((target("sse4.2"))) static uint64_t
hash_step(uint64_t crc, const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return _mm_crc32_u64(crc, word);
}

/* Tabulate the effect of LANE zero bytes on each byte of a CRC state.  The
 * map is affine; subtract its constant part, the effect on a zero state. */
static void
hash_make_shift(void)
{
	static const unsigned char zero[LANE];
	uint32_t of_nothing = ~crc32c_table(~0u, zero, LANE);

	for (int k = 0; k < 4; k++)
		for (uint32_t i = 0; i < 256; i++)
			shift_by_lane[k][i] = of_nothing ^
			    ~crc32c_table(~(i << 8 * k), zero, LANE);
}

__attribute__((target("sse4.2"))) static uint32_t
crc32c_sse42(uint32_t start, const void *data, size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const unsigned char *p = data;
	uint64_t a = ~start;

	if (n >= 3 * LANE)
		pthread_once(&once, hash_make_shift);
	for (; n >= 3 * LANE; n -= 3 * LANE, p += 3 * LANE) {
		uint64_t b = 0, c = 0;

		for (size_t i = 0; i < LANE; i += 8) {
			a = hash_step(a, p + i);
			b = hash_step(b, p + i + LANE);
			c = hash_step(c, p + i + 2 * LANE);
		}
		/* crc(a b c) = shift(shift(crc(a)) ^ crc(b)) ^ crc(c) */
		a = hash_shift(hash_shift((uint32_t)a) ^ (uint32_t)b) ^ c;
	}
	for (; n >= 8; n -= 8, p += 8)
		a = hash_step(a, p);
	for (; n > 0; n--, p++)
		a = _mm_crc32_u8((uint32_t)a, *p);
	return ~(uint32_t)a;
}

uint32_t
crc32c(uint32_t crc, const void *data, size_t n)
{
	if (__builtin_cpu_supports("sse4.2"))
		return crc32c_sse42(crc, data, n);
	return crc32c_table(crc, data, n);
}

#else

uint32_t
crc32c(uint32_t crc, const void *data, size_t n)
{
	return crc32c_table(crc, data, n);
}

#endif

uint32_t
hash_crc32(uint32_t crc, const void *data, size_t n)
{
	return (uint32_t)crc32_z(crc, data, n);
}

uint64_t
hash64(const void *data, size_t n)
{
	return XXH3_64bits(data, n);
}

static struct hash128
hash_canonical(XXH128_hash_t h)
{
	XXH128_canonical_t c;
	struct hash128 out;

	XXH128_canonicalFromHash(&c, h);
	memcpy(out.byte, c.digest, sizeof(out.byte));
	return out;
}

struct hash128
hash128(const void *data, size_t n)
{
	return hash_canonical(XXH3_128bits(data, n));
}

int
hash128_equal(struct hash128 a, struct hash128 b)
{
	return memcmp(a.byte, b.byte, sizeof(a.byte)) == 0;
}

char *
hash128_text(struct hash128 h, char buf[33])
{
	return text_hex(buf, h.byte, sizeof(h.byte));
}

/* Return 1 if ${text} is ${n} lower-case hexadecimal digits. */
static int
hash_is_hex(const char *text, size_t n)
{
	return strlen(text) == n && strspn(text, "0123456789abcdef") == n;
}

char *
hash64_text(uint64_t h, char buf[17])
{
	sprintf(buf, "%016" PRIx64, h);
	return buf;
}

int
hash64_parse(const char *text, uint64_t *h)
{
	return hash_is_hex(text, 16) && sscanf(text, "%" SCNx64, h) == 1 ? 0 :
	    -1;
}

int
hash128_parse(const char *text, struct hash128 *h)
{
	if (!hash_is_hex(text, 32))
		return -1;
	for (int i = 0; i < 16; i++)
		sscanf(text + 2 * i, "%2hhx", &h->byte[i]);
	return 0;
}

struct hasher *
hasher_new(void)
{
	struct hasher *h = xmalloc(sizeof(*h));

	if ((h->state = XXH3_createState()) == NULL)
		die(EXIT_FAILED, "out of memory: cannot allocate a hash state");
	hasher_reset(h);
	return h;
}

void
hasher_free(struct hasher *h)
{
	if (h == NULL)
		return;
	XXH3_freeState(h->state);
	free(h);
}

/* XXH3 in 64 and in 128 bits have the same state and differ only in the last
 * step.  The functions of the 128-bit state therefore serve both. */
void
hasher_reset(struct hasher *h)
{
	XXH3_128bits_reset(h->state);
}

void
hasher_add(struct hasher *h, const void *data, size_t n)
{
	XXH3_128bits_update(h->state, data, n);
}

uint64_t
hasher_64(const struct hasher *h)
{
	return XXH3_64bits_digest(h->state);
}

struct hash128
hasher_128(const struct hasher *h)
{
	return hash_canonical(XXH3_128bits_digest(h->state));
}
