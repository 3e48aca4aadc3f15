#ifndef WEIGHTS_HEAP_H
#define WEIGHTS_HEAP_H

/*
 * Memory for what a file of others describes, which is bounded by the file:
 * a pickle of a few bytes can ask for any amount.  All of it is freed at once.
 */

#include <stddef.h>

struct heap;

/*
 * heap_most(bytes): what reading a file of ${bytes} may take, and the size of
 * one tensor of it: ten times the file and 16 MiB.
 */
size_t heap_most(size_t bytes);

struct heap *heap_new(size_t most);
void heap_free(struct heap *h);		/* NULL is fine */

/* heap_get(h, bytes): zeroed and aligned; NULL without a message if that is
 * more than there may be. */
void *heap_get(struct heap *h, size_t bytes);

/* heap_text(h, s, n): a copy that ends with a zero byte; NULL as above. */
char *heap_text(struct heap *h, const char *s, size_t n);

/*
 * heap_room(h, array, n, cap, bytes): as array_room of base/mem.h, but a copy
 * that became too small stays behind; NULL as above, and then ${array} is
 * what it was.
 */
void *heap_room(struct heap *h, void *array, size_t n, size_t *cap,
    size_t bytes);

#endif
