#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

/*
 * SHA-256 (FIPS 180-4), by which publishers name their files of weights.  The
 * formats of vt use base/hash.h, which is faster.
 */

struct sha256 {
	uint32_t h[8];			/* hash value after whole blocks */
	uint64_t bytes;			/* length of the message so far */
	unsigned char block[64];	/* bytes % 64 of them are not hashed */
};

/*
 * sha256_begin(s): Begin an empty message.
 * sha256_add(s, data, n): Append ${n} bytes to the message.
 * sha256_end(s, digest):
 * Write the digest to ${digest}.  The message of ${s} has then ended.
 */
void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_end(struct sha256 *s, unsigned char digest[32]);

/*
 * sha256_text(data, n, text):
 * Write the digest of ${n} bytes as 64 lower-case hexadecimal digits and '\0'
 * to ${text}.  Return ${text}.
 */
char *sha256_text(const void *data, size_t n, char text[65]);

#endif
