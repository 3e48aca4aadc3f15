#ifndef WEIGHTS_HEAP_H
#define WEIGHTS_HEAP_H

/*
 * An arena for data that an untrusted file describes.  Its size is bounded by
 * the size of the file, because a pickle of a few bytes can request any amount.
 * All of it is freed at once.
 */

#include <stddef.h>

struct heap;

/*
 * heap_most(bytes):
 * Return the arena limit for a file of ${bytes} bytes: ten times the file plus
 * 16 MiB.  The same limit holds for one tensor of the file, converted to fp32.
 */
size_t heap_most(size_t bytes);

/*
 * heap_new(most):
 * Return an empty arena that hands out at most ${most} bytes.  The caller frees
 * it with heap_free.
 */
struct heap *heap_new(size_t most);
void heap_free(struct heap *h);		/* NULL does nothing */

/*
 * heap_get(h, bytes):
 * Return ${bytes} zeroed bytes, aligned for any type.  Return NULL without a
 * message if the limit of the arena would be exceeded.  The memory is valid
 * until heap_free.
 */
void *heap_get(struct heap *h, size_t bytes);

/*
 * heap_text(h, s, n):
 * Return a copy of the ${n} bytes at ${s}, followed by a zero byte; NULL as
 * heap_get.
 */
char *heap_text(struct heap *h, const char *s, size_t n);

/*
 * heap_room(h, array, n, cap, bytes):
 * Make sure that ${array}, which holds ${*cap} elements of ${bytes} bytes each,
 * can take element ${n}.  Return the array, copied to a larger place if it was
 * full, and update ${*cap}.  The old copy stays allocated until heap_free.
 * Return NULL without a message if the limit would be exceeded; ${array} and
 * ${*cap} are then unchanged.
 */
void *heap_room(struct heap *h, void *array, size_t n, size_t *cap,
    size_t bytes);

#endif
