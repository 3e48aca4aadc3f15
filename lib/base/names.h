#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>

/*
 * Names and the numbers they got, 0, 1, 2 and so on in the order in which they
 * were added; found without looking at the others, however many there are.
 */
struct names;

struct names *names_new(void);
void names_free(struct names *n);		/* NULL is fine */

/* names_find(n, name): its number, -1 if it is not there. */
long names_find(const struct names *n, const char *name);

/* names_add(n, name): the number it gets, -1 if it is there already. */
long names_add(struct names *n, const char *name);

/* names_count(n): how many there are; names_text(n, i): name number ${i},
 * until the next names_add. */
size_t names_count(const struct names *n);
const char *names_text(const struct names *n, size_t i);

#endif
