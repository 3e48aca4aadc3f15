#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>

/*
 * A set of names numbered 0, 1, 2 and so on in the order of addition.  Lookup
 * takes constant time.
 */
struct names;

/* names_new(): Return an empty set.  names_free frees it. */
struct names *names_new(void);

/* names_free(n): Free ${n}.  NULL does nothing. */
void names_free(struct names *n);

/* names_find(n, name): Return the number of ${name}, -1 if absent. */
long names_find(const struct names *n, const char *name);

/*
 * names_add(n, name):
 * Add a copy of ${name}.  Return its number, or -1 if it was already in the
 * set.
 */
long names_add(struct names *n, const char *name);

/*
 * names_count(n):
 * Return the number of names.
 * names_text(n, i):
 * Return name number ${i}, valid until the next names_add.
 */
size_t names_count(const struct names *n);
const char *names_text(const struct names *n, size_t i);

#endif
