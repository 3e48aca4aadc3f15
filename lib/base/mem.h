#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/*
 * Host memory for small objects.  All of these functions end the program with a
 * message when memory is exhausted; they never return NULL.  Memory whose size
 * grows with a batch does not come from here: it is planned in advance, and a
 * plan that does not fit is an ordinary error.  free(3) frees each result.  Any
 * thread may call them.
 */

/* xmalloc(bytes): Return ${bytes} bytes, at least 1, not initialized. */
void *xmalloc(size_t bytes);

/* xcalloc(n, bytes): Return ${n} times ${bytes} zero bytes. */
void *xcalloc(size_t n, size_t bytes);

/*
 * xrealloc(p, n, bytes):
 * Resize ${p}, which may be NULL, to ${n} times ${bytes} bytes, and return it,
 * moved or not.  The product is checked for overflow.
 */
void *xrealloc(void *p, size_t n, size_t bytes);

/*
 * xstrdup(s), xstrndup(s, n):
 * Return a copy of the string ${s}, or of its first ${n} bytes.  xstrndup
 * requires that ${s} has at least ${n} bytes.
 */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/* xprintf(fmt, ...): Return the formatted string. */
char *xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * array_reserve(array, n, cap, bytes):
 * Ensure that the growing ${array} has capacity for element ${n}.  Its elements
 * have ${bytes} bytes each, and its capacity is ${*cap} elements; ${array} is
 * NULL if ${*cap} is 0.  Grow it by half if necessary and update ${*cap}.
 * Return the array, moved or not.
 *
 *	a = array_reserve(a, n, &cap, sizeof(*a));
 *	a[n++] = x;
 */
void *array_reserve(void *array, size_t n, size_t *cap, size_t bytes);

/* A growing byte array.  Initialize it with { 0 }.  After the first
 * addition, data[n] is '\0', which ${n} does not count.  buffer_free frees
 * it. */
struct buffer { char *data; size_t n, cap; };

/* buffer_add(b, data, n): Append ${n} bytes; 0 only ensures the final '\0'. */
void buffer_add(struct buffer *b, const void *data, size_t n);

/* buffer_text(b, text): Append the string without its '\0'. */
void buffer_text(struct buffer *b, const char *text);

/* buffer_printf(b, fmt, ...): Append the formatted string. */
void buffer_printf(struct buffer *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * buffer_reserve(b, n):
 * Ensure capacity for ${n} bytes at b->data + b->n, and for a '\0' after them.
 * The caller writes them and increases b->n.
 */
void buffer_reserve(struct buffer *b, size_t n);

/* buffer_free(b): Free the bytes and leave an empty buffer. */
void buffer_free(struct buffer *b);

#endif
