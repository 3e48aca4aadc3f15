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

int
ustar_read(const unsigned char header[USTAR_BLOCK], char name[USTAR_NAME + 1],
    uint64_t *size)
{
	unsigned char again[USTAR_BLOCK];
	uint64_t n = 0;

	memcpy(name, header, USTAR_NAME);
	name[USTAR_NAME] = '\0';
	for (int i = 124; i < 135; i++)
		n = n << 3 | (header[i] & 7);
	if (*name == '\0')
		return -1;
	ustar_header(again, name, n);
	*size = n;
	return memcmp(again, header, USTAR_BLOCK) == 0 ? 0 : -1;
}
