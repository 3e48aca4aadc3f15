#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/*
 * Small host memory.  These functions end the program with "out of memory"
 * rather than return NULL; what grows with a batch is planned and refused
 * politely instead, and does not come from here.
 */
void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t bytes);	/* checks n * bytes; zeroed */
void *xrealloc(void *p, size_t n, size_t bytes);	/* checks n * bytes */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * array_room(array, n, cap, bytes):
 * Make room for element ${n} of an ${array} whose elements have ${bytes} and
 * that holds ${*cap}; return the array, moved or not.
 *
 *	a = array_room(a, n, &cap, sizeof(*a));
 *	a[n++] = x;
 */
void *array_room(void *array, size_t n, size_t *cap, size_t bytes);

/* A growing run of bytes, always followed by a '\0' that is not counted. */
struct buffer { char *data; size_t n, cap; };

void buffer_add(struct buffer *b, const void *data, size_t n);
void buffer_text(struct buffer *b, const char *text);
void buffer_printf(struct buffer *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* buffer_room(b, n): so that ${n} more bytes can be put at b->data + b->n. */
void buffer_room(struct buffer *b, size_t n);
void buffer_free(struct buffer *b);	/* leaves an empty buffer */

#endif
