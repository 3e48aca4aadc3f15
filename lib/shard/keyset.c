/* A set of keys with their origins, indexed by the numbers of struct names. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/names.h"
#include "shard/keyset.h"

struct keyset_entry { uint64_t offset; uint32_t source; };

struct keyset {
	struct names *names;
	struct keyset_entry *entry;		/* by the numbers of names */
	size_t cap;
};

struct keyset *
keyset_new(void)
{
	struct keyset *k = xcalloc(1, sizeof(*k));

	k->names = names_new();
	return k;
}

void
keyset_free(struct keyset *k)
{
	if (k == NULL)
		return;
	names_free(k->names);
	free(k->entry);
	free(k);
}

/* names_add numbers keys from 0, so the number indexes the origins. */
int
keyset_add(struct keyset *k, const char *key, uint32_t *source,
    uint64_t *offset)
{
	long i = names_find(k->names, key);

	if (i >= 0) {
		*source = k->entry[i].source;
		*offset = k->entry[i].offset;
		return 0;
	}
	i = names_add(k->names, key);
	k->entry = array_reserve(k->entry, (size_t)i, &k->cap,
	    sizeof(*k->entry));
	k->entry[i] = (struct keyset_entry){ *offset, *source };
	return 1;
}
