#ifndef SHARD_USTAR_H
#define SHARD_USTAR_H

/*
 * The one kind of tar member vt writes: a POSIX ustar regular file, mode 0644,
 * owner 0, time 0, no prefix, so that a name and a size give all of its header.
 * A reader checks a header by making it again.
 */

#include <stdint.h>

#define USTAR_BLOCK 512
#define USTAR_NAME 100			/* longest name, in bytes */
#define USTAR_SIZE 077777777777ull	/* largest member: 8 GiB - 1 */

/* ustar_header(header, name, size): write it; name and size must fit. */
void ustar_header(unsigned char header[USTAR_BLOCK], const char *name,
    uint64_t size);

/* ustar_padding(size): the zero bytes that follow ${size} bytes of data. */
static inline unsigned
ustar_padding(uint64_t size)
{
	return (unsigned)(-size % USTAR_BLOCK);
}

#endif
