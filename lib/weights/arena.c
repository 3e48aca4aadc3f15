/*
 * A bounded arena: memory in blocks of at least 64 KiB that are freed together.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "weights/arena.h"

#define BLOCK ((size_t)64 << 10)
#define ALIGN sizeof(max_align_t)

struct arena_block { struct arena_block *next; max_align_t data[]; };

struct arena {
	struct arena_block *block;	/* the newest block */
	size_t used, size;		/* bytes of it: used, and in all */
	size_t left;			/* bytes that may still be requested */
};

size_t
arena_max(size_t bytes)
{
	return (bytes < SIZE_MAX / 16 ? bytes * 10 : SIZE_MAX / 2) +
	    ((size_t)16 << 20);
}

struct arena *
arena_new(size_t largest)
{
	struct arena *h = xcalloc(1, sizeof(*h));

	h->left = largest;
	return h;
}

void
arena_free(struct arena *h)
{
	while (h != NULL && h->block != NULL) {
		struct arena_block *next = h->block->next;

		free(h->block);
		h->block = next;
	}
	free(h);
}

void *
arena_get(struct arena *h, size_t bytes)
{
	char *p;

	if (bytes > h->left)
		return NULL;
	bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
	if (h->block == NULL || bytes > h->size - h->used) {
		size_t size = bytes > BLOCK ? bytes : BLOCK;
		struct arena_block *b = xcalloc(1, sizeof(*b) + size);

		b->next = h->block;
		h->block = b;
		h->size = size;
		h->used = 0;
	}
	p = (char *)h->block->data + h->used;
	h->used += bytes;
	h->left -= bytes < h->left ? bytes : h->left;
	return p;
}

char *
arena_text(struct arena *h, const char *s, size_t n)
{
	char *copy = n < SIZE_MAX ? arena_get(h, n + 1) : NULL;

	if (copy != NULL && n > 0)
		memcpy(copy, s, n);
	return copy;
}

void *
arena_grow(struct arena *h, void *array, size_t n, size_t *cap, size_t bytes)
{
	/*
	 * Doubling bounds all copies left behind by the size of the last one.
	 */
	size_t more = n < 8 ? 8 : n * 2;
	void *copy;

	if (n < *cap)
		return array;
	if (more > SIZE_MAX / bytes || (copy = arena_get(h, more * bytes)) ==
	    NULL)
		return NULL;
	if (n > 0)
		memcpy(copy, array, n * bytes);
	*cap = more;
	return copy;
}
