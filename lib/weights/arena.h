#ifndef WEIGHTS_ARENA_H
#define WEIGHTS_ARENA_H

/*
 * An arena for data that an untrusted file describes.  Its size is bounded by
 * the size of the file, because a pickle of a few bytes can request any amount.
 * All of it is freed at once.
 */

#include <stddef.h>

struct arena;

/*
 * arena_max(bytes):
 * Return the arena limit for a file of ${bytes} bytes: ten times the file plus
 * 16 MiB.  The same limit holds for one tensor of the file, converted to fp32.
 */
size_t arena_max(size_t bytes);

/*
 * arena_new(largest):
 * Return an empty arena that hands out at most ${largest} bytes. The caller
 * frees it with arena_free.
 */
struct arena *arena_new(size_t largest);
void arena_free(struct arena *h);		/* NULL does nothing */

/*
 * arena_get(h, bytes):
 * Return ${bytes} zeroed bytes, aligned for any type.  Return NULL without a
 * message if the limit of the arena would be exceeded.  The memory is valid
 * until arena_free.
 */
void *arena_get(struct arena *h, size_t bytes);

/*
 * arena_text(h, s, n):
 * Return a copy of the ${n} bytes at ${s}, followed by a zero byte; NULL as
 * arena_get.
 */
char *arena_text(struct arena *h, const char *s, size_t n);

/*
 * arena_grow(h, array, n, cap, bytes):
 * Make sure that ${array}, which holds ${*cap} elements of ${bytes} bytes each,
 * can take element ${n}.  Return the array, copied to a larger place if it was
 * full, and update ${*cap}.  The old copy stays allocated until arena_free.
 * Return NULL without a message if the limit would be exceeded; ${array} and
 * ${*cap} are then unchanged.
 */
void *arena_grow(struct arena *h, void *array, size_t n, size_t *cap,
    size_t bytes);

#endif
