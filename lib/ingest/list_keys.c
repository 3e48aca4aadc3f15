/* Keys of samples, from the paths of a list relative to its root. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list.h"
#include "ingest/relative.h"
#include "shard/key.h"

#define Q text_quote

static int
list_keys_compare(const void *a, const void *b, void *rows)
{
	const struct list_row *row = rows;
	int i = *(const int *)a, j = *(const int *)b;
	int order = strcmp(row[i].sample.key, row[j].sample.key);

	return order != 0 ? order : i - j;
}

/*
 * Only the path relative to the root enters a set.  The bytes of a set then do
 * not depend on the spelling of the path or on the machine.
 */
static char *
list_keys_source_of(const char *path, const char *root)
{
	char *below = path_relative(path, root != NULL ? root : ".");

	if (below != NULL || root == NULL)
		return below != NULL ? below : xstrdup(path_base(path));
	return fail_null("%s: not below %s", Q(path), Q(root));
}

static int
list_keys_make(struct list_row *r, const char *root)
{
	char key[KEY_MAX + 1], *name = NULL;
	int bad;

	r->sample.source = list_keys_source_of(r->path, root);
	if (r->sample.source == NULL || (r->name != NULL &&
	    (name = list_keys_source_of(r->name, root)) == NULL))
		return -1;
	bad = key_from_path(name != NULL ? name : r->sample.source, key);
	if (!bad)
		r->sample.key = xstrdup(key);
	free(name);
	return bad;
}

int
list_keys(struct list *l, const char *root)
{
	int *order = xcalloc(l->n, sizeof(*order)), result = -1;

	for (size_t i = 0; i < l->n; i++) {
		order[i] = (int)i;
		if (list_keys_make(&l->row[i], root) != 0)
			goto out;
	}
	/* Sorted, equal keys are adjacent; ties stay in list order. */
	qsort_r(order, l->n, sizeof(*order), list_keys_compare, l->row);
	for (size_t i = 1; i < l->n; i++) {
		const struct list_row *a = &l->row[order[i - 1]];
		const struct list_row *b = &l->row[order[i]];

		if (strcmp(a->sample.key, b->sample.key) == 0) {
			fail("%s and %s have the same key, %s%s", Q(a->path),
			    Q(b->path), b->sample.key, root == NULL ?
			    " (with --root=DIR, keys hold the folders below "
			    "DIR)" : "");
			goto out;
		}
	}
	result = 0;
out:
	free(order);
	return result;
}
