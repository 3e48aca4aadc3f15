/* Allocation that never returns NULL, growing arrays, and byte buffers. */
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"

/* malloc(0) may return NULL without an error, so all callers ask for at
 * least one byte. */
static void *
mem_check(void *p, size_t bytes)
{
	if (p == NULL)
		die(EXIT_FAILED, "out of memory: %zu bytes wanted", bytes);
	return p;
}

void *
xmalloc(size_t bytes)
{
	return mem_check(malloc(bytes > 0 ? bytes : 1), bytes);
}

void *
xcalloc(size_t n, size_t bytes)
{
	return mem_check(calloc(n > 0 ? n : 1, bytes > 0 ? bytes : 1),
	    n * bytes);
}

/* realloc(p, 0) may free ${p}, so ask for at least one byte. */
void *
xrealloc(void *p, size_t n, size_t bytes)
{
	if (bytes > 0 && n > SIZE_MAX / bytes)
		die(EXIT_FAILED, "out of memory: %zu times %zu bytes wanted", n,
		    bytes);
	return mem_check(realloc(p, n * bytes > 0 ? n * bytes : 1), n * bytes);
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *
xstrndup(const char *s, size_t n)
{
	char *t = xmalloc(n + 1);

	memcpy(t, s, n);
	t[n] = '\0';
	return t;
}

/* Return the length of the formatted text without its '\0'.  ${ap} remains
 * usable. */
static size_t __attribute__((format(printf, 1, 0)))
mem_printed_length(const char *fmt, va_list ap)
{
	va_list copy;
	int n;

	assert(fmt != NULL);
	va_copy(copy, ap);
	n = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	return (size_t)n;
}

char *
xprintf(const char *fmt, ...)
{
	va_list ap;
	size_t n;
	char *s;

	va_start(ap, fmt);
	n = mem_printed_length(fmt, ap);
	s = xmalloc(n + 1);
	vsnprintf(s, n + 1, fmt, ap);
	va_end(ap);
	return s;
}

void *
array_reserve(void *array, size_t n, size_t *cap, size_t bytes)
{
	if (n < *cap)
		return array;
	*cap = n < 8 ? 8 : n + n / 2;
	/* Growth by half keeps the amortized cost of an element constant. */
	return xrealloc(array, *cap, bytes);
}

/* Grow by half of the content, so that repeated additions take amortized
 * constant time. */
void
buffer_reserve(struct buffer *b, size_t n)
{
	if (b->n + n + 1 <= b->cap)
		return;
	b->cap = (b->n + n + 1) + (b->n + n) / 2;
	b->data = xrealloc(b->data, b->cap, 1);
}

void
buffer_add(struct buffer *b, const void *data, size_t n)
{
	buffer_reserve(b, n);
	if (n > 0)
		memcpy(b->data + b->n, data, n);
	b->n += n;
	b->data[b->n] = '\0';
}

void
buffer_text(struct buffer *b, const char *text)
{
	buffer_add(b, text, strlen(text));
}

void
buffer_printf(struct buffer *b, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = mem_printed_length(fmt, ap);
	buffer_reserve(b, n);
	vsnprintf(b->data + b->n, n + 1, fmt, ap);
	va_end(ap);
	b->n += n;
}

void
buffer_free(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){ 0 };
}
