#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Checksums of the file formats.  CRC32C (Castagnoli) guards a frame: it takes
 * 4 bytes and detects every error of up to 3 bits.  XXH3 guards long objects;
 * its 128-bit form is the one that xxh128sum prints.
 *
 * Any thread may call these functions.  Several threads must not use one struct
 * hasher at the same time.
 */

/*
 * crc32c(crc, data, n):
 * Return the CRC32C of the bytes whose CRC32C is ${crc}, followed by the ${n}
 * bytes at ${data}.  Begin with ${crc} 0.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);

/*
 * hash_crc32(crc, data, n):
 * Return the CRC-32 of zip, Matroska and Ogg of the bytes whose CRC-32 is
 * ${crc}, followed by the ${n} bytes at ${data}.  Begin with ${crc} 0.
 */
uint32_t hash_crc32(uint32_t crc, const void *data, size_t n);

/* hash64(data, n): Return the XXH3 hash in 64 bits, with seed 0. */
uint64_t hash64(const void *data, size_t n);

/*
 * hash64_text(h, buf):
 * Write 16 lower-case hexadecimal digits and '\0' to ${buf}.  Return ${buf}.
 * hash64_parse(text, h):
 * Set ${*h} to the hash that ${text} spells in exactly 16 lower-case
 * hexadecimal digits.  Return 0, or -1 without a message if it does not.
 */
char *hash64_text(uint64_t h, char buf[17]);
int hash64_parse(const char *text, uint64_t *h);

/* An XXH3 hash in 128 bits, in canonical form: the bytes as xxh128sum prints
 * them. */
struct hash128 { unsigned char byte[16]; };

/* hash128(data, n): Return the XXH3 hash in 128 bits, with seed 0. */
struct hash128 hash128(const void *data, size_t n);

/* hash128_equal(a, b): Return 1 if the hashes are equal, 0 otherwise. */
int hash128_equal(struct hash128 a, struct hash128 b);

/*
 * hash128_text(h, buf):
 * Write 32 lower-case hexadecimal digits and '\0' to ${buf}.  Return ${buf}.
 */
char *hash128_text(struct hash128 h, char buf[33]);
/* hash128_parse(text, h): As hash64_parse, for 32 digits. */
int hash128_parse(const char *text, struct hash128 *h);

/* The hash of bytes that arrive in pieces.  One pass gives both widths. */
struct hasher;

/*
 * hasher_new():
 * Return a hasher that has seen no bytes.  hasher_free frees it.  The program
 * ends when memory is exhausted.
 */
struct hasher *hasher_new(void);

/* hasher_free(h): Free ${h}.  NULL does nothing. */
void hasher_free(struct hasher *h);

/* hasher_reset(h): Forget all bytes. */
void hasher_reset(struct hasher *h);

/* hasher_add(h, data, n): Append ${n} bytes. */
void hasher_add(struct hasher *h, const void *data, size_t n);

/*
 * hasher_64(h), hasher_128(h):
 * Return the hash of the bytes added so far, equal to hash64 and hash128 of all
 * of them.  More bytes can be added afterwards.
 */
uint64_t hasher_64(const struct hasher *h);
struct hash128 hasher_128(const struct hasher *h);

#endif
