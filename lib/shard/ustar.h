#ifndef SHARD_USTAR_H
#define SHARD_USTAR_H

/*
 * Headers of tar members.  vt writes one kind: a POSIX ustar regular file, mode
 * 0644, owner 0, time 0, no prefix.  The name and the size determine the whole
 * header.  A reader checks a header by computing it and comparing.
 */

#include <stdint.h>

#define USTAR_BLOCK 512
#define USTAR_NAME 100			/* maximum length of a name in bytes */
#define USTAR_SIZE 077777777777ull	/* maximum member: 8 GiB - 1 */

/*
 * ustar_header(header, name, size):
 * Write the header of a member.  ${name} has 1 to USTAR_NAME bytes, and ${size}
 * is at most USTAR_SIZE.
 */
void ustar_header(unsigned char header[USTAR_BLOCK], const char *name,
    uint64_t size);

/*
 * ustar_read(header, name, size):
 * Set the name and the size of a header that ustar_header has written.  Return
 * 0, or -1 without a message for any other header.
 */
int ustar_read(const unsigned char header[USTAR_BLOCK],
    char name[USTAR_NAME + 1], uint64_t *size);

/*
 * ustar_padding(size):
 * Return the number of zero bytes after ${size} bytes of data.
 */
static inline unsigned
ustar_padding(uint64_t size)
{
	return (unsigned)(-size % USTAR_BLOCK);
}

#endif
