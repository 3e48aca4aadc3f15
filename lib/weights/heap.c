/*
 * A bounded arena: memory in blocks of at least 64 KiB that are freed together.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "weights/heap.h"

#define BLOCK ((size_t)64 << 10)
#define ALIGN sizeof(max_align_t)

struct heap_block { struct heap_block *next; max_align_t data[]; };

struct heap {
	struct heap_block *block;		/* the newest block */
	size_t used, size;		/* bytes of it: used, and in all */
	size_t left;			/* bytes that may still be requested */
};

size_t
heap_most(size_t bytes)
{
	return (bytes < SIZE_MAX / 16 ? bytes * 10 : SIZE_MAX / 2) +
	    ((size_t)16 << 20);
}

struct heap *
heap_new(size_t most)
{
	struct heap *h = xcalloc(1, sizeof(*h));

	h->left = most;
	return h;
}

void
heap_free(struct heap *h)
{
	while (h != NULL && h->block != NULL) {
		struct heap_block *next = h->block->next;

		free(h->block);
		h->block = next;
	}
	free(h);
}

void *
heap_get(struct heap *h, size_t bytes)
{
	char *p;

	if (bytes > h->left)
		return NULL;
	bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
	if (h->block == NULL || bytes > h->size - h->used) {
		size_t size = bytes > BLOCK ? bytes : BLOCK;
		struct heap_block *b = xcalloc(1, sizeof(*b) + size);

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
heap_text(struct heap *h, const char *s, size_t n)
{
	char *copy = n < SIZE_MAX ? heap_get(h, n + 1) : NULL;

	if (copy != NULL && n > 0)
		memcpy(copy, s, n);
	return copy;
}

void *
heap_room(struct heap *h, void *array, size_t n, size_t *cap, size_t bytes)
{
	/*
	 * Doubling bounds all copies left behind by the size of the last one.
	 */
	size_t more = n < 8 ? 8 : n * 2;
	void *copy;

	if (n < *cap)
		return array;
	if (more > SIZE_MAX / bytes || (copy = heap_get(h, more * bytes)) == NULL)
		return NULL;
	if (n > 0)
		memcpy(copy, array, n * bytes);
	*cap = more;
	return copy;
}
