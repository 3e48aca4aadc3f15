/* Large memory with huge pages. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/huge.h"

#define HUGE_PAGE ((size_t)2 << 20)

int huge_poison;

void *
huge_alloc(size_t bytes)
{
	size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
	void *p = NULL;

	/* posix_memalign may return NULL for 0 bytes. */
	if (posix_memalign(&p, align, bytes > 0 ? bytes : 1) != 0)
		return NULL;
	/* The system applies it to the whole pages inside, and may decline. */
	if (align == HUGE_PAGE)
		madvise(p, bytes, MADV_HUGEPAGE);
	if (huge_poison)
		memset(p, 0xff, bytes);
	return p;
}
