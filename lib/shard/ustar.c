/* The header of a tar member: POSIX.1-1988 ustar, with numbers of fixed
 * width. */
#include <assert.h>
#include <string.h>

#include "shard/ustar.h"

/* Write ${digits} octal digits at ${field}, without a terminator. */
static void
ustar_octal(unsigned char *field, int digits, uint64_t v)
{
	for (int i = digits; i-- > 0; v >>= 3)
		field[i] = (unsigned char)('0' + (v & 7));
	assert(v == 0);
}

void
ustar_header(unsigned char header[USTAR_BLOCK], const char *name, uint64_t size)
{
	size_t n = strlen(name);
	unsigned sum = 0;

	assert(n > 0 && n <= USTAR_NAME);
	memset(header, 0, USTAR_BLOCK);
	memcpy(header, name, n);
	ustar_octal(header + 100, 7, 0644);		/* mode */
	ustar_octal(header + 108, 7, 0);		/* user */
	ustar_octal(header + 116, 7, 0);		/* group */
	ustar_octal(header + 124, 11, size);
	ustar_octal(header + 136, 11, 0);		/* modification time */
	header[156] = '0';			/* a regular file */
	memcpy(header + 257, "ustar\0" "00", 8);
	ustar_octal(header + 329, 7, 0);		/* device numbers */
	ustar_octal(header + 337, 7, 0);
	memset(header + 148, ' ', 8);		/* blanks while it is summed */
	for (int i = 0; i < USTAR_BLOCK; i++)
		sum += header[i];
	ustar_octal(header + 148, 6, sum);
	header[154] = '\0';
}
