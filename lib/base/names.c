/* A hash table of names: open addressing, linear probing, at most half full. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/names.h"

struct names {
	struct buffer text;		/* the names, each with its '\0' */
	size_t *at;			/* [n] offset of each name in text */
	size_t n, cap;
	uint32_t *slot;			/* [slots] number + 1; 0: free */
	size_t slots;			/* a power of two */
};

struct names *
names_new(void)
{
	struct names *n = xcalloc(1, sizeof(*n));

	n->slots = 64;
	n->slot = xcalloc(n->slots, sizeof(*n->slot));
	return n;
}

void
names_free(struct names *n)
{
	if (n == NULL)
		return;
	buffer_free(&n->text);
	free(n->at);
	free(n->slot);
	free(n);
}

/* Return the slot of ${name}, or the free slot for it. */
static uint32_t *
names_slot_of(const struct names *n, const char *name)
{
	size_t i = hash64(name, strlen(name)) & (n->slots - 1);

	while (n->slot[i] != 0 &&
	    strcmp(names_text(n, n->slot[i] - 1), name) != 0)
		i = (i + 1) & (n->slots - 1);
	return &n->slot[i];
}

/* Slots depend on their number, so insert all names again. */
static void
names_grow(struct names *n)
{
	free(n->slot);
	n->slots *= 2;
	n->slot = xcalloc(n->slots, sizeof(*n->slot));
	for (size_t i = 0; i < n->n; i++)
		*names_slot_of(n, names_text(n, i)) = (uint32_t)i + 1;
}

long
names_find(const struct names *n, const char *name)
{
	return (long)*names_slot_of(n, name) - 1;
}

long
names_add(struct names *n, const char *name)
{
	uint32_t *slot = names_slot_of(n, name);

	if (*slot != 0)
		return -1;
	n->at = array_reserve(n->at, n->n, &n->cap, sizeof(*n->at));
	n->at[n->n] = n->text.n;
	buffer_add(&n->text, name, strlen(name) + 1);
	*slot = (uint32_t)++n->n;
	if (n->n > n->slots / 2)
		names_grow(n);
	return (long)n->n - 1;
}

size_t
names_count(const struct names *n)
{
	return n->n;
}

const char *
names_text(const struct names *n, size_t i)
{
	return n->text.data + n->at[i];
}
