#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Checksums of the formats.  CRC32C (Castagnoli) guards a frame: 4 bytes, and
 * every error of up to 3 bits in it is certain to show.  XXH3 guards long
 * objects; its 128-bit form is the one xxh128sum prints.
 */

/* crc32c(crc, data, n): continue ${crc}, 0 at first. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);

/* hash_crc32(crc, data, n): the same for the CRC-32 of zip, Matroska and Ogg. */
uint32_t hash_crc32(uint32_t crc, const void *data, size_t n);

uint64_t hash64(const void *data, size_t n);	/* XXH3-64, seed 0 */

/* XXH3-128 in canonical form: the bytes as xxh128sum prints them. */
struct hash128 { unsigned char byte[16]; };

struct hash128 hash128(const void *data, size_t n);
int hash128_equal(struct hash128 a, struct hash128 b);

/* hash128_text(h, buf): 32 hex digits and '\0' into ${buf}; return ${buf}. */
char *hash128_text(struct hash128 h, char buf[33]);
/* hash128_parse(text, h): 32 hex digits; -1 without a message if not. */
int hash128_parse(const char *text, struct hash128 *h);

/* A hash of bytes that arrive in pieces; both widths from one pass each. */
struct hasher;

struct hasher *hasher_new(void);
void hasher_free(struct hasher *h);
void hasher_reset(struct hasher *h);
void hasher_add(struct hasher *h, const void *data, size_t n);
uint64_t hasher_64(const struct hasher *h);
struct hash128 hasher_128(const struct hasher *h);

#endif
