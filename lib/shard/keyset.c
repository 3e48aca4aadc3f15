/* A hash table of keys: open addressing, linear probing, at most half full. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "shard/keyset.h"

struct entry { size_t text; uint64_t offset; uint32_t source; };

struct keyset {
	struct buffer text;		/* the keys, each with its zero byte */
	struct entry *entry;
	size_t n, cap;
	uint32_t *slot;			/* [slots] entry + 1, 0: free */
	size_t slots;			/* a power of two */
};

struct keyset *
keyset_new(void)
{
	struct keyset *k = xcalloc(1, sizeof(*k));

	k->slots = 1024;
	k->slot = xcalloc(k->slots, sizeof(*k->slot));
	return k;
}

void
keyset_free(struct keyset *k)
{
	if (k == NULL)
		return;
	buffer_free(&k->text);
	free(k->entry);
	free(k->slot);
	free(k);
}

/* The slot of ${key}, or the free one where it would go. */
static uint32_t *
find(const struct keyset *k, const char *key)
{
	size_t i = hash64(key, strlen(key)) & (k->slots - 1);

	while (k->slot[i] != 0 && strcmp(k->text.data +
	    k->entry[k->slot[i] - 1].text, key) != 0)
		i = (i + 1) & (k->slots - 1);
	return &k->slot[i];
}

static void
grow(struct keyset *k)
{
	free(k->slot);
	k->slots *= 2;
	k->slot = xcalloc(k->slots, sizeof(*k->slot));
	for (size_t i = 0; i < k->n; i++)
		*find(k, k->text.data + k->entry[i].text) = (uint32_t)i + 1;
}

int
keyset_has(const struct keyset *k, const char *key)
{
	return *find(k, key) != 0;
}

int
keyset_add(struct keyset *k, const char *key, uint32_t *source,
    uint64_t *offset)
{
	uint32_t *slot = find(k, key);

	if (*slot != 0) {
		const struct entry *e = &k->entry[*slot - 1];

		*source = e->source;
		*offset = e->offset;
		return 0;
	}
	k->entry = array_room(k->entry, k->n, &k->cap, sizeof(*k->entry));
	k->entry[k->n] = (struct entry){ k->text.n, *offset, *source };
	buffer_add(&k->text, key, strlen(key) + 1);
	*slot = (uint32_t)++k->n;
	if (k->n > k->slots / 2)
		grow(k);
	return 1;
}
